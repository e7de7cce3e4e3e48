"""Subscribers who do not read: they are passed over, get the newest snapshot later, and cost a turn nothing."""

from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kernel.sink import Prepared
from tests.kernel.conftest import Stage
from tests.kernel.ledger import Deposit, Wave
from tests.support.sinks import JsonEnvelope, Socket


async def test_a_slow_snapshot_reader_skips_to_the_newest(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket(room=1)
    await stage.watch(socket)
    for _ in range(5):
        await stage.ask(Deposit("ann", 1))
    assert len(socket.sends) == 1
    assert socket.waiting == []
    assert len(socket.lagging) == 1
    socket.make_room(2)
    assert [(f["offset"], f["skipped"]) for f in socket.frames[1:]] == [(5, 5)]
    await stage.ask(Deposit("ann", 1))
    assert [(f["offset"], f["skipped"]) for f in socket.frames[2:]] == [(6, 0)]


async def test_a_slow_delta_reader_falls_back_to_a_snapshot(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket(room=1, bound=2)
    await stage.watch(socket, mode="delta")
    for _ in range(6):
        await stage.ask(Deposit("ann", 1))
        await stage.ask(Wave("ann"))
    assert len(socket.waiting) == 2
    socket.make_room(None)
    assert [f["type"] for f in socket.frames] == ["snapshot", "event", "event", "snapshot"]
    assert socket.frames[-1]["offset"] == 6
    assert socket.frames[-1]["skipped"] == 5
    await stage.ask(Deposit("ann", 1))
    assert socket.offsets[-1] == 7


async def test_many_slow_readers_cost_nothing_per_turn(autojump_clock: MockClock, stage: Stage) -> None:
    sockets = [Socket(room=1, bound=2) for _ in range(200)]
    for n, socket in enumerate(sockets):
        await stage.watch(socket, mode="delta" if n % 2 else "snapshot")
    for _ in range(3):
        await stage.ask(Deposit("ann", 1))
        await wait_all_tasks_blocked()
    skipped = stage.system.counters.frames_skipped
    encoded = stage.envelope.encoded
    for _ in range(50):
        await stage.ask(Deposit("ann", 1))
        await wait_all_tasks_blocked()
    assert stage.system.counters.frames_skipped == skipped == 200
    assert stage.envelope.encoded == encoded
    assert max(socket.most_waiting for socket in sockets) <= 2
    for socket in sockets:
        socket.make_room(None)
    assert {socket.frames[-1]["offset"] for socket in sockets} == {53}


async def test_a_fault_of_frame_in_a_repayment_ends_the_subscription(
    autojump_clock: MockClock, stage: Stage
) -> None:
    class Picky(JsonEnvelope):
        def snapshot(self, *args: object) -> Prepared:
            if args[2]:
                raise ZeroDivisionError
            return Prepared((b"{}",), b"{}")

    stage.envelope = Picky()
    socket = Socket(room=1)
    await stage.watch(socket)
    await stage.ask(Deposit("ann", 1))
    await stage.ask(Deposit("ann", 1))
    socket.make_room(None)
    assert socket.ended == [("ledger:a", "INTERNAL")]
