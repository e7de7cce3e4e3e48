"""Whoever watches an owner on another node sees what they would see at home, whatever becomes of nodes and bus."""

from random import Random

import pytest
import trio

from actors.errors import Forbidden, NotFound, Overloaded
from actors.kernel.nodes.copy import Phase
from actors.kernel.nodes.entries import Touched
from actors.kernel.nodes.peers import SHOWN_BYTES
from persistence.errors import OutcomeUnknown, PersistenceError
from tests.kernel.ledger import KIND, ROWS, Deposit, Kick, Promote, Read, Rename, Wave
from tests.nodes.realm import open_realm
from tests.nodes.watching import seen, truth, watch
from tests.support.bus import FAIR, FOUL


async def test_events_reach_all_nodes_in_order(autojump_clock: object) -> None:
    async with open_realm("a", "b", "c") as realm:
        sockets = []
        for node in "abc":
            for mode in ("delta", "snapshot"):
                sockets.append((await watch(realm, node, "b0", mode=mode))[0])
        before = realm.nodes["b"].far.followed.turns
        for number in range(20):
            await realm.nodes["abc"[number % 3]].system.ask(KIND, "b0", Deposit("bob", number + 20))
        await realm.nodes["b"].system.ask(KIND, "b0", Wave("bob"))
        await trio.sleep(1)
        for socket in sockets:
            assert seen(socket) == truth(realm, "b0")
        deltas = sockets[::2]
        assert [one.offsets for one in deltas] == [list(range(1, 21))] * 3
        assert all(one.frames[-1]["event"] == "Waved" for one in deltas)
        # What one node shows to many is told to it once.
        told = realm.nodes["b"].far.followed.turns
        assert told == before + 2 * 21
        for _ in range(30):
            await watch(realm, "a", "b0")
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", 1))
        assert realm.nodes["b"].far.followed.turns == told + 2


async def test_a_reply_comes_before_the_events_of_its_turn(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        socket, _ = await watch(realm, "a", "b0")
        frames_at_reply = []
        for number in range(5):
            realm.nodes["a"].system.post(
                KIND, "b0", Deposit("ann", number + 1), lambda _: frames_at_reply.append(len(socket.frames))
            )
        await trio.sleep(1)
        assert frames_at_reply[0] == 1
        assert len(socket.frames) == 6


async def test_a_caller_is_told_behind_the_events_that_came_with_the_reply(autojump_clock: object) -> None:
    """So a socket can hold the reply back, and send it together with them."""
    async with open_realm("a", "b") as realm:
        socket, _ = await watch(realm, "a", "b0")
        seen_at: list[tuple[str, int]] = []
        realm.nodes["a"].system.post(
            KIND,
            "b0",
            Deposit("ann", 1),
            lambda _: seen_at.append(("reply", len(socket.frames))),
            after_frames=lambda: seen_at.append(("told", len(socket.frames))),
        )
        await trio.sleep(1)
        assert seen_at == [("reply", 1), ("told", 2)]


async def test_views_that_are_touched_again_in_a_step_are_told_of_once(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        heard: list[Touched] = []
        realm.nodes["b"].peers.hear(Touched, lambda _node, entry: heard.append(entry))
        far = realm.nodes["a"].far
        for ids in (["ann", "bob"], ["bob", "cid"], []):
            far.touched("inbox", ids, "room")
        far.touched("inbox", ["ann"], "hall")
        await trio.sleep(1)
        assert heard == [Touched("inbox", ["ann", "bob", "cid"], "room"), Touched("inbox", ["ann"], "hall")]
        far.touched("inbox", ["ann"], "room")
        await trio.sleep(1)
        assert heard[2:] == [Touched("inbox", ["ann"], "room")]


@pytest.mark.parametrize("seed", range(25))
async def test_nobody_misses_or_repeats_anything(autojump_clock: object, seed: int) -> None:
    """The bus loses, repeats and delays; owners go from node to node; one node dies."""
    rng = Random(seed)
    async with open_realm("a", "b", "c", seed=seed) as realm:
        ids = ("a0", "b0", "c0")
        watched = []
        for id in ids:
            for node in "ab":
                for user, mode in (("ann", "delta"), ("eve", "delta"), ("ann", "snapshot")):
                    watched.append((id, user, (await watch(realm, node, id, user, mode=mode))[0]))
        realm.bus.weather = FOUL

        async def speak(id: str) -> None:
            drawn = Random(f"{seed} {id}")
            for _ in range(40):
                node = drawn.choice([name for name in "ab" if name in realm.nodes])
                command = drawn.choice(
                    [
                        Deposit("bob", drawn.randint(20, 90)),
                        Read("ann"),
                        Wave("bob"),
                        Promote("eve"),
                        Kick("zoe"),
                    ]
                )
                realm.nodes[node].system.post(KIND, id, command, lambda _: None)
                await trio.sleep(drawn.uniform(0, 0.2))

        async with trio.open_nursery() as nursery:
            for id in ids:
                nursery.start_soon(speak, id)
            for _ in range(4):
                await trio.sleep(rng.uniform(0.1, 1))
                await realm.give(rng.choice(ids), rng.choice("abc"))
            await realm.kill("c", heir=rng.choice("ab"))
        await trio.sleep(8)
        realm.bus.weather = FAIR
        await trio.sleep(8)
        for id, user, socket in watched:
            assert not socket.ended
            boss = user in realm.simulation.rows["ledger", id].bosses
            assert seen(socket) == truth(realm, id, "boss" if boss else "member"), (id, user)
        assert not any(node.lost for node in realm.nodes.values())
        unsure = [
            (
                name,
                copy.id,
                copy.phase.name,
                copy.asked_of,
                copy.since,
                copy.asked,
                copy.answered,
                len(copy.channel),
            )
            for name, node in realm.nodes.items()
            for copy in node.copies
            if copy.phase is not Phase.WHOLE
        ]
        assert not unsure


async def test_a_right_that_ends_ends_what_is_watched_elsewhere(autojump_clock: object) -> None:
    async with open_realm("a", "b", "c") as realm:
        socket, _ = await watch(realm, "a", "b0", "eve")
        other, _ = await watch(realm, "a", "b0", "ann")
        await realm.nodes["c"].system.ask(KIND, "b0", Kick("eve"))
        await trio.sleep(0.1)
        assert socket.ended == [("ledger:b0", "FORBIDDEN")]
        assert not other.ended
        # The owner's present state decides, not what another node has heard of it so far.
        realm.bus.weather = FOUL
        for user in ("u1", "u2", "u3", "u4"):
            await realm.nodes["b"].system.ask(KIND, "b0", Kick(user))
            with pytest.raises(Forbidden):
                await watch(realm, "a", "b0", user)
        realm.own("b", "none")
        with pytest.raises(NotFound):
            await watch(realm, "a", "none")
        assert not [copy for copy in realm.nodes["a"].copies if copy.id == "none"]


async def test_a_client_goes_on_at_another_node_where_it_was(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        for number in range(5):
            await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", number + 20))
        socket, subscription = await watch(realm, "b", "b0")
        subscription.close()
        epoch, offset = socket.frames[0]["epoch"], socket.frames[0]["offset"]
        for number in range(5):
            await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", number + 30))
        for since, recovered in (((epoch, offset), True), ((epoch, offset - 4), True), (("other", 3), False)):
            again, _ = await watch(realm, "a", "b0", since=since)
            assert again.opened[0][2] is recovered
            if recovered:
                assert again.offsets == list(range(since[1] + 1, 11))


async def test_who_comes_back_to_a_copy_gets_a_snapshot_only_where_events_do_not_say_all(
    autojump_clock: object,
) -> None:
    async with open_realm("a", "b", "c") as realm:
        owner = realm.nodes["b"].system
        socket, _ = await watch(realm, "a", "b0")
        await owner.ask(KIND, "b0", Deposit("bob", 20))
        await trio.sleep(1)
        since = socket.frames[0]["epoch"], 1
        # A copy that is new has nothing to say of what was before, and one that follows knows.
        for node in "ac":
            assert (await watch(realm, node, "b0", since=since))[0].opened[0][2] is True
        await owner.ask(KIND, "b0", Rename("till"))
        await trio.sleep(1)
        for node in "ac":
            again, _ = await watch(realm, node, "b0", since=since)
            assert (again.opened[0][2], again.frames[0]["data"]["name"]) == (False, "till")
        # So does one whose rows were changed otherwise, as soon as it has read them.
        await owner.ask(KIND, "b0", Deposit("bob", 30))
        await trio.sleep(1)
        ROWS.rename(realm.simulation, "b0", "bank")
        for node in realm.nodes.values():
            node.system.tell(KIND, "b0", Rename("bank"))
        await trio.sleep(3)
        for node in "ac":
            again, _ = await watch(realm, node, "b0", since=(since[0], 2))
            assert (again.opened[0][2], again.frames[0]["data"]["name"]) == (False, "bank")


async def test_a_dead_node_with_many_viewers_costs_no_storm(autojump_clock: object) -> None:
    """Those that stand where their rows are read nothing and send nothing; the others send what was missed."""
    many = 250
    async with open_realm("a", "b", ledgers=many) as realm:
        sockets = [(await watch(realm, "a", f"b{number}"))[0] for number in range(many)]
        # The last turn of one is in rows when its node dies, and was told to nobody.
        realm.bus.parted.add(frozenset("ab"))
        await realm.nodes["b"].system.ask(KIND, "b7", Deposit("bob", 77))
        realm.simulation.reads.clear()
        await realm.kill("b", heir="a")
        await trio.sleep(10)
        assert realm.simulation.reads.count("recover") == 1
        assert realm.simulation.reads.count("_read_positions") < 20
        assert [len(one.frames) for one in sockets] == [2 if number == 7 else 1 for number in range(many)]
        assert sockets[7].offsets == [1]
        # They are this node's now; whoever says something is heard by all who watch.
        await realm.nodes["a"].system.ask(KIND, "b3", Deposit("bob", 5))
        assert sockets[3].offsets == [1]


async def test_an_owner_takes_over_those_who_watched_its_copy(autojump_clock: object) -> None:
    """They are told nothing where they stand where it does, else what they have missed, or what it is now."""
    async with open_realm("a", "b", ledgers=3) as realm:
        sockets = [(await watch(realm, "a", f"b{number}"))[0] for number in range(3)]
        realm.bus.parted.add(frozenset("ab"))
        await realm.nodes["b"].system.ask(KIND, "b1", Read("ann"))  # has no offset
        for amount in (3, 4):
            await realm.nodes["b"].system.ask(KIND, "b2", Deposit("ann", amount))
        await realm.kill("b", heir="a")
        for number in range(3):
            await realm.nodes["a"].system.ask(KIND, f"b{number}", Deposit("bob", 5))
        assert [[one["type"] for one in socket.frames] for socket in sockets] == [
            ["snapshot", "event"],
            ["snapshot", "snapshot", "event"],
            ["snapshot", "event", "event", "event"],
        ]
        assert seen(sockets[2]) == truth(realm, "b2")
        # And the other way round.
        await realm.begin("c")
        assert await realm.give("b0", "c")
        await trio.sleep(1)
        await realm.nodes["c"].system.ask(KIND, "b0", Deposit("bob", 6))
        await trio.sleep(1)
        assert sockets[0].offsets == [1, 2]
        assert len(sockets[0].frames) == 3


async def test_a_node_that_takes_nothing_holds_up_nobody(autojump_clock: object) -> None:
    async with open_realm("a", "b", "c") as realm:
        slow, _ = await watch(realm, "a", "b0")
        quick, _ = await watch(realm, "c", "b0")
        realm.bus.parted.add(frozenset("ab"))
        owner = realm.nodes["b"]
        name = "x" * 60_000
        for _ in range(2 * SHOWN_BYTES // len(name)):
            await owner.system.ask(KIND, "b0", Promote(name))
        await trio.sleep(1)
        assert owner.far.followed.drops == 1
        assert owner.peers.links.waiting_bytes_of("a") < SHOWN_BYTES + 2 * len(name)
        assert seen(quick) == truth(realm, "b0")
        realm.bus.parted.clear()
        await trio.sleep(10)
        assert seen(slow) == truth(realm, "b0")
        assert not realm.nodes["a"].lost


async def test_a_silent_owner_is_followed_by_its_rows(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        socket, _ = await watch(realm, "a", "b0")
        realm.bus.parted.add(frozenset("ab"))
        await trio.sleep(3)
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", 20))
        await trio.sleep(5)
        assert socket.offsets == [1]
        with pytest.raises(Overloaded):
            await watch(realm, "a", "b0")
        realm.bus.parted.clear()
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", 30))
        await trio.sleep(5)
        assert seen(socket) == truth(realm, "b0")


async def test_a_copy_that_nobody_watches_goes(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        _, subscription = await watch(realm, "a", "b0")
        assert (len(realm.nodes["a"].copies), len(realm.nodes["b"].far.followed)) == (1, 1)
        assert realm.nodes["b"].system.peek(KIND, "b0") is None  # watching wakes nobody
        subscription.close()
        await trio.sleep(70)
        assert (len(realm.nodes["a"].copies), len(realm.nodes["b"].far.followed)) == (0, 0)


async def test_rows_that_cannot_be_read_refuse_viewers_until_they_can(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        realm.simulation.away = True
        with pytest.raises(PersistenceError):
            await watch(realm, "a", "b0")
        realm.simulation.away = False
        socket, _ = await watch(realm, "a", "b0")
        await ROWS.create(realm.simulation, "b1")
        assert seen(socket) == truth(realm, "b0")


async def test_who_comes_to_a_node_that_may_have_been_replaced_is_refused(autojump_clock: object) -> None:
    """What its owners would show may be older than what the client has seen of their heirs."""
    async with open_realm("a", "b") as realm:
        await watch(realm, "a", "a0")
        realm.nodes["a"].where.is_sure = lambda: False
        with pytest.raises(Overloaded):
            await watch(realm, "a", "a0")
        # It has only stood still, and renews.
        asked_at = trio.current_time()
        realm.nodes["a"].where.is_sure = lambda: trio.current_time() > asked_at + 1
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch, realm, "a", "a0")
            await trio.sleep(1.1)
            realm.nodes["a"].where.changed()


async def test_who_lags_while_a_restarting_owner_moves_catches_up(autojump_clock: object) -> None:
    """The owner's channel has no state at that moment, and goes on as a copy's."""
    async with open_realm("a", "b") as realm:
        socket, _ = await watch(realm, "b", "b0", mode="snapshot")
        socket.make_room(0)
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", 20))
        realm.simulation.script.append("unknown_landed")
        with pytest.raises(OutcomeUnknown):
            await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", 30))
        assert await realm.give("b0", "a")
        await trio.sleep(2)
        socket.make_room(None)
        assert seen(socket) == truth(realm, "b0")
        await realm.nodes["b"].system.ask(KIND, "b0", Deposit("bob", 40))
        await trio.sleep(1)
        assert seen(socket) == truth(realm, "b0")
