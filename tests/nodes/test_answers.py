"""Large answers between nodes: however many there are at once, no link is full of them, and every asker gets one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any

import trio
from trio.testing import MockClock

from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer
from actors.kernel.nodes.answers import (
    LARGE_BEHIND_BYTES,
    SMALL_BEHIND_BYTES,
    SMALL_BYTES,
    WAITING_BYTES,
    WAITING_MAX,
)
from actors.kernel.nodes.entries import Said, encode
from actors.kernel.nodes.link import ENTRY_BYTES, LINK_BYTES, Life
from actors.kernel.nodes.peers import Peers
from persistence.errors import OutcomeUnknown
from tests.kernel.ledger import KIND, Read
from tests.nodes.play import peers_of
from tests.nodes.realm import ASK_SECONDS, Realm, open_realm
from tests.support.bus import SimulatedBus

LARGE = bytes(ENTRY_BYTES // 2)
SMALL = bytes(SMALL_BYTES // 2)
MANY = 12


class Talk:
    """A node that answers, and what another has heard of it: the first two bytes of each, in order."""

    def __init__(self, bus: SimulatedBus, nursery: trio.Nursery) -> None:
        self.bus = bus
        self.lost: list[str] = []
        self.heard: list[int] = []
        self.said: dict[int, bool] = {}
        self._nursery = nursery
        self.peers = self._join("a", 1)
        other = self._join("b", 2)
        other.hear_topic("answer", lambda _, body: self.heard.append(int.from_bytes(body[:2])))
        self.peers.meet(Life("b", 2))
        other.meet(Life("a", 1))

    def _join(self, name: str, life: int) -> Peers:
        peers = peers_of(Life(name, life), self.bus.end(name), self.lost.append)
        self.bus.join(name, peers.links.take)
        peers.listen()
        self._nursery.start_soon(peers.links.keep)
        return peers

    def answer(self, name: int, body: bytes) -> trio.CancelScope:
        """Answer at once, or when there is room; cancelling the scope gives it up."""
        data = encode(Said("answer", name.to_bytes(2) + body))
        scope = trio.CancelScope()
        if self.peers.answers.say("b", data):
            self.said[name] = True
        else:
            self._nursery.start_soon(self._wait, name, data, scope)
        return scope

    async def _wait(self, name: int, data: bytes, scope: trio.CancelScope) -> None:
        with scope:
            self.said[name] = await self.peers.answers.wait_to_say("b", data)

    @property
    def waiting_bytes(self) -> int:
        return self.peers.links.waiting_bytes_of("b")

    def part(self) -> None:
        self.bus.parted.add(frozenset("ab"))

    def join(self) -> None:
        self.bus.parted.clear()


@asynccontextmanager
async def open_talk() -> AsyncIterator[Talk]:
    """The two on a bus, and have heard of each other."""
    async with trio.open_nursery() as nursery:
        bus = SimulatedBus(Random(0))
        nursery.start_soon(bus.carry)
        talk = Talk(bus, nursery)
        await trio.sleep(1)
        yield talk
        nursery.cancel_scope.cancel()


async def test_however_many_large_answers_there_are_all_arrive(autojump_clock: MockClock) -> None:
    async with open_talk() as talk:
        for name in range(MANY):
            talk.answer(name, LARGE)
        assert talk.waiting_bytes <= LARGE_BEHIND_BYTES + ENTRY_BYTES
        assert not talk.peers.has_been_heard
        await trio.sleep(3)
        assert sorted(talk.heard) == list(range(MANY))
        assert talk.peers.has_been_heard
        assert not talk.lost


async def test_small_answers_do_not_wait_behind_large_ones(autojump_clock: MockClock) -> None:
    async with open_talk() as talk:
        for name in range(MANY):
            talk.answer(name, LARGE)
        talk.answer(100, SMALL)
        assert talk.said[100]
        await trio.sleep(3)
        assert talk.heard.index(100) < MANY // 2


async def test_small_answers_alone_fill_no_link(autojump_clock: MockClock) -> None:
    async with open_talk() as talk:
        talk.part()
        count = 2 * LINK_BYTES // len(SMALL)
        for name in range(count):
            talk.answer(name, SMALL)
        assert talk.waiting_bytes <= SMALL_BEHIND_BYTES + 2 * SMALL_BYTES
        talk.join()
        await trio.sleep(5)
        assert sorted(talk.heard) == list(range(count))
        assert not talk.lost


async def test_what_waits_is_bounded_in_bytes(autojump_clock: MockClock) -> None:
    async with open_talk() as talk:
        talk.part()
        for name in range(1 + WAITING_BYTES // len(LARGE)):
            talk.answer(name, LARGE)
        await trio.sleep(0.5)
        assert sorted(talk.said.values()) == [False, True]


async def test_what_waits_is_bounded_in_number(autojump_clock: MockClock) -> None:
    async with open_talk() as talk:
        talk.part()
        while talk.waiting_bytes <= SMALL_BEHIND_BYTES:
            talk.answer(0, SMALL)
        for name in range(1, WAITING_MAX + 2):
            talk.answer(name, b"")
        await trio.sleep(0.5)
        assert sorted(talk.said.values()) == [False, True]


async def test_an_answer_that_is_given_up_makes_room_for_others(autojump_clock: MockClock) -> None:
    async with open_talk() as talk:
        talk.part()
        talk.answer(0, LARGE)
        scopes = [talk.answer(name, LARGE) for name in range(1, MANY)]
        await trio.sleep(0.1)
        assert talk.peers.answers.are_waiting_for("b")
        for scope in scopes[:-1]:
            scope.cancel()
        talk.join()
        await trio.sleep(3)
        assert talk.heard == [0, MANY - 1]
        assert not talk.peers.answers.are_waiting_for("b")


async def test_nothing_waits_for_a_node_that_lives_no_more(autojump_clock: MockClock) -> None:
    async with open_talk() as talk:
        talk.part()
        for name in range(3):
            talk.answer(name, LARGE)
        await trio.sleep(0.1)
        talk.peers.part("b")
        await trio.sleep(0.1)
        assert talk.said == {0: True, 1: False, 2: False}
        assert not talk.peers.answers.are_waiting_for("b")


# -- replies of owners ------------------------------------------------------------------------------


def read_often(realm: Realm) -> list[Answer]:
    """Many on one node ask an owner of the other at once; what they are answered."""
    answers: list[Answer] = []
    for number in range(MANY):
        realm.nodes["a"].system.post(realm.kind, "b0", Read(f"{number}"), answers.append)
    return answers


def replying(size: int) -> Kind[Any, Any]:
    """Owners that answer with so many bytes."""
    return replace(KIND, answer=lambda *_: bytes(size), crossing={**KIND.crossing, Read: bytes})


async def test_large_replies_of_owners_fill_no_link(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b", kind=replying(len(LARGE))) as realm:
        answers = read_often(realm)
        await trio.sleep(3)
        assert [len(answer.reply) for answer in answers] == [len(LARGE)] * MANY
        assert not realm.nodes["a"].lost


async def test_a_reply_that_no_link_takes_is_unknown(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b", kind=replying(ENTRY_BYTES)) as realm:
        answers = read_often(realm)
        await trio.sleep(1)
        assert [type(answer.error) for answer in answers] == [OutcomeUnknown] * MANY


async def test_replies_that_find_no_room_in_time_are_unknown(autojump_clock: MockClock) -> None:
    async with open_realm("a", "b", kind=replying(len(LARGE))) as realm:
        answers = read_often(realm)
        # The owner's node does not hear that anything of it has arrived.
        peers = realm.nodes["b"].peers
        realm.bus.join(
            "b", lambda data: None if peers.answers.are_waiting_for("a") else peers.links.take(data)
        )
        await trio.sleep(ASK_SECONDS + 1)
        assert len(answers) == MANY
        assert {type(answer.error) for answer in answers} == {type(None), OutcomeUnknown}
        assert not peers.answers.are_waiting_for("a")
        assert not realm.nodes["a"].lost
