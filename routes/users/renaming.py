"""Passes new names of users on to what shows them, in a task apart from the request that brings a new name."""

from collections.abc import Awaitable, Callable
from functools import partial

import structlog
import trio

from persistence.errors import PersistenceError
from routes.insisting import insist
from routes.jobs import BackgroundTask
from routes.service import Service
from routes.users.parts import USER_DIRECTORY

RENAMES_WAITING = 1_000
"""Of how many users names can wait to be passed on; beyond it, a name is seen only when what shows it is loaded again.
"""

log = structlog.get_logger()


def following_renames(
    service: Service, name: str, pass_on: Callable[[str, str], Awaitable[None]]
) -> BackgroundTask:
    """Subscribe to new names; returns the task that passes them on, one user after another.

    While the database cannot be asked, names wait, of each user the newest. A name is dropped if too many users are
    renamed at once, or if the database is away for longer than `insist` tries.

    Args:
        service: gives the directory of users.
        name: the name of the task.
        pass_on: called with a user's id and new name; may raise PersistenceError, and is called again then.
    """
    sender, renames = trio.open_memory_channel[str](RENAMES_WAITING)
    names: dict[str, str] = {}  # of the users who wait

    def renamed(user_id: str, called: str) -> None:
        try:
            if user_id not in names:
                sender.send_nowait(user_id)
            names[user_id] = called
        except trio.WouldBlock:
            log.warning("too many renames at once", waiting=RENAMES_WAITING)

    async def run() -> None:
        while True:
            user_id = await renames.receive()
            try:
                await insist(partial(pass_on, user_id, names.pop(user_id)))
            except PersistenceError as fault:
                log.warning("a rename was not passed on", reason=type(fault).__name__)

    service.of(USER_DIRECTORY).on_rename(renamed)
    return BackgroundTask(name, run)
