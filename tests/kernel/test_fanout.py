"""What subscribers receive: snapshots, events, and what happens when they do not read."""

from collections.abc import Hashable
from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.errors import Forbidden, NotFound
from actors.kernel.mailbox import Answer
from actors.kernel.sink import Prepared
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.folding import fold
from tests.kernel.ledger import KIND, Deposit, Explode, Kick, Ledger, Promote, Read, Viewer, Wave
from tests.support.simulation import Simulation
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


async def test_each_audience_is_encoded_once(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Promote("boss"))
    sockets = [Socket() for _ in range(120)]
    for n, socket in enumerate(sockets):
        await stage.watch(socket, "boss" if n % 2 else f"u{n}")
    before = stage.envelope.encoded
    await stage.ask(Deposit("ann", 4))
    await wait_all_tasks_blocked()
    assert stage.envelope.encoded - before <= 2 * 3
    assert all(socket.frames[-1]["data"]["total"] == 4 for socket in sockets)
    assert [socket.frames[-1]["data"].get("secret") for socket in sockets[:2]] == [None, 8]


async def test_audiences_share_the_bytes_of_events_that_say_the_same(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.ask(Promote("boss"))
    ann, boss, other = Socket(), Socket(), Socket()
    for socket, name in ((ann, "ann"), (boss, "boss"), (other, "boss")):
        await stage.watch(socket, name, mode="delta")
    before = stage.envelope.encoded
    await stage.ask(Wave("ann"))
    await wait_all_tasks_blocked()
    assert stage.envelope.encoded - before == 1
    await stage.ask(Deposit("ann", 4))
    await wait_all_tasks_blocked()
    assert stage.envelope.encoded - before == 3
    # What is for one user only reaches each of their sockets once, whatever was shared.
    await stage.ask(Read("boss"))
    await wait_all_tasks_blocked()
    told = [[frame["event"] for frame in socket.frames[1:]] for socket in (ann, boss, other)]
    assert told == [["Waved", "Changed"], *[["Waved", "Changed", "read"]] * 2]


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


async def test_a_stranger_may_not_watch(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Kick("bob"))
    with pytest.raises(Forbidden):
        await stage.watch(Socket(), "bob")
    with pytest.raises(NotFound):
        await stage.watch(Socket(), id="none")
    assert stage.system.statistics()[0].subscribers == 0


async def test_moving_audiences(autojump_clock: MockClock, stage: Stage) -> None:
    ann, bob = Socket(), Socket()
    await stage.watch(ann, "ann", mode="delta")
    await stage.watch(bob, "bob")
    await stage.ask(Deposit("x", 1))
    await stage.ask(Promote("ann"))
    await stage.ask(Kick("bob"))
    await stage.ask(Deposit("x", 1))
    assert [frame["self"] for frame in ann.frames[1:]] == [
        {"boss": boss} for boss in (False, True, True, True)
    ]
    assert bob.ended == [("ledger:a", "FORBIDDEN")]
    assert bob.frames[-1]["offset"] == 2
    assert stage.system.statistics()[0].subscribers == 1


async def test_recheck_after_rights_have_moved(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    subscription = await stage.watch(socket, "ann", mode="delta")
    subscription.recheck()
    assert len(socket.sends) == 1
    subscription.viewer = Viewer("boss")
    await stage.ask(Promote("boss"))
    subscription.recheck()
    assert subscription.audience == "boss"
    await stage.ask(Kick("bob"))
    subscription.viewer = Viewer("bob")
    subscription.recheck()
    assert socket.ended == [("ledger:a", "FORBIDDEN")]
    subscription.close()
    assert stage.system.statistics()[0].subscribers == 0


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


async def test_statistics(autojump_clock: MockClock, stage: Stage) -> None:
    answers: list[Answer] = []
    await stage.watch(Socket())
    stage.system.post(KIND, "a", Deposit("ann", 1), answers.append)
    await trio.sleep(3)
    row = stage.system.statistics()[0]
    assert (row.kind, row.id, row.mailbox, row.subscribers, row.restarts) == ("ledger", "a", 0, 1, 0)
    assert (row.offset, row.last_error) == (1, None)
    assert 2_900 <= row.idle_ms <= 3_000
    assert dict(stage.system.counters.items())["commits"] == 1


class Counting(trio.abc.Instrument):
    """The demo kind, with a count of how many audiences are computed at most in one step of a task."""

    def __init__(self) -> None:
        self.in_this_step = 0
        self.most = 0
        self.kind = replace(KIND, rendering=replace(KIND.rendering, audience=self.audience))

    def audience(self, state: Ledger, viewer: Viewer) -> Hashable:
        self.in_this_step += 1
        self.most = max(self.most, self.in_this_step)
        return KIND.rendering.audience(state, viewer)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.in_this_step = 0


async def test_audiences_of_many_are_computed_in_slices_and_before_they_are_told(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    """Whoever joins or leaves a group of a thousand moves the audiences of all who watch it: in one step that would
    hold up everybody else. Who may look no longer is told so, and nothing of what comes after."""
    counting = Counting()
    async with open_stage(simulation, kind=counting.kind) as stage:
        sockets = [Socket() for _ in range(260)]
        lagging = Socket(room=1, bound=0)
        for number, socket in enumerate(sockets):
            await stage.watch(socket, f"u{number}", shown=counting.kind, mode="delta")
        await stage.watch(lagging, "slow", shown=counting.kind)
        await stage.ask(Deposit("ann", 1))
        await wait_all_tasks_blocked()
        stage.simulation.delay_seconds = (0, 0)
        counting.in_this_step = counting.most = 0
        trio.lowlevel.add_instrument(counting)
        done: list[Answer] = []
        commands = (Kick("u7"), Promote("u259"), Kick("u200"), Kick("slow"), Deposit("ann", 2))
        for number, command in enumerate(commands, 1):
            stage.system.post(counting.kind, "a", command, done.append)
            while len(done) < number:
                await trio.lowlevel.checkpoint()
        lagging.make_room(None)
        await wait_all_tasks_blocked()
        trio.lowlevel.remove_instrument(counting)
        assert 0 < counting.most <= 50
        for number in (7, 200):
            assert sockets[number].ended == [("ledger:a", "FORBIDDEN")]
            assert f"u{number}" not in str(sockets[number].frames)
        assert lagging.ended == [("ledger:a", "FORBIDDEN")]
        assert [frame["type"] for frame in lagging.frames] == ["snapshot"]
        rest = [socket for number, socket in enumerate(sockets) if number not in {7, 200}]
        assert all(socket.offsets == [1, 2, 3, 4, 5, 6] for socket in rest)
        assert sockets[259].frames[-1]["self"] == {"boss": True}
        assert stage.system.statistics()[0].subscribers == 258
