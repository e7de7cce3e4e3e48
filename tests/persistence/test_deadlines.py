"""The deadlines of units of work, which one timer looks at together."""

import asyncio
from typing import Any

import pytest

from persistence.bridge.deadlines import Deadlines
from tests.support.waiting import PATIENCE_SECONDS

SOON_SECONDS = 0.01


async def wait_for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def test_a_block_whose_time_is_up_ends_with_a_timeout_and_the_others_go_on() -> None:
    async def main() -> str:
        deadlines = Deadlines()

        async def ended() -> None:
            with deadlines.within(SOON_SECONDS):
                await wait_for_ever()

        async def waiting() -> str:
            with deadlines.within(PATIENCE_SECONDS):
                for _ in range(2):  # two looks: the second comes only if the timer is set again
                    with pytest.raises(TimeoutError):
                        await asyncio.create_task(ended())
            return "whole"

        async with asyncio.timeout(PATIENCE_SECONDS):
            return await waiting()

    assert asyncio.run(main()) == "whole"


def test_a_task_whose_block_has_timed_out_is_not_taken_for_cancelled() -> None:
    async def main() -> int:
        with pytest.raises(TimeoutError), Deadlines().within(SOON_SECONDS):
            await wait_for_ever()
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert asyncio.run(main()) == 0


def test_a_cancellation_by_somebody_else_passes_also_where_the_time_is_up_as_well() -> None:
    async def main() -> bool:
        deadlines, begun = Deadlines(), asyncio.Event()

        async def block() -> None:
            with deadlines.within(SOON_SECONDS):
                begun.set()
                try:
                    await wait_for_ever()
                finally:
                    await wait_for_ever()  # until the deadline cancels it, too

        task = asyncio.create_task(block())
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())


def test_what_a_block_raises_passes() -> None:
    async def main() -> None:
        with Deadlines().within(PATIENCE_SECONDS):
            raise KeyError("its own")

    with pytest.raises(KeyError, match="its own"):
        asyncio.run(main())


def test_blocks_share_a_timer() -> None:
    timers = 0

    class Counting(asyncio.SelectorEventLoop):
        def call_later(self, *args: Any, **named: Any) -> asyncio.TimerHandle:
            nonlocal timers
            timers += 1
            return super().call_later(*args, **named)

    async def main() -> None:
        deadlines = Deadlines()
        for _ in range(100):
            with deadlines.within(PATIENCE_SECONDS):
                pass

    with asyncio.Runner(loop_factory=Counting) as runner:
        runner.run(main())
    assert timers == 1
