"""What subscribers receive who say where they were: the events that they missed, or a snapshot."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.replay_buffer import BUFFER_EVENTS
from persistence.errors import OutcomeUnknown
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, ROWS, Deposit, Read, Rename, Wave
from tests.support.sinks import Socket

EPOCH = "e-a"


async def resumed(stage: Stage, offset: int, mode: str = "delta") -> Socket:
    """A client that has come back which was at this offset."""
    socket = Socket()
    await stage.watch(socket, mode=mode, since=(EPOCH, offset))
    return socket


async def test_missed_events_are_replayed_from_memory(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.watch(Socket())
    for _ in range(5):
        await stage.ask(Deposit("ann", 1))
    reads = len(stage.simulation.reads)
    socket = Socket()
    await stage.watch(socket, mode="delta", since=(EPOCH, 2))
    assert socket.opened == [(EPOCH, 5, True)]
    assert socket.offsets == [3, 4, 5]
    assert len(socket.sends) == 1
    assert len(stage.simulation.reads) == reads


async def test_older_events_are_replayed_from_the_journal(autojump_clock: MockClock, stage: Stage) -> None:
    for _ in range(BUFFER_EVENTS + 20):
        await stage.ask(Deposit("ann", 1))
    socket = Socket()
    await stage.watch(socket, mode="delta", since=(EPOCH, 3))
    await stage.ask(Deposit("ann", 1))
    assert socket.opened == [(EPOCH, BUFFER_EVENTS + 20, True)]
    assert socket.offsets == list(range(4, BUFFER_EVENTS + 22))


async def test_turns_during_the_journals_answer_are_not_missed(
    autojump_clock: MockClock, stage: Stage
) -> None:
    for _ in range(20):
        await stage.ask(Deposit("ann", 1))
    socket = Socket()
    stage.simulation.delay_seconds = (0.01, 0.08)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(stage.watch, socket, mode="delta", since=(EPOCH, 3)))
        for _ in range(20):
            await stage.ask(Deposit("ann", 1))
    assert socket.offsets == list(range(4, 41))


@pytest.mark.parametrize("since", [("other", 2), (EPOCH, 99), None])
async def test_what_cannot_be_replayed_is_a_snapshot(
    autojump_clock: MockClock, stage: Stage, since: tuple[str, int] | None
) -> None:
    for _ in range(3):
        await stage.ask(Deposit("ann", 1))
    socket = Socket()
    await stage.watch(socket, mode="delta", since=since)
    assert socket.opened == [(EPOCH, 3, False)]
    assert [(f["type"], f["offset"]) for f in socket.frames] == [("snapshot", 3)]


async def test_pruned_events_are_a_snapshot(autojump_clock: MockClock, stage: Stage) -> None:
    for _ in range(9):
        await stage.ask(Deposit("ann", 1))
    del stage.simulation.events["ledger", "a"][:5]
    socket = Socket()
    await stage.watch(socket, mode="delta", since=(EPOCH, 2))
    assert socket.opened == [(EPOCH, 9, False)]


@pytest.mark.parametrize("mode", ["snapshot", "delta"])
async def test_whoever_is_current_gets_nothing(autojump_clock: MockClock, stage: Stage, mode: str) -> None:
    await stage.ask(Deposit("ann", 1))
    socket = Socket()
    await stage.watch(socket, mode=mode, since=(EPOCH, 1))
    assert socket.opened == [(EPOCH, 1, True)]
    assert socket.frames == []


@pytest.mark.parametrize("mode", ["snapshot", "delta"])
async def test_what_has_no_offset_and_is_in_the_snapshot_is_a_snapshot(
    autojump_clock: MockClock, stage: Stage, mode: str
) -> None:
    await stage.watch(Socket())
    await stage.ask(Deposit("ann", 1))
    await stage.ask(Deposit("ann", 1))
    await stage.ask(Rename("till"))
    reads = len(stage.simulation.reads)
    for offset in (1, 2):
        socket = await resumed(stage, offset, mode)
        assert socket.opened == [(EPOCH, 2, False)]
        assert [frame["data"]["name"] for frame in socket.frames] == ["till"]
    assert len(stage.simulation.reads) == reads
    # Whoever was there after the next event has seen it; so is what comes after that one replayed.
    await stage.ask(Deposit("ann", 1))
    assert (await resumed(stage, 3, mode)).opened == [(EPOCH, 3, True)]
    assert not (await resumed(stage, 2, mode)).opened[0][2]
    await stage.ask(Deposit("ann", 1))
    assert (await resumed(stage, 3)).offsets == [4]


async def test_what_has_no_offset_and_is_in_no_snapshot_is_left_out(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.watch(Socket())
    await stage.ask_all(Wave("ann"), Deposit("ann", 1), Read("ann"))
    for offset in (0, 1):
        socket = await resumed(stage, offset)
        assert socket.opened == [(EPOCH, 1, True)]
        assert socket.offsets == [1][offset:]


async def test_a_name_within_a_turn_belongs_before_the_events_behind_it(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.watch(Socket())
    await stage.ask_all(Deposit("ann", 1), Rename("till"), Deposit("ann", 1))
    assert [(await resumed(stage, offset)).opened[0][2] for offset in range(3)] == [False, False, True]


async def test_what_rows_were_given_during_a_restart_is_a_snapshot(
    autojump_clock: MockClock, stage: Stage
) -> None:
    """Also where nobody has watched meanwhile; a restart alone is none."""
    (await stage.watch(Socket())).close()
    for name in ("", "till"):
        stage.simulation.script.append("unknown_lost")
        assert isinstance((await stage.ask_all(Deposit("ann", 1)))[0], OutcomeUnknown)
        if name:
            ROWS.rename(stage.simulation, "a", name)
            stage.system.tell(KIND, "a", Rename(name))
        await trio.sleep(2)
        assert (await resumed(stage, 0)).opened == [(EPOCH, 0, not name)]
