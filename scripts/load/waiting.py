"""Wait for a condition that many small messages bring about together."""

from collections.abc import Callable

import trio

LOOK_SECONDS = 0.02


async def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    """Return when a condition holds, or after so many seconds.

    The condition is polled, because an event would cost a comparison for every message.
    """
    end = trio.current_time() + seconds
    while not holds():
        if trio.current_time() >= end:
            return
        await trio.sleep(LOOK_SECONDS)
