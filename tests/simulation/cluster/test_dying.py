"""How soon the others see that a node is dead, or has yielded, in virtual time."""

from collections.abc import Callable

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.nodes.membership import (
    HEARD_SECONDS,
    RENEW_SECONDS,
    WATCH_SECONDS,
    YIELD_ROUNDS,
)
from actors.kernel.nodes.renewals import ROW_SECONDS
from tests.simulation.cluster.plants import NONE
from tests.simulation.cluster.world import World
from tests.support.scheduling import in_order

STORE_SECONDS = 0.2
"""For the transactions of the simulated database."""

LATE_SECONDS = 0.5

SEEDS = 3


def _freeze(world: World) -> None:
    world.nodes["b"].freeze()


def _have_renewals_of_the_others_fail(world: World) -> None:
    for other in ("a", "c"):
        world.nodes[other].store.away_until = trio.current_time() + 1.2 * RENEW_SECONDS


def _freeze_while_renewals_fail(world: World) -> None:
    _freeze(world)
    _have_renewals_of_the_others_fail(world)


def _cut_from_database_while_renewals_fail(world: World) -> None:
    world.nodes["b"].store.away_until = trio.current_time() + 60
    _have_renewals_of_the_others_fail(world)


def _cut_from_bus(world: World) -> None:
    world.bus.parted |= {frozenset("ab"), frozenset("cb")}


async def _three(seed: int, nursery: trio.Nursery) -> World:
    """Three nodes with even shares, at a moment that lies anywhere between two renewals."""
    world = World(seed, NONE, nursery)
    nursery.start_soon(world.bus.carry)
    for name in ("a", "b", "c"):
        world.want(name)
        await trio.sleep(1.3)  # so that they do not renew at the same moment
    with trio.fail_after(60):
        for node in world.nodes.values():
            await node.ready.wait()
    await trio.sleep(10 + seed / SEEDS)
    return world


async def _seconds_until_taken(seed: int, done: Callable[[World], None]) -> float:
    async with trio.open_nursery() as nursery:
        world = await _three(seed, nursery)
        since = trio.current_time()
        done(world)
        survivor = world.nodes["a"].membership.where
        with trio.fail_after(60):
            while survivor.counts().get("b"):
                await survivor.wait_changed()
        seconds = trio.current_time() - since
        nursery.cancel_scope.cancel()
    return seconds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("done", "most_seconds"),
    [
        # Its row has to run out.
        (_freeze, ROW_SECONDS),
        # Nor does anybody wait for a renewal of whom the bus does not hear either.
        (_freeze_while_renewals_fail, ROW_SECONDS),
        # A renewal of theirs that fails costs nobody a row, so they do not wait for whom the bus still hears.
        (_cut_from_database_while_renewals_fail, ROW_SECONDS),
        # It is not heard any more, looks at what the others say, and does so again until it is sure.
        (_cut_from_bus, HEARD_SECONDS + YIELD_ROUNDS * RENEW_SECONDS),
    ],
)
def test_what_a_node_owned_is_taken_as_soon_as_it_is_gone(
    done: Callable[[World], None], most_seconds: float
) -> None:
    for seed in range(SEEDS):
        with in_order(seed):
            seconds = trio.run(_seconds_until_taken, seed, done, clock=MockClock(autojump_threshold=0))
        assert seconds < most_seconds + WATCH_SECONDS + STORE_SECONDS, seed


def _have_the_database_stand_still(world: World) -> None:
    """The renewals of all hang, and land in the end, one of them a little later: its row has run out by then."""
    now = trio.current_time()
    for name, node in world.nodes.items():
        node.store.still_until = now + ROW_SECONDS + (LATE_SECONDS if name == "b" else 0)


def _have_all_machines_sleep(world: World) -> None:
    world.slept_seconds += 3600


def _set_the_clock_of_the_database(world: World) -> None:
    world.set_seconds += 3600


def _have_another_begin_while_the_database_stands_still(world: World) -> None:
    """Its first transaction is the first to land, and finds that the rows of all others have run out."""
    _have_the_database_stand_still(world)
    for node in world.nodes.values():
        node.store.still_until += 2 * LATE_SECONDS

    async def begin() -> None:
        await trio.sleep(ROW_SECONDS + STORE_SECONDS)
        world.want("d")

    world.nursery.start_soon(begin)


async def _who_dies(seed: int, done: Callable[[World], None]) -> set[str]:
    async with trio.open_nursery() as nursery:
        world = await _three(seed, nursery)
        lives = {name: node.membership.life for name, node in world.nodes.items()}
        done(world)
        await trio.sleep(3 * ROW_SECONDS)
        died = {name for name, life in lives.items() if world.nodes[name].membership.life != life}
        nursery.cancel_scope.cancel()
    return died


@pytest.mark.slow
@pytest.mark.parametrize(
    "done",
    [
        _have_the_database_stand_still,
        _have_another_begin_while_the_database_stands_still,
        _have_all_machines_sleep,
        _set_the_clock_of_the_database,
    ],
)
def test_what_lets_all_rows_run_out_at_once_costs_nobody_its_life(done: Callable[[World], None]) -> None:
    for seed in range(SEEDS):
        with in_order(seed):
            died = trio.run(_who_dies, seed, done, clock=MockClock(autojump_threshold=0))
        assert died == set(), seed
