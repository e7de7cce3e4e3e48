"""Activations of owners: their beginning, recovery, faults, parking, passivation, deadlines, lost shards."""

from dataclasses import replace

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.errors import Overloaded
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, Fenced, OutcomeUnknown
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.ledger import KIND, ROWS, Deposit, Promote, Read, Rename, SetAlarm, Wave, ledger_kind
from tests.support.simulation import Simulation, Snapshot
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
