"""Owners whose shards another node has taken, or had."""

import pytest
import trio
from trio.testing import MockClock

from persistence.errors import DatabaseUnavailable, Fenced
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.ledger import KIND, Deposit
from tests.support.simulation import Simulation
from tests.support.sinks import Socket


async def test_lost_shards_stop_their_owners(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 1))
    await stage.simulation.take_over("thief")
    with pytest.raises(Fenced):
        await stage.ask(Deposit("ann", 1))
    await trio.sleep(6)
    assert not stage.placement.held()
    assert not stage.placement.does("some job")
    assert stage.system.peek(KIND, "a") is None
    with pytest.raises(Fenced):
        await stage.ask(Deposit("ann", 1))
    assert stage.simulation.rows["ledger", "a"].total == 1


async def test_lost_shards_are_noticed_without_a_write(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await stage.watch(socket)
    await stage.simulation.take_over("thief")
    await trio.sleep(6)
    assert stage.system.peek(KIND, "a") is None


async def test_shards_come_back_when_the_other_node_leaves(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.simulation.take_over("thief")
    await trio.sleep(6)
    await stage.simulation.leave(None, "thief", stage.simulation.nodes["thief"])
    await trio.sleep(6)
    assert await stage.ask(Deposit("ann", 1)) == 1


@pytest.mark.parametrize(("ahead_ms", "waits"), [(0, True), (5_000, True), (60_000, False)])
async def test_time_does_not_go_back_where_an_owner_moves(
    autojump_clock: MockClock, stage: Stage, ahead_ms: int, waits: bool
) -> None:
    now_ms = stage.clock.now_ms()
    stage.simulation.heads["ledger", "a"].updated_at_ms = now_ms + ahead_ms
    for _ in range(2):
        await stage.ask(Deposit("ann", 1))
    times_ms = [row.at_ms - now_ms for row in stage.simulation.events["ledger", "a"]]
    assert times_ms == sorted(times_ms)
    assert (times_ms[0] >= ahead_ms) is waits
    assert times_ms[1] < 10_000


async def test_a_second_process_is_refused(autojump_clock: MockClock, simulation: Simulation) -> None:
    async with open_stage(simulation):
        await simulation.take_over("thief")
        with pytest.raises(DatabaseUnavailable):
            async with open_stage(simulation):
                raise AssertionError("opened")
