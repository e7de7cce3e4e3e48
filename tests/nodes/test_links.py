"""Links over a bus that loses, repeats, delays and overtakes: what is sent arrives once and in order, or the receiver
is told that it will not."""

from random import Random

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.nodes.batch import Batch, Piece, seal, unseal
from actors.kernel.nodes.link import (
    BATCH_BYTES,
    ENTRY_BYTES,
    LINK_BYTES,
    PIECE_BYTES,
    Heard,
    Life,
    Link,
    LinkFull,
    Trouble,
)
from tests.nodes.play import KEY, Node, Stage, open_stage
from tests.support.bus import FAIR, FOUL
from tests.support.depth import depth

SEEDS = depth(10, long=200)
NAMES = ("a", "b", "c")


def entry(rng: Random, number: int) -> bytes:
    """An entry that says what it is; now and then one that does not fit into a batch."""
    size = rng.choice((0, 10, 200, 3 * PIECE_BYTES + 7)) if rng.random() < 0.1 else 20
    return f"{number} ".encode() + bytes(size)


async def talk(stage: Stage, rng: Random, said: dict[tuple[str, str], list[bytes]]) -> None:
    """Everybody says something to somebody for a while, in fair weather and in foul; some do not hear each other at all
    for some seconds."""
    for number in range(300):
        sender, receiver = rng.sample(NAMES, 2)
        body = entry(rng, number)
        stage.nodes[sender].links.send(receiver, body)
        said.setdefault((sender, receiver), []).append(body)
        if rng.random() < 0.02:
            stage.bus.weather = rng.choice((FAIR, FOUL))
        if rng.random() < 0.02:
            stage.bus.parted = {frozenset(rng.sample(NAMES, 2))} if not stage.bus.parted else set()
        await trio.sleep(rng.choice((0, 0, 0.01, 0.1)))
    stage.bus.weather, stage.bus.parted = FAIR, set()
    await trio.sleep(10)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_whatever_the_weather(autojump_clock: MockClock, seed: int) -> None:
    said: dict[tuple[str, str], list[bytes]] = {}
    async with open_stage(*NAMES, seed=seed) as stage:
        await talk(stage, Random(seed), said)
        for (sender, receiver), bodies in said.items():
            heard = stage.nodes[receiver].heard[sender]
            assert [thing for thing in heard if thing is not Trouble.GAP] == bodies
        for node in stage.nodes.values():
            assert set(node.links.waiting_bytes().values()) == {0}
            assert node.links.heard_within(1.0) == set(NAMES) - {node.life.node}


async def test_in_fair_weather_everything_comes_in_order(autojump_clock: MockClock) -> None:
    said = [entry(Random(number), number) for number in range(200)]
    async with open_stage("a", "b") as stage:
        numbers = [stage.nodes["a"].links.send("b", one) for one in said]
        assert not stage.nodes["a"].links.is_acknowledged("b", numbers[-1])
        await trio.sleep(0.1)
        assert stage.nodes["b"].heard["a"] == said
        assert stage.nodes["a"].links.is_acknowledged("b", numbers[-1])
        # What was said in one step went in as few messages as its size allows.
        size = sum(map(len, said))
        assert stage.nodes["a"].links.statistics.batches <= 2 + 2 * size // BATCH_BYTES


async def test_the_end_of_a_step_ends_what_it_begins(autojump_clock: MockClock) -> None:
    """And all of it leaves together, whatever one of the calls raises."""
    async with open_stage("a", "b") as stage:
        await trio.sleep(1)
        a, b = stage.nodes["a"], stage.nodes["b"]
        sent = a.links.statistics.batches

        def first() -> None:
            a.links.send("b", b"first")
            a.links.at_end_of_step(lambda: a.links.send("b", b"second"))
            raise ZeroDivisionError

        a.links.at_end_of_step(first)
        a.links.send("b", b"before")
        await trio.sleep(0.05)
        assert b.entries("a") == [b"before", b"first", b"second"]
        assert a.links.statistics.batches == sent + 1


async def test_a_new_life_hears_nothing_of_the_former_one(autojump_clock: MockClock) -> None:
    async with open_stage("a", "b") as stage:
        a = stage.nodes["a"]
        await trio.sleep(1)
        assert a.links.hears("b")
        stage.bus.parted = {frozenset("ab")}
        a.links.send("b", b"for the first life")
        await trio.sleep(3)
        assert not a.links.hears("b")
        stage.bus.parted = set()
        b = stage.begin("b", life=2)
        number = a.links.send("b", b"for the second")
        await trio.sleep(1)
        assert b.entries("a") == [b"for the second"]
        assert a.links.is_acknowledged("b", number)
        a.links.meet(Life("b", 1))  # an old row, read late
        assert a.links.hears("b")
        a.links.part("b")
        assert not a.links.hears("b")
        with pytest.raises(KeyError):
            a.links.send("b", b"gone")


def fill(node: Node, entry: bytes) -> int:
    """Say things to `b` until nothing more fits; returns how many."""
    count = 0
    while node.links.waiting_bytes()["b"] + len(entry) <= LINK_BYTES:
        node.links.send("b", entry)
        count += 1
    return count


ENTRIES = pytest.mark.parametrize(
    "entry", [b"", bytes(PIECE_BYTES), bytes(ENTRY_BYTES)], ids=["empty", "one piece", "large"]
)


@ENTRIES
async def test_all_that_fits_into_a_link_arrives(autojump_clock: MockClock, entry: bytes) -> None:
    async with open_stage("a", "b") as stage:
        a, b = stage.nodes["a"], stage.nodes["b"]
        a.end.is_open = False
        with pytest.raises(ValueError, match="bytes"):
            a.links.send("b", bytes(ENTRY_BYTES + 1))
        fitted = fill(a, entry)
        a.end.is_open = True
        await trio.sleep(1)
        assert b.heard["a"] == [entry] * fitted


@ENTRIES
async def test_a_full_link_gives_up_what_waits_and_says_so(autojump_clock: MockClock, entry: bytes) -> None:
    async with open_stage("a", "b") as stage:
        a, b = stage.nodes["a"], stage.nodes["b"]
        stage.bus.parted = {frozenset("ab")}
        fill(a, entry)
        with pytest.raises(LinkFull):
            a.links.send("b", entry)
        assert a.links.waiting_bytes()["b"] == 0
        a.links.send("b", b"anew")
        stage.bus.parted = set()
        await trio.sleep(3)
        assert Trouble.LOST in b.heard["a"]
        assert b.entries("a") == [b"anew"]


def test_what_a_lost_batch_said_comes_again() -> None:
    a, b = Link(Life("a", 1), Life("b", 1), 0.0), Link(Life("b", 1), Life("a", 1), 0.0)
    a.send(b"in a batch that is lost")
    a.take(0.0)
    a.send(b"in the next one")
    assert b.receive(a.take(0.0), 0.0) == [Trouble.GAP]
    a.receive(b.take(0.0), 0.0)
    assert b.receive(a.take(0.0), 0.0) == [b"in a batch that is lost", b"in the next one"]


def test_a_loss_is_told_to_a_node_that_has_all_before_it() -> None:
    """The link is full of what the receiver has, and has acknowledged in batches that do not come back."""
    a, b = Link(Life("a", 1), Life("b", 1), 0.0), Link(Life("b", 1), Life("a", 1), 0.0)
    heard: list[Heard] = []
    sent = 0
    with pytest.raises(LinkFull):
        while True:
            a.send(bytes(PIECE_BYTES))
            sent += 1
            heard += b.receive(a.take(0.0), 0.0)
    assert len(heard) == sent
    assert Trouble.LOST not in heard
    number = a.send(b"after")
    assert b.receive(a.take(0.0), 0.0) == [Trouble.LOST, b"after"]
    a.receive(b.take(0.0), 0.0)
    assert a.is_acknowledged(number)
    assert a.waiting_bytes == 0


def test_no_two_lives_use_the_same_numbers() -> None:
    first, second = Life("a", 1), Life("a", 2)
    assert next(first.numbers()) == first.first_number
    assert first.first_number + 1_000_000_000 < second.first_number
    assert Life("a", 2**31 - 1).first_number < 2**63


async def test_strangers_are_not_heard(autojump_clock: MockClock) -> None:
    async with open_stage("a", "b") as stage:
        b = stage.nodes["b"]
        stranger = stage.begin("c", key=bytes(32))
        stranger.links.send("b", b"believe me")
        batch = Batch("a", 1, 1, 1_000, 0, False, 1, 1, (Piece(b"x", False, True, True),))
        for data in (b"", b"noise", seal(bytes(32), batch), seal(KEY, batch)[:-1], seal(KEY, batch) + b"x"):
            b.links.take(data)
        await trio.sleep(1)
        assert b.links.statistics.dropped >= 6
        assert not b.entries("c")
        assert not b.entries("a")


def test_a_batch_is_what_was_sealed() -> None:
    batch = Batch("a", 1, 2, 3, 4, True, 5, 6, (Piece(b"x", True, True, False),))
    sealed = seal(KEY, batch)
    assert unseal(KEY, sealed) == batch
    for place in range(len(sealed)):
        assert unseal(KEY, sealed[:place] + bytes((sealed[place] ^ 1,)) + sealed[place + 1 :]) is None
