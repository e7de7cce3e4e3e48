"""Activations of owners: how they begin, from which snapshot, and when they end because nobody needs them."""

from dataclasses import replace

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.kernel.conftest import Stage, open_stage
from tests.kernel.ledger import KIND, ROWS, Deposit, Promote, Read, Wave
from tests.support.simulation import Simulation, Snapshot
from tests.support.sinks import Socket


async def test_activation_is_single_flight(autojump_clock: MockClock, stage: Stage) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(stage.ask, Deposit("ann", 1))
            nursery.start_soon(stage.watch, Socket())
    assert stage.simulation.reads.count("recover") == 1
    assert stage.system.counters.activations == 1


async def test_at_most_fifty_load_at_once(autojump_clock: MockClock, stage: Stage) -> None:
    for n in range(120):
        await ROWS.create(stage.simulation, f"n{n}")
    stage.simulation.delay_seconds = (1, 1)
    for n in range(120):
        stage.system.post(KIND, f"n{n}", Wave("ann"), lambda answer: None)
    await wait_all_tasks_blocked()
    assert stage.simulation.reads.count("recover") == 50
    await trio.sleep(3.5)
    assert stage.system.counters.activations == 120


async def test_idle_owners_retire_and_come_back(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 7))
    await stage.ask(Read("ann"))
    before = stage.system.peek(KIND, "a")
    await trio.sleep(59)
    assert stage.system.peek(KIND, "a") is before
    await trio.sleep(7)
    assert stage.system.peek(KIND, "a") is None
    assert [s.seq for s in stage.simulation.snapshots["ledger", "a"]] == [1]
    await stage.ask(Wave("ann"))
    assert stage.system.peek(KIND, "a") == before
    # Nothing changed since: no second snapshot.
    await trio.sleep(70)
    assert len(stage.simulation.snapshots["ledger", "a"]) == 1


async def test_who_is_watched_does_not_retire(autojump_clock: MockClock, stage: Stage) -> None:
    subscription = await stage.watch(Socket())
    await trio.sleep(300)
    assert len(stage.system.statistics()) == 1
    subscription.close()
    await trio.sleep(30)
    assert len(stage.system.statistics()) == 1
    await trio.sleep(40)
    assert stage.system.statistics() == []


async def test_a_snapshot_every_256_turns(autojump_clock: MockClock, stage: Stage) -> None:
    for _ in range(600):
        await stage.ask(Deposit("ann", 1))
    assert [s.seq for s in stage.simulation.snapshots["ledger", "a"]] == [511, 255]


@pytest.mark.parametrize("damage", ["version", "bytes", "gap", "ahead", "none"])
async def test_an_unusable_snapshot_costs_nothing_but_time(
    autojump_clock: MockClock, simulation: Simulation, damage: str
) -> None:
    key = ("ledger", "a")
    async with open_stage(simulation) as stage:
        for amount in range(1, 8):
            await stage.ask(Deposit("ann", amount))
        before = stage.system.peek(KIND, "a")
    newest = simulation.snapshots[key][0]
    match damage:
        case "version":
            simulation.snapshots[key] = [replace(newest, version=9)]
        case "bytes":
            simulation.snapshots[key] = [replace(newest, state=newest.state[:-1])]
        case "gap":
            simulation.snapshots[key] = [Snapshot(2, 1, newest.state)]
            del simulation.events[key][4]
        case "ahead":
            simulation.snapshots[key] = [replace(newest, seq=99)]
    async with open_stage(simulation) as stage:
        await stage.ask(Wave("ann"))
        assert stage.system.peek(KIND, "a") == before


async def test_events_above_the_snapshot_are_applied(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    async with open_stage(simulation) as stage:
        await stage.ask(Deposit("ann", 1))
    async with open_stage(simulation) as stage:
        await stage.ask(Deposit("ann", 2))
        await stage.ask(Promote("bob"))
        await stage.ask(Read("bob"))
        before = stage.system.peek(KIND, "a")
    del simulation.snapshots["ledger", "a"][0]
    # Were the rows loaded, the total would be another.
    simulation.rows["ledger", "a"] = msgspec.structs.replace(simulation.rows["ledger", "a"], total=0)
    async with open_stage(simulation) as stage:
        await stage.ask(Wave("ann"))
        assert stage.system.peek(KIND, "a") == before
