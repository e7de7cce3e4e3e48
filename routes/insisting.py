"""Calls again until the database answers, for background tasks that are told of each event only once."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from persistence.errors import PASSING

T = TypeVar("T")

TRIES = 60
"""Most calls: with the pause between, longer than PostgreSQL needs to start again, or a standby to take its place."""

PAUSE_SECONDS = 1.0


async def insist(run: Callable[[], Awaitable[T]]) -> T:
    """Call a function again until the database answers, `TRIES` times at most; returns what the function returns.

    Cancellation ends the wait.

    Args:
        run: the function, which may be called again after it has failed.

    Raises:
        DatabaseUnavailable, QueueFull: the database is still away.

    Whatever else the function raises is raised at once.
    """
    for _ in range(TRIES - 1):
        try:
            return await run()
        except PASSING:
            await trio.sleep(PAUSE_SECONDS)
    return await run()
