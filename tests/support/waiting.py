"""Waiting for what will happen: no test depends on how soon, so that it passes on any machine."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

import trio

LOOK_SECONDS = 0.01

PATIENCE_SECONDS = 120
"""What only a fault can exceed, on however slow a machine: how quick things are is measured, not tested."""


def patience() -> AbstractContextManager[trio.CancelScope]:
    """Around what waits for something that will happen; `trio.TooSlowError` when it never does."""
    return trio.fail_after(PATIENCE_SECONDS)


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return as soon as the condition holds, for what sets no event of ours."""
    with patience():
        while not await condition():  # noqa: ASYNC110
            await trio.sleep(LOOK_SECONDS)
