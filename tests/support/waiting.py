"""Waiting for what will happen. No test depends on how soon that is, so that it passes on any machine."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

import trio

LOOK_SECONDS = 0.01

PATIENCE_SECONDS = 120
"""A time that only a fault can exceed, however slow the machine: speed is measured by benchmarks, not tested."""


def patience() -> AbstractContextManager[trio.CancelScope]:
    """A scope for waiting for something that will happen; raises `trio.TooSlowError` when it does not."""
    return trio.fail_after(PATIENCE_SECONDS)


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return as soon as a condition holds, by polling it: for conditions that set no event."""
    with patience():
        while not await condition():  # noqa: ASYNC110
            await trio.sleep(LOOK_SECONDS)
