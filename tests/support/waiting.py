"""Waiting for what another process does, which sets no event of ours."""

from collections.abc import Awaitable, Callable

import trio

LOOK_SECONDS = 0.01
PATIENCE_SECONDS = 20.0
"""Long, because it only ends a test that fails; how quick things are is not asserted."""


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return as soon as the condition holds; `trio.TooSlowError` when it never does."""
    with trio.fail_after(PATIENCE_SECONDS):
        while not await condition():  # noqa: ASYNC110
            await trio.sleep(LOOK_SECONDS)
