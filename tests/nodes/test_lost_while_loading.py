"""A shard goes to another node while an owner in it is being loaded: nobody sees, or is answered by, what was."""

from functools import partial
from itertools import accumulate
from typing import Any

import pytest
import trio

from actors.errors import Forbidden
from actors.kernel.subscription import Subscription
from tests.kernel.ledger import KIND, Deposit, Kick, Promote, Read
from tests.nodes.realm import Realm, open_realm
from tests.nodes.watching import seen, truth, watch
from tests.support.sinks import Socket


class Looking:
    """A viewer of `a0` on node a, and callers there, who have come while it is being loaded."""

    socket: Socket
    subscription: Subscription

    def __init__(self, realm: Realm) -> None:
        self._realm = realm
        self.replies: list[Any] = []

    async def look(self) -> None:
        """Watch it."""
        self.socket, self.subscription = await watch(self._realm, "a", "a0")

    async def deposit(self, node: str, amount: int) -> None:
        """Ask it something on a node."""
        self.replies.append(await self._realm.nodes[node].system.ask(KIND, "a0", Deposit("bob", amount)))


async def test_who_watches_goes_on_to_the_copy(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        realm.simulation.delay_seconds = (1, 1)
        looking = Looking(realm)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(looking.look)
            await trio.sleep(0.2)
            assert realm.simulation.reads.count("recover") == 1
            realm.own("b", "a0")
        realm.simulation.delay_seconds = (0, 0)
        a, b = realm.nodes["a"], realm.nodes["b"]
        assert (a.system.peek(KIND, "a0"), len(a.copies)) == (None, 1)
        for number in range(3):
            await b.system.ask(KIND, "a0", Deposit("bob", number + 5))
        await trio.sleep(1)
        assert seen(looking.socket) == truth(realm, "a0")
        assert looking.socket.offsets == [1, 2, 3]
        # Who was removed where the owner is watches here no longer, and does not come again.
        await b.system.ask(KIND, "a0", Kick("ann"))
        await trio.sleep(1)
        assert looking.socket.ended
        assert not looking.subscription.channel.holds(looking.subscription)
        with pytest.raises(Forbidden):
            await watch(realm, "a", "a0")


async def test_who_asks_is_answered_by_the_next_owner(autojump_clock: object) -> None:
    """Those of a node in the order in which they came, and those of other nodes; what has no caller goes there, too."""
    async with open_realm("a", "b", "c") as realm:
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", 1))
        realm.simulation.delay_seconds = (1, 1)
        asking = Looking(realm)
        async with trio.open_nursery() as nursery:
            for node, amount in (("a", 20), ("a", 30), ("c", 40)):
                nursery.start_soon(asking.deposit, node, amount)
                await trio.sleep(0.1)
            realm.nodes["a"].system.tell(KIND, "a0", Promote("eve"))
            assert not asking.replies
            realm.own("b", "a0")
            nursery.start_soon(asking.deposit, "a", 50)
        amounts = [entry.amount for entry in realm.simulation.rows["entries", "a0"]]
        assert sorted(amounts) == [20, 30, 40, 50]
        assert [amount for amount in amounts if amount != 40] == [20, 30, 50]
        assert sorted(asking.replies) == list(accumulate(amounts))
        await trio.sleep(2)
        assert truth(realm, "a0")["bosses"] == ["eve"]
        assert realm.nodes["a"].system.peek(KIND, "a0") is None


async def test_an_owner_that_has_come_back_meanwhile_is_loaded_again(autojump_clock: object) -> None:
    """Under its next fence: the state of before may lack what the node between has committed."""
    async with open_realm("a", "b") as realm:
        realm.simulation.delay_seconds = (1, 1)
        looking = Looking(realm)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(looking.look)
            nursery.start_soon(looking.deposit, "a", 20)
            await trio.sleep(0.2)
            realm.own("b", "a0")
            realm.own("a", "a0")
        await trio.sleep(2)
        assert looking.replies == [20]
        assert seen(looking.socket) == truth(realm, "a0")
        assert realm.simulation.reads.count("recover") == 2


@pytest.mark.parametrize(("seconds", "reads_missed"), [(0.5, False), (1.5, True)])
async def test_who_was_handed_over_with_a_copy_gets_it_back(
    autojump_clock: object, seconds: float, reads_missed: bool
) -> None:
    """Wherever the load is: before or while it reads what the copy had missed."""
    async with open_realm("a", "b", "c") as realm:
        deltas, snapshots = [(await watch(realm, "a", "b0", mode=mode))[0] for mode in ("delta", "snapshot")]
        realm.bus.parted.add(frozenset("ab"))
        for command in (Deposit("bob", 7), Read("ann")):
            await realm.nodes["b"].system.ask(KIND, "b0", command)
        await realm.kill("b", heir="a")
        realm.simulation.reads.clear()
        realm.simulation.delay_seconds = (1, 1)
        asking = partial(realm.nodes["a"].system.ask, KIND, "b0", Deposit("bob", 20))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(asking)
            await trio.sleep(seconds)
            assert ("read_missed" in realm.simulation.reads) is reads_missed
            realm.own("c", "b0")
        realm.simulation.delay_seconds = (0, 0)
        await realm.nodes["c"].system.ask(KIND, "b0", Deposit("bob", 30))
        await trio.sleep(3)
        assert realm.nodes["a"].system.peek(KIND, "b0") is None
        for socket in (deltas, snapshots):
            assert seen(socket) == truth(realm, "b0")
        assert truth(realm, "b0")["total"] == 57
