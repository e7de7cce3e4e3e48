"""Waiting for what many small messages bring about together."""

from collections.abc import Callable

import trio

LOOK_SECONDS = 0.02


async def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    """Return when something holds, or after so long.

    Polled, because an event would cost every message a comparison.
    """
    end = trio.current_time() + seconds
    while not holds():
        if trio.current_time() >= end:
            return
        await trio.sleep(LOOK_SECONDS)
