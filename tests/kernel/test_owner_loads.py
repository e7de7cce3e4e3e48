"""Owners that many want at once: read together, failing alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.errors import NotFound
from actors.kernel.facets import Together
from actors.kernel.joint_reads import AT_ONCE
from actors.kernel.kind import Kind
from actors.kernel.owner_loads import MOST_TOGETHER
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, Fenced, PersistenceError, RowsRejected
from tests.kernel.conftest import ROWS, Stage
from tests.kernel.ledger import Deposit, Ledger, ledger_kind


class JointRows:
    """The ledgers of `ROWS`, many at once: what each statement was asked for, and of whom it cannot be."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []
        self.rejected = self.misunderstood = ""

    async def load(self, conn: Any, ids: Sequence[str]) -> dict[str, Ledger]:
        assert len(set(ids)) == len(ids)
        self.asked.append(tuple(ids))
        if self.rejected in ids:
            raise RowsRejected
        if self.misunderstood in ids:
            raise ZeroDivisionError
        return {id: await ROWS.load(conn, id) for id in ids}  # type: ignore[misc]

    async def refresh(self, conn: Any, states: Mapping[str, Ledger]) -> dict[str, Ledger]:
        return {id: await ROWS.refresh(conn, id, state) for id, state in states.items()}


@pytest.fixture
def rows() -> JointRows:
    return JointRows()


@pytest.fixture
def kind(rows: JointRows) -> Kind[Ledger, Any]:
    return replace(ledger_kind(ROWS), together=Together(load=rows.load, refresh=rows.refresh))


async def deposit_in_all(stage: Stage, kind: Kind[Ledger, Any], ids: Sequence[str]) -> dict[str, Any]:
    """{ledger: its total afterwards, or the error}; all ask at once."""
    seen: dict[str, Any] = {}

    async def deposit(id: str) -> None:
        try:
            seen[id] = await stage.system.ask(kind, id, Deposit("ann", 1))
        except (NotFound, Fault, PersistenceError) as error:
            seen[id] = type(error)

    async with trio.open_nursery() as nursery:
        for id in ids:
            nursery.start_soon(deposit, id)
    return seen


async def made(stage: Stage, count: int) -> list[str]:
    ids = [f"n{number}" for number in range(count)]
    for id in ids:
        await ROWS.create(stage.simulation, id)
    return ids


async def test_many_are_read_together(
    autojump_clock: MockClock, stage: Stage, kind: Kind[Ledger, Any], rows: JointRows
) -> None:
    ids = await made(stage, 3 * MOST_TOGETHER)
    assert await deposit_in_all(stage, kind, ids) == dict.fromkeys(ids, 1)
    assert stage.simulation.reads.count("recover_many") == 3
    assert stage.simulation.reads.count("recover") == 0
    assert sorted(map(len, rows.asked)) == [MOST_TOGETHER] * 3


async def test_one_is_read_at_once_though_another_is_under_way(
    autojump_clock: MockClock, stage: Stage, kind: Kind[Ledger, Any], rows: JointRows
) -> None:
    ids = await made(stage, 5)
    stage.simulation.delay_seconds = (1, 1)
    async with trio.open_nursery() as nursery:
        for id in ids[:AT_ONCE]:
            nursery.start_soon(deposit_in_all, stage, kind, [id])
            await trio.sleep(0.1)
        for id in ids[AT_ONCE:]:
            nursery.start_soon(deposit_in_all, stage, kind, [id])
    assert sorted(map(len, rows.asked)) == [1, 1, 3]


async def test_states_that_were_saved_are_read_together(
    autojump_clock: MockClock, stage: Stage, kind: Kind[Ledger, Any], rows: JointRows
) -> None:
    ids = await made(stage, 4)
    await deposit_in_all(stage, kind, ids)
    await trio.sleep(120)  # they save their states, and retire
    assert stage.system.counters.passivations == 4
    rows.asked.clear()
    assert await deposit_in_all(stage, kind, ids) == dict.fromkeys(ids, 2)
    assert rows.asked == []


async def test_one_that_is_not_there_is_told_so(
    autojump_clock: MockClock, stage: Stage, kind: Kind[Ledger, Any]
) -> None:
    here, there = await made(stage, 2)
    seen = await deposit_in_all(stage, kind, [here, "nowhere", there])
    assert seen == {here: 1, "nowhere": NotFound, there: 1}
    assert "recover" not in stage.simulation.reads


@pytest.mark.parametrize("why", ["rejected", "misunderstood"])
async def test_where_one_is_at_fault_each_is_read_alone(
    autojump_clock: MockClock, stage: Stage, kind: Kind[Ledger, Any], rows: JointRows, why: str
) -> None:
    ids = await made(stage, 3)
    setattr(rows, why, ids[1])
    assert await deposit_in_all(stage, kind, ids) == dict.fromkeys(ids, 1)
    assert stage.simulation.reads.count("recover") == 3


async def test_without_a_database_all_are_told(
    autojump_clock: MockClock, stage: Stage, kind: Kind[Ledger, Any]
) -> None:
    ids = await made(stage, 3)
    stage.simulation.away = True
    assert await deposit_in_all(stage, kind, ids) == dict.fromkeys(ids, DatabaseUnavailable)
    assert "recover" not in stage.simulation.reads


async def test_one_whose_shard_was_elsewhere_meanwhile_is_not_taken_from_the_batch(
    autojump_clock: MockClock, stage: Stage, kind: Kind[Ledger, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await made(stage, 3)
    placement = stage.system._runtime.placement
    moved = placement.shard_of(kind.name, ids[0])
    assert all(placement.shard_of(kind.name, id) != moved for id in ids[1:])
    fences = iter(range(1_000))
    fence = placement.fence
    monkeypatch.setattr(
        type(placement), "fence", lambda self, shard: next(fences) if shard == moved else fence(shard)
    )
    seen = await deposit_in_all(stage, kind, ids)
    assert seen[ids[0]] is Fenced
    assert (seen[ids[1]], seen[ids[2]]) == (1, 1)
