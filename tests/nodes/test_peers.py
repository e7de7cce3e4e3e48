"""What nodes say to each other: kept until somebody listens, in order, and never lost in silence."""

from random import Random

import msgspec
import trio
from trio.testing import MockClock

from actors.kernel.nodes.entries import Entry, Owns, Said, Touched, decode, encode
from actors.kernel.nodes.link import BELIEVED_SECONDS, LINK_BYTES, Life
from actors.kernel.nodes.peers import CALLS_BYTES
from tests.nodes.play import peers_of
from tests.support.bus import FAIR, FOUL, SimulatedBus


class _Node:
    def __init__(self, bus: SimulatedBus, name: str) -> None:
        self.life = Life(name, 1)
        self.lost: list[str] = []
        self.heard: list[str] = []
        self.peers = peers_of(self.life, bus.end(name), self.lost.append)
        self.peers.hear_topic("talk", lambda _, body: self.heard.append(body.decode()))
        bus.join(name, self.peers.links.take)


def _pair(bus: SimulatedBus) -> tuple[_Node, _Node]:
    a, b = _Node(bus, "a"), _Node(bus, "b")
    a.peers.meet(b.life)
    b.peers.meet(a.life)
    return a, b


async def test_what_came_early_is_heard_first(autojump_clock: object, nursery: trio.Nursery) -> None:
    bus = SimulatedBus(Random(1))
    a, b = _pair(bus)
    for task in (bus.carry, a.peers.links.keep, b.peers.links.keep):
        nursery.start_soon(task)
    a.peers.say("b", "talk", b"early")
    a.peers.say_all("nobody hears", b"?")
    await trio.sleep(1)
    assert not b.heard
    b.peers.listen()
    a.peers.say_all("talk", b"late")
    await trio.sleep(1)
    assert b.heard == ["early", "late"]
    assert a.peers.has_been_heard


async def test_what_came_early_of_a_node_that_has_ended_ends_with_it() -> None:
    """Who was online there is not so for ever, and what is asked when a node ends is asked of this one too."""
    bus = SimulatedBus(Random(1))
    _, b = _pair(bus)
    told = b.heard
    for life, said in ((1, b"early"), (2, b"again")):
        b.peers.meet(Life("a", life))
        b.peers._take("a", encode(Said("talk", said)))
        if life == 1:
            b.peers.part("a")
    b.peers.on_met(lambda node: told.append(f"{node} is there"))
    b.peers.on_parted(lambda node: told.append(f"{node} has ended"))
    b.peers.listen()
    assert told == ["early", "a has ended", "a is there", "again"]
    b.peers.part("a")
    assert told[4:] == ["a has ended"]


async def test_foul_weather_loses_nothing(autojump_clock: object, nursery: trio.Nursery) -> None:
    bus = SimulatedBus(Random(2))
    a, b = _pair(bus)
    b.peers.listen()
    for task in (bus.carry, a.peers.links.keep, b.peers.links.keep):
        nursery.start_soon(task)
    bus.weather = FOUL
    said = [f"{number}" for number in range(300)]
    for one in said:
        a.peers.say("b", "talk", one.encode())
        await trio.sleep(0.01)
    bus.weather = FAIR
    await trio.sleep(10)
    assert b.heard == said
    assert not b.lost


async def test_callers_leave_room_for_what_must_arrive(autojump_clock: object, nursery: trio.Nursery) -> None:
    bus = SimulatedBus(Random(3))
    a, b = _pair(bus)
    b.peers.listen()
    for task in (bus.carry, a.peers.links.keep, b.peers.links.keep):
        nursery.start_soon(task)
    await trio.sleep(1)
    bus.parted.add(frozenset("ab"))
    entry = Said("talk", b"x" * 100_000)
    calls = 0
    while a.peers.call("b", entry):
        calls += 1
    assert calls == CALLS_BYTES // 100_100
    assert not a.peers.call("c", entry)
    for _ in range(LINK_BYTES // 100_000):
        a.peers.tell("b", entry)
    bus.parted.clear()
    await trio.sleep(5)
    # More than a link holds was given up, and the other node knows that it cannot trust its memory.
    assert b.lost == ["a"]


def test_entries_are_read_as_they_were_written() -> None:
    entries: list[Entry] = [Owns("a", {3: 7}), Touched("inbox", ["ann"], "x"), Said("talk", b"\0")]
    assert [decode(encode(entry)) for entry in entries] == entries


async def test_what_a_later_release_adds_is_passed_over() -> None:
    """Nodes of two releases talk to each other while one after the other is renewed."""
    bus = SimulatedBus(Random(1))
    a, _ = _pair(bus)
    heard: list[Owns] = []
    a.peers.hear(Owns, lambda _, entry: heard.append(entry))
    a.peers.listen()
    later: tuple[list[object], ...] = (["owns", "b", {1: 2}, "more"], ["later", "b"], ["said", "later", b"?"])
    for entry in later:
        a.peers._take("b", msgspec.msgpack.encode(entry))
    assert heard == [Owns("b", {1: 2})]
    assert not a.lost


async def test_nobody_was_silent_while_this_process_stood_still(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    """Commands for owners elsewhere that waited as well would all be refused before a message is read."""
    bus = SimulatedBus(Random(1))
    a, b = _pair(bus)
    for task in (bus.carry, a.peers.links.keep, b.peers.links.keep):
        nursery.start_soon(task)
    await trio.sleep(1)
    assert a.peers.hears("b")
    autojump_clock.jump(BELIEVED_SECONDS + 1)
    assert a.peers.hears("b")
    assert a.peers.links.heard_within(BELIEVED_SECONDS) == {"b"}
    await trio.sleep(1)
    assert a.peers.hears("b")
    bus.parted.add(frozenset("ab"))
    await trio.sleep(1)
    autojump_clock.jump(BELIEVED_SECONDS + 1)
    assert a.peers.hears("b")
    await trio.sleep(BELIEVED_SECONDS)
    assert not a.peers.hears("b")
