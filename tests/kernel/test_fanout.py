"""What subscribers receive: snapshots and events, in which order, and what ends a subscription."""

from itertools import pairwise
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kernel.delivery import SLICE_BYTES
from actors.kernel.mailbox import Answer
from actors.kernel.sink import Prepared
from tests.kernel.conftest import Stage
from tests.kernel.folding import fold
from tests.kernel.ledger import KIND, Deposit, Explode, Kick, Promote, Read, Wave
from tests.support.sinks import JsonEnvelope, Socket

EPOCH = "e-a"


async def test_a_snapshot_first_and_after_each_turn(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await stage.watch(socket)
    assert socket.opened == [(EPOCH, 0, False)]
    await stage.ask(Deposit("ann", 2))
    await stage.ask(Deposit("ann", 3))
    assert [frame["data"]["total"] for frame in socket.frames] == [0, 2, 5]
    assert [frame["offset"] for frame in socket.frames] == [0, 1, 2]


async def test_a_turns_events_leave_together(autojump_clock: MockClock, stage: Stage) -> None:
    snapshots, deltas = Socket(), Socket()
    await stage.watch(snapshots)
    await stage.watch(deltas, mode="delta")
    for _ in range(8):
        stage.system.post(KIND, "a", Deposit("ann", 1), lambda answer: None)
    await trio.sleep(1)
    assert len(snapshots.sends) == 2
    assert len(deltas.sends) == 2
    assert deltas.offsets == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_events_outside_the_journal(autojump_clock: MockClock, stage: Stage) -> None:
    snapshots, ann, bob = Socket(), Socket(), Socket()
    await stage.watch(snapshots)
    await stage.watch(ann, "ann", mode="delta")
    await stage.watch(bob, "bob", mode="delta")
    await stage.ask(Wave("ann"))
    await stage.ask(Read("ann"))
    assert len(snapshots.sends) == 1
    assert [(f["event"], f["offset"]) for f in bob.frames[1:]] == [("Waved", None)]
    assert [(f["event"], f["offset"]) for f in ann.frames[1:]] == [("Waved", None), ("read", None)]


async def test_callers_are_answered_before_the_first_frame(autojump_clock: MockClock, stage: Stage) -> None:
    order: list[str] = []

    class Noting(Socket):
        def offer(self, prepared: object) -> bool:
            order.append("frame")
            return True

    await stage.watch(Noting())
    stage.system.post(KIND, "a", Deposit("ann", 1), lambda answer: order.append("answer"))
    await trio.sleep(1)
    assert order == ["frame", "answer", "frame"]


async def test_the_rest_of_many_is_walked_in_slices(autojump_clock: MockClock, stage: Stage) -> None:
    sockets = [Socket() for _ in range(180)]
    for socket in sockets:
        await stage.watch(socket, mode="delta")
    served: list[int] = []
    stage.simulation.delay_seconds = (0, 0)
    stage.system.post(
        KIND, "a", Deposit("ann", 1), lambda answer: served.append(sum(len(s.sends) > 1 for s in sockets))
    )
    while not served:
        await trio.lowlevel.checkpoint()
    slices = [sum(len(socket.sends) > 1 for socket in sockets)]
    while slices[-1] < 180:
        await trio.lowlevel.checkpoint()
        slices.append(sum(len(socket.sends) > 1 for socket in sockets))
    assert served == [0]
    assert {50, 180} <= {*slices} <= {50, 100, 150, 180}
    assert all(socket.offsets == [1] for socket in sockets)


@pytest.mark.parametrize("sockets", [7, 60])
async def test_large_frames_are_offered_a_megabyte_at_a_time(
    autojump_clock: MockClock, stage: Stage, sockets: int
) -> None:
    """Fifty windows of large messages are 24 MB, which nobody else waits for."""

    class Wide(JsonEnvelope):
        def _prepare(self, frame: dict[str, Any]) -> Prepared:
            narrow = super()._prepare(frame)
            return Prepared(narrow.payloads, narrow.wire.ljust(SLICE_BYTES // 3 + 1))

    stage.envelope = Wide()
    viewers = [Socket() for _ in range(sockets)]
    for socket in viewers:
        await stage.watch(socket)
    stage.simulation.delay_seconds = (0, 0)
    stage.system.post(KIND, "a", Deposit("ann", 1), lambda answer: None)
    served = [0]
    while served[-1] < sockets:
        await trio.lowlevel.checkpoint()
        served.append(sum(len(socket.sends) > 1 for socket in viewers))
    # trio draws the order of tasks, so that between two looks there may be two slices of three.
    assert max(after - before for before, after in pairwise(served)) <= 6
    await trio.sleep(1)
    assert [len(socket.sends) for socket in viewers] == [2] * sockets
    assert stage.envelope.encoded == sockets + 1  # a first frame for each, and one for all


async def test_turns_that_commit_during_a_walk_are_joined(autojump_clock: MockClock, stage: Stage) -> None:
    sockets = [Socket() for _ in range(400)]
    for socket in sockets:
        await stage.watch(socket, mode="delta")
    stage.simulation.delay_seconds = (0, 0)
    for _ in range(40):
        stage.system.post(KIND, "a", Deposit("ann", 1), lambda answer: None)
        await trio.lowlevel.checkpoint()
    await trio.sleep(1)
    assert all(socket.offsets == list(range(1, 41)) for socket in sockets)
    assert stage.system.peek(KIND, "a").total == 40


async def test_closing_from_within_an_offer(autojump_clock: MockClock, stage: Stage) -> None:
    class Broken(Socket):
        def offer(self, prepared: object) -> bool:
            if self.opened and subscriptions:
                subscriptions[0].close()
                return False
            return True

    subscriptions: list = []
    broken, well = Broken(), Socket()
    subscriptions.append(await stage.watch(broken))
    await stage.watch(well)
    await stage.ask(Deposit("ann", 1))
    assert broken.lagging == {}
    assert len(well.sends) == 2
    assert stage.system.statistics()[0].subscribers == 1


async def test_a_broken_socket_or_frame_ends_its_subscription_alone(
    autojump_clock: MockClock, stage: Stage
) -> None:
    class Broken(Socket):
        def offer(self, prepared: object) -> bool:
            if self.sends:
                raise ZeroDivisionError
            return super().offer(prepared)  # type: ignore[arg-type]

    broken, delta, snapshot = Broken(), Socket(), Socket()
    await stage.watch(broken)
    await stage.watch(delta, mode="delta")
    await stage.watch(snapshot)
    await stage.ask(Deposit("ann", 1))
    assert broken.ended == [("ledger:a", "INTERNAL")]
    await stage.ask(Explode("delta"))
    assert delta.ended == [("ledger:a", "INTERNAL")]
    assert snapshot.frames[-1]["offset"] == 3
    assert stage.system.statistics()[0].restarts == 0


async def test_a_fault_of_delta_is_logged_once_for_all(
    autojump_clock: MockClock, stage: Stage, log: list[dict[str, object]]
) -> None:
    sockets = [Socket() for _ in range(120)]
    for socket in sockets:
        await stage.watch(socket, mode="delta")
    await stage.ask(Explode("delta"))
    await wait_all_tasks_blocked()
    assert all(socket.ended == [("ledger:a", "INTERNAL")] for socket in sockets)
    assert [entry["doing"] for entry in log] == ["encoding"]


async def test_the_events_make_what_the_snapshot_says(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await stage.watch(socket, mode="delta")
    for command in (Deposit("ann", 3), Promote("bob"), Kick("eve"), Deposit("bob", -1)):
        await stage.ask(command)
    seen = socket.frames[0]["data"]
    for frame in socket.frames[1:]:
        seen = fold(seen, frame)
    fresh = Socket()
    await stage.watch(fresh)
    assert seen == fresh.frames[0]["data"]


async def test_the_reply_to_a_watch_may_be_given_in_opened(autojump_clock: MockClock, stage: Stage) -> None:
    order: list[object] = []
    socket = Socket()

    def opened(epoch: str, offset: int, recovered: bool) -> None:
        order.append(len(socket.sends))

    await stage.watch(socket, opened=opened)
    assert order == [0]
    assert len(socket.sends) == 1


async def test_statistics_tell_what_an_actor_has_done(autojump_clock: MockClock, stage: Stage) -> None:
    answers: list[Answer] = []
    await stage.watch(Socket())
    stage.system.post(KIND, "a", Deposit("ann", 1), answers.append)
    await trio.sleep(3)
    row = stage.system.statistics()[0]
    assert (row.kind, row.id, row.mailbox, row.subscribers, row.restarts) == ("ledger", "a", 0, 1, 0)
    assert (row.offset, row.last_error) == (1, None)
    assert 2_900 <= row.idle_ms <= 3_000
    assert dict(stage.system.counters.items())["commits"] == 1
