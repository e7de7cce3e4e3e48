"""Answers wait until other nodes have followed what has happened: those that do, and for a moment at most."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, cast

import msgspec
import trio
from trio.testing import MockClock

from actors.kernel.nodes.link import Life
from actors.kernel.nodes.membership import Membership
from routes.retelling import FOLLOW_SECONDS, Retelling
from tests.nodes.play import peers_of
from tests.support.bus import SimulatedBus


class Happened(msgspec.Struct, frozen=True):
    what: str


class Unheard(msgspec.Struct, frozen=True):
    what: str


class _Node:
    def __init__(self, bus: SimulatedBus, name: str, life: int = 1) -> None:
        membership = Membership(cast(Any, None), Life(name, life))
        self.life = membership.life
        self.peers = peers_of(self.life, bus.end(name))
        membership.link(self.peers)
        self.retelling = Retelling(membership)
        self.retelling.follow([Happened])
        self.takes_seconds = 0.0
        self.memory: list[object] = []
        bus.join(name, self.peers.links.take)
        self.peers.listen()

    async def follow(self) -> None:
        while True:
            node, number, event = await self.retelling.next()
            await trio.sleep(self.takes_seconds)
            self.memory.append(event)
            self.retelling.followed(node, number)

    async def happens(self, event: object) -> float:
        """Tell of it; returns how long the answer waits."""
        began_at = trio.current_time()
        self.retelling.tell(event)
        await self.retelling.wait_followed()
        return trio.current_time() - began_at


@asynccontextmanager
async def _open() -> AsyncIterator[tuple[SimulatedBus, _Node, _Node, _Node]]:
    async with trio.open_nursery() as nursery:
        bus = SimulatedBus(Random(0))
        nursery.start_soon(bus.carry)
        a, b, c = nodes = [_Node(bus, name) for name in "abc"]
        for node in nodes:
            for other in nodes:
                if other is not node:
                    node.peers.meet(other.life)
            nursery.start_soon(node.peers.links.keep)
            nursery.start_soon(node.follow)
        await trio.sleep(1)
        yield bus, a, b, c
        nursery.cancel_scope.cancel()


async def test_an_answer_comes_when_all_have_followed(autojump_clock: MockClock) -> None:
    async with _open() as (_, a, b, c):
        b.takes_seconds = 0.1
        assert 0.1 <= await a.happens(Happened("x")) < 0.2  # the first one already
        assert b.memory[-1] == c.memory[-1] == Happened("x")
        assert await a.happens(Unheard("x")) == 0


async def test_what_owners_have_told_is_heard_behind_what_came_before(autojump_clock: MockClock) -> None:
    async with _open() as (_, a, b, c):
        b.takes_seconds = 0.1
        a.retelling.tell(Happened("x"))
        began_at = trio.current_time()
        await a.retelling.wait_heard()
        assert 0.1 <= trio.current_time() - began_at < FOLLOW_SECONDS
        assert b.memory == c.memory == [Happened("x"), None]


async def test_who_is_late_is_not_waited_for_until_it_has_followed_everything(
    autojump_clock: MockClock,
) -> None:
    async with _open() as (_, a, b, _c):
        b.takes_seconds = 1
        assert await a.happens(Happened("x")) == FOLLOW_SECONDS
        assert await a.happens(Happened("y")) < 0.1
        await trio.sleep(3)
        b.takes_seconds = 0.1
        assert await a.happens(Happened("z")) >= 0.1


async def test_who_is_gone_or_not_heard_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with _open() as (bus, a, _b, _c):
        bus.parted.add(frozenset("ab"))
        async with trio.open_nursery() as nursery:

            async def part() -> None:
                await trio.sleep(0.1)
                a.peers.part("b")

            nursery.start_soon(part)
            assert 0.09 < await a.happens(Happened("x")) < 0.2
        bus.parted.add(frozenset("ac"))
        await trio.sleep(3)
        assert await a.happens(Happened("y")) == 0


async def test_what_a_former_life_has_told_is_not_what_this_one_waits_for(autojump_clock: MockClock) -> None:
    async with _open() as (bus, a, b, c):
        b.takes_seconds = 0.6
        a.retelling.tell(Happened("x"))
        await trio.sleep(0.1)
        anew = _Node(bus, "a", life=2)
        for other in (b, c):
            anew.peers.meet(other.life)
            other.peers.meet(anew.life)
        await trio.sleep(0.4)
        assert await anew.happens(Happened("z")) == FOLLOW_SECONDS
        assert b.memory == [Happened("x")], "which b says meanwhile that it has followed"


async def test_a_release_that_says_nothing_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        bus = SimulatedBus(Random(0))
        nursery.start_soon(bus.carry)
        a = _Node(bus, "a")
        a.peers.meet(Life("b", 1))
        assert await a.happens(Happened("x")) == 0
        nursery.cancel_scope.cancel()
