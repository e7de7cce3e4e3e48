"""Passing new names of users on to what shows them, beside the request that brings one."""

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
"""New names that wait to be passed on; what is renamed beyond it is read when it is next loaded."""

log = structlog.get_logger()


def following_renames(
    service: Service, name: str, pass_on: Callable[[str, str], Awaitable[None]]
) -> BackgroundTask:
    """Subscribe to new names; returns the task that passes them on, one after the other.

    A name waits for a database that is away, and the others behind it. It is dropped when too many users are renamed at
    once, or the database is away for longer than `insist` tries.

    Args:
        name: of the task.
        pass_on: called with a user's id and new name; may raise PersistenceError, and is called again then.
    """
    sender, renames = trio.open_memory_channel[tuple[str, str]](RENAMES_WAITING)

    def renamed(user_id: str, called: str) -> None:
        try:
            sender.send_nowait((user_id, called))
        except trio.WouldBlock:
            log.warning("too many renames at once", waiting=RENAMES_WAITING)

    async def run() -> None:
        while True:
            rename = await renames.receive()
            try:
                await insist(partial(pass_on, *rename))
            except PersistenceError as fault:
                log.warning("a rename was not passed on", reason=type(fault).__name__)

    service.of(USER_DIRECTORY).on_rename(renamed)
    return BackgroundTask(name, run)
