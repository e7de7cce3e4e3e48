"""Copies that go leave nothing to the collector: they take with them all that they have shown."""

import trio

from tests.kernel.ledger import KIND, Deposit
from tests.nodes.realm import open_realm
from tests.nodes.watching import seen, truth, watch
from tests.support.garbage import left_to_the_collector, ours

ROUNDS = 5


async def test_copies_that_nobody_watches_any_more_are_gone(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        with left_to_the_collector() as left:
            for amount in range(ROUNDS):
                _, subscription = await watch(realm, "a", "b0")
                await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", amount + 20))
                await trio.sleep(0.1)
                subscription.close()
                await trio.sleep(70)
                assert not len(realm.nodes["a"].copies)
        assert not ours(left)


async def test_channels_that_were_handed_over_are_gone_with_their_last_holder(autojump_clock: object) -> None:
    """From a copy to an owner here and back; the copy that goes first takes nothing from who watches."""
    async with open_realm("a", "b") as realm:
        with left_to_the_collector() as left:
            for amount in range(ROUNDS):
                socket, subscription = await watch(realm, "a", "b0")
                for owner in ("a", "b"):
                    assert await realm.give("b0", owner)
                    await realm.nodes["a"].system.ask(KIND, "b0", Deposit("bob", amount + 20))
                    await trio.sleep(1)
                    assert seen(socket) == truth(realm, "b0")
                subscription.close()
                await trio.sleep(70)
                assert not len(realm.nodes["a"].copies)
        assert not ours(left)
