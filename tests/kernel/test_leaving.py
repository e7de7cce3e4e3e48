"""How a system ends: turns are finished, snapshots kept, callers answered, and owners leave."""

from random import Random

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.errors import Draining
from actors.kernel.mailbox import Answer
from actors.kernel.opening import open_system
from actors.kernel.placement import LocalPlacement
from persistence.errors import OutcomeUnknown
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.ledger import KIND, Deposit
from tests.support.simulation import SimulatedClock, Simulation
from tests.support.sinks import Socket


async def test_drain_finishes_turns_and_keeps_snapshots(autojump_clock: MockClock, stage: Stage) -> None:
    told: list[Answer] = []
    await stage.watch(Socket())
    for _ in range(100):
        stage.system.post(KIND, "a", Deposit("ann", 1), told.append)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.system.drain)
        await wait_all_tasks_blocked()
        with pytest.raises(Draining):
            await stage.ask(Deposit("ann", 1))
        with pytest.raises(Draining):
            await stage.watch(Socket())
    assert [answer.reply for answer in told] == list(range(1, 101))
    assert stage.simulation.snapshots["ledger", "a"][0].seq == 100
    assert stage.system.statistics() == []


async def test_drain_ends_in_time_whatever_happens(autojump_clock: MockClock, simulation: Simulation) -> None:
    told: list[Answer] = []
    async with open_stage(simulation) as stage:
        await stage.ask(Deposit("ann", 1))
        simulation.delay_seconds = (1000, 1000)
        stage.system.post(KIND, "a", Deposit("ann", 1), told.append)
        await wait_all_tasks_blocked()
        started = trio.current_time()
    assert trio.current_time() - started < 20
    assert isinstance(told[0].error, OutcomeUnknown)


async def test_the_system_drains_when_its_block_ends(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    async with open_stage(simulation) as stage:
        await stage.ask(Deposit("ann", 1))
    assert simulation.snapshots["ledger", "a"][0].seq == 1
    assert simulation.nodes == {}


async def test_owners_leave_at_once_when_the_block_is_cancelled(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    """As where a node has been declared dead: what owners need to leave is not cancelled with it."""
    with trio.CancelScope() as cut:
        async with open_stage(simulation) as stage:
            await stage.ask(Deposit("ann", 1))
            cut.cancel()
            await trio.sleep_forever()
    assert stage.system.statistics() == []
    assert simulation.snapshots["ledger", "a"][0].seq == 1
    assert trio.current_time() < 1


async def test_a_system_that_is_cancelled_before_it_is_open_ends(simulation: Simulation) -> None:
    with trio.CancelScope() as cut:
        cut.cancel()
        async with open_system(
            simulation,
            SimulatedClock(),
            kinds=[KIND],
            placement=LocalPlacement(simulation, simulation, "n1"),
            rng=Random(7),
            journal=simulation,
        ):
            await trio.sleep_forever()
    assert cut.cancelled_caught
