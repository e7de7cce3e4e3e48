"""What owners are told without a caller reaches those in memory wherever they are by now, and goes in no circle; copies
of the others read their rows anew.
"""

import msgspec
import trio
from trio.testing import MockClock

from persistence.nodes.members import Lease
from persistence.nodes.shards import shard_of
from tests.kernel.ledger import KIND, Deposit, Promote, Read, Wave
from tests.nodes.realm import Realm, open_realm
from tests.nodes.watching import seen, truth, watch


def amounts(realm: Realm, id: str) -> list[int]:
    """What was written into a ledger, in order."""
    return [entry.amount for entry in realm.simulation.rows["entries", id]]


async def test_what_reaches_a_former_owner_goes_on(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b", "c") as realm:
        a, c = realm.nodes["a"].system, realm.nodes["c"].system
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("ann", 1))
        a.tell(KIND, "b0", Deposit("ann", 10))
        await trio.sleep(0.5)
        realm.bus.parted.add(frozenset("ab"))
        assert await realm.give("b0", "c")
        await c.ask(KIND, "b0", Read("ann"))
        a.tell(KIND, "b0", Deposit("ann", 100))  # a has not heard of c yet
        await trio.sleep(0.2)
        realm.bus.parted.clear()
        await trio.sleep(3)
        assert amounts(realm, "b0") == [1, 10, 100]


async def test_an_owner_of_whom_nobody_has_told_yet_hears_it_too(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b", "c") as realm:
        a, c = realm.nodes["a"], realm.nodes["c"]
        shard = shard_of(KIND.name, "b0")
        _, fence = realm.simulation.leases[shard]
        a.where.learn({shard: Lease("", fence + 1)})
        realm.simulation.leases[shard] = ("c", fence + 2)
        c.where.learn({shard: Lease("c", fence + 2)})
        c.system.post(KIND, "b0", Read("ann"), lambda _: None)
        for amount in (1, 2, 3):
            a.system.tell(KIND, "b0", Deposit("ann", amount))
        assert a.where.elsewhere(KIND.name, "b0") is None
        await trio.sleep(3)  # a has looked at the rows meanwhile
        assert amounts(realm, "b0") == [1, 2, 3]


async def test_owners_that_are_not_in_memory_are_not_woken(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b") as realm:
        realm.nodes["a"].system.tell(KIND, "b0", Deposit("ann", 1))
        await trio.sleep(1)
        assert realm.nodes["b"].system.peek(KIND, "b0") is None
        assert amounts(realm, "b0") == []


def promote(realm: Realm, id: str, who: str) -> None:
    """Change a ledger's rows as another domain does; each node hears of it, and tells it by what changes nothing."""
    rows = realm.simulation.rows
    rows["ledger", id] = msgspec.structs.replace(rows["ledger", id], bosses=(who,))
    for node in realm.nodes.values():
        node.system.tell(KIND, id, Wave("ann"))


async def test_copies_read_anew_what_their_owner_is_told(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b", "c") as realm:
        sockets = [
            (await watch(realm, node, "b0", mode=mode))[0] for node in "ac" for mode in ("delta", "snapshot")
        ]
        beside, _ = await watch(realm, "a", "c0")
        promote(realm, "b0", "eve")
        await trio.sleep(1)
        assert realm.nodes["b"].system.peek(KIND, "b0") is None
        for socket in sockets:
            assert seen(socket) == truth(realm, "b0")
            assert len(socket.frames) == 2
        assert len(beside.frames) == 1
        # They follow as before.
        await realm.nodes["c"].system.ask(KIND, "b0", Deposit("ann", 1))
        await trio.sleep(1)
        for socket in sockets:
            assert seen(socket) == truth(realm, "b0")
            assert len(socket.frames) == 3


async def test_copies_read_anew_what_their_owner_has_read_before_it_was_told(
    autojump_clock: MockClock,
) -> None:
    async with open_realm("a", "b") as realm:
        socket, _ = await watch(realm, "a", "b0")
        rows = realm.simulation.rows
        rows["ledger", "b0"] = msgspec.structs.replace(rows["ledger", "b0"], bosses=("eve",))
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("ann", 1))
        promote(realm, "b0", "eve")
        await trio.sleep(1)
        assert seen(socket) == truth(realm, "b0")


async def test_what_was_missed_does_not_stand_for_what_was_changed(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b") as realm:
        a = realm.nodes["a"].system
        socket, _ = await watch(realm, "a", "b0")
        for _ in range(2):
            promote(realm, "b0", "eve")
            await a.ask(KIND, "b0", Deposit("ann", 1))
        await trio.sleep(3)
        assert seen(socket) == truth(realm, "b0")


async def test_viewers_are_shown_what_was_changed_while_their_owner_moved(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b", "c") as realm:
        a = realm.nodes["a"].system
        sockets = [(await watch(realm, node, "b0"))[0] for node in "ac"]
        assert await realm.give("b0", "a")
        promote(realm, "b0", "bob")  # one copy is on the node that owns it, the other asks that node
        await trio.sleep(2)
        assert a.peek(KIND, "b0") is None
        assert [seen(socket) for socket in sockets] == [truth(realm, "b0")] * 2
        promote(realm, "b0", "cid")
        await a.ask(KIND, "b0", Read("ann"))  # loads it before its copy has read anything
        await trio.sleep(2)
        assert [seen(socket) for socket in sockets] == [truth(realm, "b0")] * 2


async def test_an_owner_that_is_told_while_it_is_loaded_shows_it(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b") as realm:
        a = realm.nodes["a"].system
        socket, _ = await watch(realm, "a", "b0")
        assert await realm.give("b0", "a")
        await trio.sleep(1)
        a.post(KIND, "b0", Read("ann"), lambda _: None)  # is being loaded
        promote(realm, "b0", "bob")
        await trio.sleep(1)
        assert seen(socket) == truth(realm, "b0")


async def test_many_changes_are_shown_once_a_second_and_let_viewers_come(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b") as realm:
        socket, _ = await watch(realm, "a", "b0")
        late = []
        for number in range(200):
            promote(realm, "b0", f"user{number}")
            if number == 100:
                late.append((await watch(realm, "a", "b0"))[0])
            await trio.sleep(0.05)
        await trio.sleep(2)
        for one in (socket, *late):
            assert seen(one) == truth(realm, "b0")
        assert 8 <= len(socket.frames) <= 16


async def test_a_copy_that_nobody_watches_is_read_when_somebody_does(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b") as realm:
        _, subscription = await watch(realm, "a", "b0")
        subscription.close()
        promote(realm, "b0", "eve")
        await trio.sleep(0.5)
        socket, _ = await watch(realm, "a", "b0")
        assert seen(socket) == truth(realm, "b0")


async def test_all_copies_of_a_kind_read_anew_when_it_is_not_known_whose_rows_have_changed(
    autojump_clock: MockClock,
) -> None:
    async with open_realm("a", "b", "c") as realm:
        ids = ("a0", "b0", "c0")
        sockets = [(await watch(realm, "a", id))[0] for id in ids]
        rows = realm.simulation.rows
        for id in ids[1:]:
            rows["ledger", id] = msgspec.structs.replace(rows["ledger", id], bosses=("eve",))
        realm.nodes["a"].system.tell_all(KIND, Promote("eve"))
        await trio.sleep(1)
        assert [seen(socket)["bosses"] for socket in sockets] == [["eve"]] * 3


async def test_nodes_that_take_each_other_for_the_owner_do_not_tell_forever(
    autojump_clock: MockClock,
) -> None:
    async with open_realm("a", "b") as realm:
        a, b = realm.nodes["a"], realm.nodes["b"]
        shard = shard_of(KIND.name, "b0")
        _, fence = realm.simulation.leases[shard]
        b.where.learn({shard: Lease("a", fence + 2)})
        a.where.learn({shard: Lease("b", fence + 2)})
        before = [node.peers.links.statistics.entries for node in (a, b)]
        a.system.tell(KIND, "b0", Deposit("ann", 1))
        await trio.sleep(20)
        told = [node.peers.links.statistics.entries for node in (a, b)]
        assert [now - then for now, then in zip(told, before, strict=True)] == [1, 0]
