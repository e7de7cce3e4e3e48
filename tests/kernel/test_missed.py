"""What subscribers receive who say where they were: the events that they missed, or a snapshot."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.replay_buffer import BUFFER_EVENTS
from tests.kernel.conftest import Stage
from tests.kernel.ledger import Deposit
from tests.support.sinks import Socket

EPOCH = "e-a"


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
