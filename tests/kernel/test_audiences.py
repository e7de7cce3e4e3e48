"""Audiences: who is in which, what they share, and how subscribers move between them."""

from collections.abc import Hashable
from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.errors import Forbidden, NotFound
from actors.kernel.mailbox import Answer
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.ledger import KIND, Deposit, Kick, Ledger, Promote, Read, Viewer, Wave
from tests.support.simulation import Simulation
from tests.support.sinks import Socket


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


async def test_a_stranger_may_not_watch(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Kick("bob"))
    with pytest.raises(Forbidden):
        await stage.watch(Socket(), "bob")
    with pytest.raises(NotFound):
        await stage.watch(Socket(), id="none")
    assert stage.system.statistics()[0].subscribers == 0


async def test_viewers_move_to_another_audience_or_are_ended(autojump_clock: MockClock, stage: Stage) -> None:
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
