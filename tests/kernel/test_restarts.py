"""Owners that fail, or whose database does: subscribers and letters stay, faults pause and park one owner only."""

from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.errors import Overloaded
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, OutcomeUnknown
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.ledger import KIND, ROWS, Deposit, Rename, Wave, ledger_kind
from tests.support.simulation import Simulation
from tests.support.sinks import Socket


class Failing:
    """Rows whose load raises as long as it is told to."""

    def __init__(self) -> None:
        self.failing = True
        self.loads = 0

    def __getattr__(self, name: str) -> object:
        return getattr(ROWS, name)

    async def load(self, conn: object, id: str) -> object:
        self.loads += 1
        if self.failing:
            raise ZeroDivisionError
        return await ROWS.load(conn, id)


async def test_subscribers_stay_through_a_restart(autojump_clock: MockClock, stage: Stage) -> None:
    snapshots, deltas, slow = Socket(), Socket(), Socket(room=1)
    await stage.watch(snapshots)
    await stage.watch(deltas, mode="delta")
    await stage.watch(slow)
    stage.simulation.script.append("unknown_landed")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Deposit("ann", 3))
    await trio.sleep(2)
    # Nobody asked: the subscribers are reason enough to load again.
    for socket in (snapshots, deltas):
        assert [(f["type"], f["offset"]) for f in socket.frames] == [("snapshot", 0), ("snapshot", 1)]
        assert socket.frames[1]["data"]["total"] == 3
    slow.make_room(None)
    assert [f["offset"] for f in slow.frames] == [0, 1]
    await stage.ask(Deposit("ann", 1))
    assert deltas.offsets == [2]
    assert stage.system.statistics()[0].restarts == 1
    assert stage.system.statistics()[0].last_error == "OutcomeUnknown"


async def test_nothing_is_sent_when_the_offset_stayed(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await stage.watch(socket)
    stage.simulation.script.append("unknown_lost")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Deposit("ann", 3))
    await trio.sleep(2)
    assert len(socket.frames) == 1


@pytest.mark.parametrize("mode", ["snapshot", "delta"])
async def test_what_rows_were_told_to_have_during_a_restart_is_shown(
    autojump_clock: MockClock, stage: Stage, mode: str
) -> None:
    socket = Socket()
    await stage.watch(socket, mode=mode)
    stage.simulation.script.append("unknown_lost")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Deposit("ann", 3))
    await wait_all_tasks_blocked()
    ROWS.rename(stage.simulation, "a", "till")
    assert stage.system.tell(KIND, "a", Rename("till"))
    await trio.sleep(2)
    assert [(f["type"], f["offset"], f["data"]["name"]) for f in socket.frames] == [
        ("snapshot", 0, ""),
        ("snapshot", 0, "till"),
    ]


async def test_a_lagging_subscriber_catches_up_after_the_restart(
    autojump_clock: MockClock, stage: Stage
) -> None:
    socket = Socket(room=1)
    await stage.watch(socket)
    await stage.ask(Deposit("ann", 1))
    stage.simulation.script.append("unknown_lost")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Deposit("ann", 3))
    await wait_all_tasks_blocked()
    assert stage.system.peek(KIND, "a") is None
    socket.make_room(None)
    assert len(socket.frames) == 1
    await trio.sleep(2)
    assert [f["offset"] for f in socket.frames] == [0, 1]


async def test_the_database_away_and_back(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.away = True
    for id in ("a", "b"):
        with pytest.raises(DatabaseUnavailable):
            await stage.ask(Deposit("ann", 1), id=id)
    assert [row.id for row in stage.system.statistics()] == ["a"]
    stage.simulation.away = False
    assert await stage.ask(Deposit("ann", 1)) == 2
    assert await stage.ask(Deposit("ann", 1), id="b") == 1


async def test_faults_pause_and_park_one_owner_only(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    rows = Failing()
    broken: Kind = ledger_kind(rows)  # type: ignore[arg-type]
    async with open_stage(simulation) as stage:

        async def ask() -> object:
            try:
                return await stage.system.ask(broken, "a", Deposit("ann", 1))
            except Exception as error:
                return error

        await stage.ask(Deposit("ann", 1), id="b")
        for _ in range(5):
            assert isinstance(await ask(), Fault)
        assert rows.loads == 5
        assert isinstance(await ask(), Overloaded)
        with pytest.raises(Overloaded):
            await stage.watch(Socket(), shown=broken)
        assert rows.loads == 5
        assert await stage.ask(Deposit("ann", 1), id="b") == 2
        row = next(row for row in stage.system.statistics() if row.id == "a")
        assert (row.restarts, row.last_error) == (5, "ZeroDivisionError")
        await trio.sleep(31)
        for _ in range(5):
            await ask()
        await trio.sleep(31)
        assert isinstance(await ask(), Overloaded)
        await trio.sleep(31)
        rows.failing = False
        assert await ask() == 1


async def test_a_forgiven_owner_leaves_the_directory(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    rows = Failing()
    async with open_stage(simulation) as stage:
        with pytest.raises(Fault):
            await stage.system.ask(ledger_kind(rows), "a", Wave("ann"))  # type: ignore[arg-type]
        assert len(stage.system.statistics()) == 1
        await trio.sleep(590)
        assert len(stage.system.statistics()) == 1
        await trio.sleep(20)
        assert stage.system.statistics() == []


async def test_letters_wait_out_a_fault(autojump_clock: MockClock, stage: Stage) -> None:
    explosions = [1]

    def due(state: object) -> None:
        if explosions and stage.system.peek(KIND, "a") is not None:
            explosions.pop()
            raise ZeroDivisionError

    broken = replace(KIND, deadlines=replace(KIND.deadlines, due=due))
    told: list[Answer] = []
    stage.system.post(broken, "a", Deposit("ann", 1), told.append)
    await wait_all_tasks_blocked()
    await trio.sleep(0.01)
    stage.system.post(broken, "a", Deposit("ann", 2), told.append)
    await trio.sleep(2)
    assert isinstance(told[0].error, Fault)
    assert told[1].reply == 2
