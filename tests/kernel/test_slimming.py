"""All that is watched holds no more of what rows hold as well than a bound, whoever was quiet for longest."""

from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random

import pytest
import trio
from msgspec.msgpack import Decoder
from msgspec.structs import replace as replace_fields
from trio.testing import MockClock

from actors.kernel.actor import Actor
from actors.kernel.counters import Counters
from actors.kernel.facets import Slimming
from actors.kernel.fanout import Channel
from actors.kernel.live_views import LiveView
from actors.kernel.nodes.copy import Copy
from actors.kernel.nodes.entries import Turned, encode
from actors.kernel.opening import open_system
from actors.kernel.overview import load_of
from actors.kernel.placement import open_local_placement
from actors.kernel.recovery import Recovered
from actors.kernel.slimming import LOOK_SECONDS, keep_slim
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, ROWS, Changed, Deposit, Ledger
from tests.support.simulation import SimulatedClock, Simulation
from tests.support.sinks import JsonEnvelope, Socket

LARGE = "x" * 20_000
BOUND = 250_000
IDS = tuple(f"l{number}" for number in range(6))


def spare_bytes(state: Ledger) -> int:
    return sum(len(entry.by) for entry in state.recent)


def slim(state: Ledger) -> Ledger:
    return replace_fields(state, recent=())


SLIM_KIND = replace(
    KIND, slimming=Slimming(spare_bytes=spare_bytes, changed_ms=lambda state: state.total, slim=slim)
)
"""A ledger that changes later the more it has."""


@pytest.fixture
async def bounded(simulation: Simulation) -> AsyncIterator[Stage]:
    clock = SimulatedClock()
    for id in IDS:
        await ROWS.create(simulation, id)
    async with (
        open_local_placement(simulation, node="n1", nodes=simulation) as placement,
        open_system(
            simulation,
            clock,
            kinds=[SLIM_KIND],
            placement=placement,
            rng=Random(7),
            journal=simulation,
            spare_bytes=BOUND,
        ) as system,
    ):
        yield Stage(simulation, clock, placement, system, JsonEnvelope())


async def test_those_that_were_quiet_for_longest_hold_less(autojump_clock: MockClock, bounded: Stage) -> None:
    watchers = {id: Socket() for id in IDS}
    for number, (id, watcher) in enumerate(watchers.items()):
        await bounded.watch(watcher, shown=SLIM_KIND, id=id, mode="delta")
        await bounded.system.ask(SLIM_KIND, id, Deposit("ann", number))
        await bounded.system.ask(SLIM_KIND, id, Deposit(LARGE, 0))
    # 20 KB of state and as much of events each: 240 KB are within the bound.
    await trio.sleep(2 * LOOK_SECONDS)
    assert bounded.system.counters.slimmed == 0
    for id in IDS[1:]:
        await bounded.system.ask(SLIM_KIND, id, Deposit(LARGE, 0))
    told = {id: len(watcher.frames) for id, watcher in watchers.items()}
    await trio.sleep(2 * LOOK_SECONDS)
    held = {id: len(bounded.system.peek(SLIM_KIND, id).recent) for id in IDS}
    assert bounded.system.counters.slimmed == 4
    assert held == {"l0": 0, "l1": 0, "l2": 0, "l3": 0, "l4": 3, "l5": 3}
    assert load_of(bounded.system).replay_bytes < BOUND // 2
    assert {id: len(watcher.frames) for id, watcher in watchers.items()} == told


async def test_who_comes_back_misses_nothing_that_was_given_up(
    autojump_clock: MockClock, bounded: Stage
) -> None:
    first = Socket()
    await bounded.watch(first, shown=SLIM_KIND, id="l0", mode="delta")
    for _ in range(12):
        await bounded.system.ask(SLIM_KIND, "l0", Deposit(LARGE, 1))
    before = load_of(bounded.system).replay_bytes
    await trio.sleep(2 * LOOK_SECONDS)
    assert (bounded.system.counters.slimmed, load_of(bounded.system).replay_bytes) == (1, 0)
    assert before > 200_000
    back = Socket()
    await bounded.watch(back, shown=SLIM_KIND, id="l0", mode="delta", since=("e-l0", 2))
    assert back.offsets == list(range(3, 13))
    # It goes on as before, with what happens next.
    await bounded.system.ask(SLIM_KIND, "l0", Deposit("bob", 1))
    assert (first.offsets[-1], back.offsets[-1]) == (13, 13)
    assert [entry.by for entry in bounded.system.peek(SLIM_KIND, "l0").recent] == ["bob"]
    assert bounded.system.peek(SLIM_KIND, "l0").total == 13


class CopiesAlone:
    """A system of nothing but copies."""

    def __init__(self) -> None:
        self.counters = Counters()
        self.copies: list[Copy] = []

    def start(self, *_task: object) -> None:
        """Starts nothing."""

    def actors(self) -> list[Actor]:
        return []

    def watched_copies(self) -> list[Copy]:
        return self.copies

    def live_views(self) -> list[LiveView]:
        return []


async def test_copies_of_owners_elsewhere_hold_less_too(autojump_clock: MockClock) -> None:
    """And follow their owners as before."""
    system = CopiesAlone()
    decode = Decoder(SLIM_KIND.events).decode
    copy = Copy(SLIM_KIND, "x", 7, lambda copy: Channel(SLIM_KIND, "x", system, copy), decode)
    copy.renew(Recovered(Ledger(), 3, 5, "e", None, 0, 0, from_rows=False), None, 0)
    assert copy.catch_up()
    system.copies.append(copy)
    for version in (6, 7):
        assert copy.take(Turned(KIND.name, "x", "e", version, True, [encode(Changed(LARGE, 1))]))
    with trio.move_on_after(2 * LOOK_SECONDS):
        await keep_slim(system, 50_000)
    state: Ledger = copy.channel.state
    assert (system.counters.slimmed, state.recent, state.total) == (1, (), 2)
    assert copy.channel.replay_bytes == 0
    assert copy.take(Turned(KIND.name, "x", "e", 8, True, [encode(Changed("bob", 1))]))
    assert (copy.channel.offset, copy.channel.state.total, len(copy.channel.state.recent)) == (6, 3, 1)
