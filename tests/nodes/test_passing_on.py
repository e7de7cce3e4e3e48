"""Requests that are passed on: each answer goes to who has asked, whatever becomes of nodes meanwhile."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.nodes.link import ENTRY_BYTES, Life
from actors.kernel.nodes.membership import Membership
from persistence.errors import OutcomeUnknown
from routes.edge.deadline import Deadline
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.passing import FarClient, Passed
from routes.passing_on import LONGEST_WAIT_SECONDS, LOOK_SECONDS, PassingOn
from tests.nodes.play import peers_of
from tests.support.bus import SimulatedBus


def request(path: str) -> Passed:
    """Somebody's request."""
    return Passed("GET /x", "GET", path, {}, b"", [], b"", "::1", "r", 5000, 1, 1, 1)


class Asker:
    """Whoever waits on a node for the answer of `b`, and gets a body, or hears that the outcome is unknown."""

    def __init__(self, node: "Node", path: str) -> None:
        self.body: object = None
        self.client = FarClient()
        node.nursery.start_soon(self._ask, node, path)

    async def _ask(self, node: "Node", path: str) -> None:
        try:
            self.body = (await node.passing_on.pass_on("b", request(path), 5, self.client)).body
        except OutcomeUnknown as unknown:
            self.body = unknown


class Node:
    """One life of a node that passes requests on, and answers each with its path once that is let go.

    Attributes:
        padding: bytes behind the path.
    """

    def __init__(self, bus: SimulatedBus, life: Life, nursery: trio.Nursery) -> None:
        membership = Membership(cast(Any, None), life)
        self.life = life
        self.nursery = nursery
        self.padding = 0
        self.lost: list[str] = []
        self.peers = peers_of(life, bus.end(life.node), self.lost.append)
        membership.link(self.peers)
        self.passing_on = PassingOn(membership, nursery.start_soon)
        self.passing_on.serve(self._answer)
        self.let_go: dict[str, trio.Event] = {}
        self.deadlines: dict[str, Deadline] = {}
        self.clients: dict[str, FarClient] = {}
        bus.join(life.node, self.peers.links.take)
        self.peers.listen()
        nursery.start_soon(self.peers.links.keep)

    def meet(self, other: "Node") -> None:
        """Have the two know each other."""
        self.peers.meet(other.life)
        other.peers.meet(self.life)

    async def _answer(self, passed: Passed, deadline: Deadline, client: FarClient) -> Outgoing:
        go = self.let_go[passed.path] = trio.Event()
        self.deadlines[passed.path] = deadline
        self.clients[passed.path] = client
        with trio.CancelScope(shield=True):  # as what is being committed
            await go.wait()
        return Outgoing(200, [], passed.path.encode() + bytes(self.padding))


@asynccontextmanager
async def open_two() -> AsyncIterator[tuple[SimulatedBus, Node, Node]]:
    """Two nodes, `a` and `b`, in their first lives."""
    async with trio.open_nursery() as nursery:
        bus = SimulatedBus(Random(0))
        nursery.start_soon(bus.carry)
        a, b = Node(bus, Life("a", 1), nursery), Node(bus, Life("b", 2), nursery)
        a.meet(b)
        await trio.sleep(1)
        try:
            yield bus, a, b
        finally:
            for go in b.let_go.values():
                go.set()
        nursery.cancel_scope.cancel()


async def test_an_answer_for_a_former_life_is_nobodys(autojump_clock: MockClock) -> None:
    async with open_two() as (bus, a, b):
        ann = Asker(a, "/ann")
        await trio.sleep(0.1)
        anew = Node(bus, Life("a", 3), a.nursery)
        anew.meet(b)
        await trio.sleep(1)
        bob = Asker(anew, "/bob")
        await trio.sleep(0.1)
        b.let_go["/ann"].set()
        await trio.sleep(1)
        assert bob.body is None
        assert not b.passing_on.is_idle, "Bob's is being answered"
        b.let_go["/bob"].set()
        await trio.sleep(1)
        assert (ann.body, bob.body) == (None, b"/bob")
        assert b.passing_on.is_idle


async def test_a_client_who_goes_is_let_go_of_where_its_request_waits(autojump_clock: MockClock) -> None:
    async with open_two() as (_, a, b):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(a.passing_on.pass_on, "b", request("/ann"), 5, None)
            await trio.sleep(0.1)
            assert b.deadlines["/ann"].at > trio.current_time()
            nursery.cancel_scope.cancel()
        await trio.sleep(0.1)
        assert b.deadlines["/ann"].has_expired
        assert a.passing_on.is_idle


async def test_a_client_who_goes_is_known_to_have_gone_where_its_request_is_answered(
    autojump_clock: MockClock,
) -> None:
    """It has its answer all the same: it may only have finished sending."""
    async with open_two() as (_, a, b):
        ann, bob = Asker(a, "/ann"), Asker(a, "/bob")
        await trio.sleep(0.1)
        ann.client.leave()
        await b.clients["/ann"].until_gone()
        assert trio.current_time() < 2 + LOOK_SECONDS
        assert not b.clients["/bob"].is_gone
        assert not b.deadlines["/ann"].has_expired
        for path in ("/ann", "/bob"):
            b.let_go[path].set()
        await trio.sleep(1)
        assert (ann.body, bob.body) == (b"/ann", b"/bob")


async def test_an_answer_that_never_comes_is_waited_for_no_longer_than_it_may_take(
    autojump_clock: MockClock,
) -> None:
    async with open_two() as (_, a, b):
        began = trio.current_time()
        with pytest.raises(OutcomeUnknown):
            await a.passing_on.pass_on("b", request("/ann"), 5, None)
        took = trio.current_time() - began
        assert LONGEST_WAIT_SECONDS + 5 <= took <= LONGEST_WAIT_SECONDS + 5 + LOOK_SECONDS
        await trio.sleep(0.1)
        assert b.deadlines["/ann"].has_expired
        # It is looked after the next ones as well.
        bob = Asker(a, "/bob")
        await trio.sleep(LOOK_SECONDS)
        b.let_go["/bob"].set()
        await trio.sleep(1)
        assert bob.body == b"/bob"


async def ask_for_large(a: Node, b: Node, count: int) -> list[Asker]:
    """So many requests wait for answers of almost a megabyte, which are ready at one moment."""
    b.padding = 990_000
    askers = [Asker(a, f"/{number}") for number in range(count)]
    await trio.sleep(0.1)
    for go in b.let_go.values():
        go.set()
    return askers


async def test_however_many_large_answers_are_ready_at_once_all_arrive(autojump_clock: MockClock) -> None:
    async with open_two() as (_, a, b):
        askers = await ask_for_large(a, b, 12)
        await trio.sleep(2)
        assert [isinstance(asker.body, bytes) for asker in askers] == [True] * 12
        assert not a.lost
        assert b.passing_on.is_idle


async def test_an_answer_may_be_as_large_as_an_entry_of_a_link(autojump_clock: MockClock) -> None:
    async with open_two() as (_, a, b):
        for size, expected in ((ENTRY_BYTES - 100, bytes), (ENTRY_BYTES, OutcomeUnknown)):
            b.padding = size
            asker = Asker(a, "/ann")
            await trio.sleep(0.1)
            b.let_go["/ann"].set()
            await trio.sleep(1)
            assert type(asker.body) is expected
        assert not a.lost


async def test_answers_that_find_no_room_in_time_are_unknown(autojump_clock: MockClock) -> None:
    async with open_two() as (bus, a, b):
        askers = await ask_for_large(a, b, 3)
        # The node that answers does not hear that anything of it has arrived.
        bus.join("b", lambda _: None)
        await trio.sleep(4.5)
        assert [type(asker.body) for asker in askers].count(bytes) == 1
        assert not b.passing_on.is_idle
        await trio.sleep(1)
        assert sorted(type(asker.body).__name__ for asker in askers) == ["OutcomeUnknown"] * 2 + ["bytes"]
        assert b.passing_on.is_idle
        assert not a.lost


async def test_an_answer_that_waits_ends_when_its_client_goes(autojump_clock: MockClock) -> None:
    async with open_two() as (bus, a, b), trio.open_nursery() as clients:
        for path in ("/ann", "/bob", "/cem"):
            clients.start_soon(a.passing_on.pass_on, "b", request(path), 5, None)
        await trio.sleep(0.1)
        await let_wait(bus, b)
        clients.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await trio.sleep(0.1)
        assert not b.peers.answers.are_waiting_for("a")
        assert b.passing_on.is_idle


async def test_an_answer_that_waits_ends_with_the_node_that_has_asked(autojump_clock: MockClock) -> None:
    async with open_two() as (bus, a, b):
        for path in ("/ann", "/bob", "/cem"):
            Asker(a, path)
        await trio.sleep(0.1)
        await let_wait(bus, b)
        b.peers.part("a")
        await trio.sleep(0.1)
        assert not b.peers.answers.are_waiting_for("a")
        assert b.passing_on.is_idle


async def let_wait(bus: SimulatedBus, b: Node) -> None:
    """Have `b` answer with much, of which `a` hears nothing."""
    bus.join("a", lambda _: None)
    b.padding = 990_000
    for go in b.let_go.values():
        go.set()
    await trio.sleep(0.1)
    assert b.peers.answers.are_waiting_for("a")
