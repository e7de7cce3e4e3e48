"""Trying until the database answers, for background tasks to which nothing says a second time what they were told."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from persistence.errors import PASSING

T = TypeVar("T")

TRIES = 60
"""How often something is tried: longer than PostgreSQL needs to start again, or another one to take its place."""

PAUSE_SECONDS = 1.0


async def insist(run: Callable[[], Awaitable[T]]) -> T:
    """Call a function until the database answers it, `TRIES` times at most; returns what it returns.

    Cancellation ends the wait.

    Args:
        run: may be called again after it has failed.

    Raises:
        DatabaseUnavailable, QueueFull: the database is still away.

    What else it raises is raised at once.
    """
    for _ in range(TRIES - 1):
        try:
            return await run()
        except PASSING:
            await trio.sleep(PAUSE_SECONDS)
    return await run()
