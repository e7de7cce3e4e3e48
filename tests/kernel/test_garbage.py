"""Views and owners that go leave nothing to the collector: they take with them all that they have shown."""

import trio
from trio.testing import MockClock

from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, Deposit
from tests.kernel.purse import PURSE
from tests.support.garbage import left_to_the_collector, ours
from tests.support.sinks import Socket

ROUNDS = 20


async def test_views_that_nobody_watches_any_more_are_gone(autojump_clock: MockClock, stage: Stage) -> None:
    with left_to_the_collector() as left:
        for _ in range(ROUNDS):
            subscription = await stage.watch(Socket(), shown=PURSE, id="ann")
            await stage.ask(Deposit("ann", 1))
            await trio.sleep(1)
            subscription.close()
    assert not ours(left)


async def test_owners_that_retire_are_gone(autojump_clock: MockClock, stage: Stage) -> None:
    with left_to_the_collector() as left:
        for _ in range(ROUNDS):
            subscription = await stage.watch(Socket())
            await stage.ask(Deposit("ann", 1))
            subscription.close()
            await trio.sleep(200)
            assert stage.system.peek(KIND, "a") is None
    assert not ours(left)
