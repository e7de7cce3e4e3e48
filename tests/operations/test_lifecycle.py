"""How long a process that was asked to stop may still take."""

import trio
from trio.testing import MockClock

from routes.lifecycle import END_SECONDS, Lifecycle


async def test_time_runs_from_the_first_wish_to_stop(autojump_clock: MockClock) -> None:
    lifecycle = Lifecycle(0)
    await trio.sleep(5)
    assert lifecycle.left_seconds() == END_SECONDS
    lifecycle.drain()
    await trio.sleep(10)
    lifecycle.drain()
    assert lifecycle.left_seconds() == END_SECONDS - 10
    await trio.sleep(END_SECONDS)
    assert lifecycle.left_seconds() == 0
