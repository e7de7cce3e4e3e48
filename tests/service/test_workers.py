"""Worker threads for users: few, in turns, so that no user's work waits for all of another's."""

from threading import Event

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from routes.workers import Workers
from tests.support.waiting import patience

LATE_SECONDS = 10


async def test_nobody_waits_for_all_that_another_has_sent() -> None:
    workers, done = Workers(1), []
    held = Event()

    async def work(caller: str) -> None:
        await workers.run(caller, lambda: held.wait(LATE_SECONDS))
        done.append(caller)

    with patience():
        async with trio.open_nursery() as nursery:
            for caller in ("ann", "ann", "ann", "ben", "cat", "ben"):
                nursery.start_soon(work, caller)
                await wait_all_tasks_blocked()
            held.set()
    assert len(done) == 6
    assert {*done[:3]} == {"ann", "ben", "cat"}  # one of each before a second one


async def test_as_many_run_at_once_as_there_are_places() -> None:
    workers, held = Workers(2), Event()
    with patience():
        async with trio.open_nursery() as nursery:
            for caller in "abc":
                nursery.start_soon(workers.run, caller, lambda: held.wait(LATE_SECONDS))
            await wait_all_tasks_blocked()
            figures = workers.places.statistics()
            held.set()
    assert (figures.borrowed_tokens, figures.tasks_waiting) == (2, 1)


async def test_what_blocks_raises_to_its_caller_and_gives_its_turn_back() -> None:
    workers = Workers(1)
    with pytest.raises(ZeroDivisionError):
        await workers.run("ann", lambda: 1 // 0)
    assert await workers.run("ann", lambda: 1) == 1
