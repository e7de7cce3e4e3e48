"""Deadlines of owners: they ring in memory, wake who is not there, and are set right in heads that name others."""

import msgspec
import pytest
import trio
from trio.testing import MockClock

from persistence.errors import DatabaseUnavailable
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, ROWS, SetAlarm, Wave
from tests.support.sinks import Socket


async def test_a_sleeper_wakes_for_its_deadline(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(SetAlarm(stage.clock.now_ms() + 200_000))
    await trio.sleep(100)
    assert stage.system.peek(KIND, "a") is None
    await trio.sleep(102)
    assert stage.simulation.rows["ledger", "a"].rang == 1
    await trio.sleep(100)
    assert stage.system.counters.activations == 2


async def test_at_most_fifty_sleepers_a_second(autojump_clock: MockClock, stage: Stage) -> None:
    now_ms = stage.clock.now_ms()
    for n in range(120):
        id = f"n{n}"
        await ROWS.create(stage.simulation, id)
        stage.simulation.heads["ledger", id].due_at_ms = now_ms - n
        stage.simulation.rows["ledger", id] = msgspec.structs.replace(
            stage.simulation.rows["ledger", id], alarm_ms=now_ms - n
        )
    await trio.sleep(1.5)
    assert stage.system.counters.activations == 50
    await trio.sleep(2)
    assert stage.system.counters.activations == 120


async def test_a_head_that_names_a_stale_deadline_is_set_right(
    autojump_clock: MockClock, stage: Stage
) -> None:
    stage.simulation.heads["ledger", "a"].due_at_ms = 5
    stage.simulation.away = True
    await trio.sleep(5)
    stage.simulation.away = False
    await trio.sleep(3)
    assert stage.simulation.heads["ledger", "a"].due_at_ms is None
    await trio.sleep(100)
    assert stage.system.counters.activations == 1


async def test_a_live_owners_stale_head_is_written_at_the_next_sweep(
    autojump_clock: MockClock, stage: Stage
) -> None:
    stage.simulation.heads["ledger", "a"].due_at_ms = 5
    stage.simulation.script.append("fails")
    with pytest.raises(DatabaseUnavailable):
        await stage.ask(Wave("ann"))
    assert stage.simulation.heads["ledger", "a"].due_at_ms == 5
    await trio.sleep(2)
    assert stage.simulation.heads["ledger", "a"].due_at_ms is None


async def test_a_deadline_rings(autojump_clock: MockClock, stage: Stage) -> None:
    at_ms = stage.clock.now_ms() + 30_000
    await stage.ask(SetAlarm(at_ms))
    await stage.ask(SetAlarm(at_ms - 10_000))
    await trio.sleep(19.5)
    assert stage.system.peek(KIND, "a").rang == 0
    await trio.sleep(1)
    assert stage.system.peek(KIND, "a").rang == 1
    assert stage.simulation.heads["ledger", "a"].due_at_ms is None
    await trio.sleep(30)
    assert stage.system.peek(KIND, "a").rang == 1


async def test_a_far_deadline_rings_while_somebody_watches(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.watch(Socket())
    await stage.ask(SetAlarm(stage.clock.now_ms() + 200_000))
    await trio.sleep(199.5)
    assert stage.system.peek(KIND, "a").rang == 0
    await trio.sleep(1)
    assert stage.system.peek(KIND, "a").rang == 1


async def test_a_deadline_is_tried_again_when_its_turn_failed(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.ask(SetAlarm(stage.clock.now_ms() + 5_000))
    stage.simulation.away = True
    await trio.sleep(12)
    assert stage.system.peek(KIND, "a").rang == 0
    stage.simulation.away = False
    await trio.sleep(1.5)
    assert stage.system.peek(KIND, "a").rang == 1
