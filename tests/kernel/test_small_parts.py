"""The parts that need no system: clock, restart policy, timers, recent events, the parked task."""

import time

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.errors import Draining
from actors.kernel.clock import Leaps, SystemClock
from actors.kernel.mailbox import Failure, Letter, failure_of
from actors.kernel.one_shot import OneShot
from actors.kernel.replay_buffer import BUFFER_EVENTS, ReplayBuffer
from actors.kernel.restart_policy import RestartPolicy
from actors.kernel.restarts import RELOAD_MS, Restarts
from actors.kernel.room import Room
from actors.kernel.timers import Timers
from actors.kernel.waiters import Waiters
from persistence.errors import DatabaseUnavailable, Fenced, HeadMoved, OutcomeUnknown
from tests.support.simulation import SimulatedClock

SECOND_NS = 1_000_000_000


class Machine:
    """A machine whose two clocks can be turned by hand."""

    def __init__(self) -> None:
        self.steady_ns = self.awake_ns = 5 * SECOND_NS
        self.wall_ns = 1_800_000_000 * SECOND_NS

    def clock(self) -> SystemClock:
        return SystemClock(
            steady_ns=lambda: self.steady_ns, wall_ns=lambda: self.wall_ns, awake_ns=lambda: self.awake_ns
        )

    def sleep(self, seconds: float) -> None:
        self.steady_ns += int(seconds * SECOND_NS)
        self.wall_ns += int(seconds * SECOND_NS)

    def run(self, seconds: float) -> None:
        self.sleep(seconds)
        self.awake_ns += int(seconds * SECOND_NS)


def test_the_clock_starts_at_wall_time_and_follows_the_steady_one() -> None:
    machine = Machine()
    clock = machine.clock()
    assert clock.now_ms() == 1_800_000_000_000
    machine.run(2.5)
    assert clock.now_ms() == 1_800_000_002_500


@pytest.mark.parametrize("jump_seconds", [3600, -3600])
def test_a_jump_of_the_wall_clock_is_followed_by_half_a_millisecond_a_second(jump_seconds: int) -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wall_ns += jump_seconds * SECOND_NS
    readings = [clock.now_ms()]
    for _ in range(10_000):
        machine.run(0.1)
        readings.append(clock.now_ms())
    assert readings == sorted(readings)
    gained_ms = readings[-1] - readings[0] - 1_000_000
    assert 499 <= abs(gained_ms) <= 501
    assert (gained_ms > 0) == (jump_seconds > 0)


def test_a_clock_catches_up_at_once_and_never_goes_back() -> None:
    machine = Machine()
    clock = machine.clock()
    before_ms = clock.now_ms()
    machine.wall_ns += 3600 * SECOND_NS
    clock.catch_up()
    assert clock.now_ms() == before_ms + 3_600_000
    machine.wall_ns -= 7200 * SECOND_NS
    clock.catch_up()
    machine.run(10)
    assert clock.now_ms() == pytest.approx(before_ms + 3_610_000, abs=10)


def test_who_waits_for_signs_of_life_learns_that_the_machine_has_slept() -> None:
    machine = Machine()
    clock = machine.clock()
    leaps = Leaps(clock)
    machine.run(3600)
    assert not leaps.noticed()
    machine.sleep(60)
    assert [leaps.noticed() for _ in range(2)] == [True, False]
    machine.wall_ns += 60 * SECOND_NS
    assert not leaps.noticed()
    clock.catch_up()
    assert [leaps.noticed() for _ in range(2)] == [True, False]


@pytest.mark.parametrize("jump_seconds", [3600, -3600])
def test_a_clock_that_was_set_is_told_once_each_time(jump_seconds: int) -> None:
    """Tokens of other issuers are refused from then on, for as long as the service has the old time."""
    machine = Machine()
    clock = machine.clock()
    told = []
    for seconds in (0, 1, jump_seconds, -jump_seconds, jump_seconds):
        machine.wall_ns += seconds * SECOND_NS
        with capture_logs() as lines:
            for _ in range(5):
                machine.run(1)
                clock.now_ms()
        told.append([line["by_seconds"] for line in lines])
    assert [len(each) for each in told] == [0, 0, 1, 0, 1]
    assert told[2][0] == pytest.approx(jump_seconds, abs=2)


def test_a_small_drift_is_followed_to_the_end() -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wall_ns += SECOND_NS // 1000
    for _ in range(10):
        machine.run(1)
        clock.now_ms()
    assert clock.now_ms() == machine.wall_ns // 1_000_000


def test_the_real_clock_is_the_machines() -> None:
    before_ms = time.time_ns() // 1_000_000
    now_ms = SystemClock().now_ms()
    assert before_ms - 1 <= now_ms <= time.time_ns() // 1_000_000 + 1


def test_strikes_double_their_pause_and_then_park() -> None:
    policy = RestartPolicy()
    assert [policy.failed(1_000_000 + n) for n in range(5)] == [100, 200, 400, 800, 30_000]
    assert policy.parked_until_ms == 1_000_004 + 30_000


def test_parking_doubles_to_ten_minutes_and_is_forgotten() -> None:
    policy, now_ms, parks = RestartPolicy(), 1_000_000, []
    for _ in range(7):
        for _ in range(5):
            pause_ms = policy.failed(now_ms)
        parks.append(pause_ms)
        now_ms = policy.parked_until_ms
    assert parks == [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000]
    assert not policy.forgiven(now_ms + 599_999)
    assert policy.forgiven(now_ms + 600_000)
    assert policy.failed(now_ms + 600_000) == 100


def test_strikes_far_apart_never_park() -> None:
    policy = RestartPolicy()
    assert {policy.failed(1_000_000 + 3_000 * n) for n in range(20)} <= {100, 200, 400, 800}


def test_an_away_database_is_no_strike() -> None:
    restarts = Restarts()
    assert [restarts.restart(DatabaseUnavailable(), 1_000_000 + n) for n in range(9)] == [RELOAD_MS] * 9
    assert (restarts.count, restarts.last_error) == (9, "DatabaseUnavailable")
    assert restarts.parked_until_ms == 0
    assert restarts.forgiven(1_000_010)
    assert restarts.restart(ZeroDivisionError(), 1_000_010) == 100
    assert not restarts.forgiven(1_000_011)


def test_a_turn_stays_unsure_until_another_owner_is_known() -> None:
    restarts = Restarts()
    seen = []
    for error in (HeadMoved(), OutcomeUnknown(), ZeroDivisionError(), DatabaseUnavailable(), Fenced()):
        restarts.stopped(error)
        seen.append(restarts.is_unsure)
    assert seen == [False, True, True, True, False]


async def test_timers_ring_in_order_and_survive_faults(autojump_clock: MockClock) -> None:
    clock = SimulatedClock()
    timers = Timers(clock)
    rung: list[str] = []

    def broken() -> None:
        raise ZeroDivisionError

    async with trio.open_nursery() as nursery:
        nursery.start_soon(timers.run)
        await wait_all_tasks_blocked()
        now_ms = clock.now_ms()
        timers.at(now_ms + 2_000, lambda: rung.append("second"))
        timers.at(now_ms + 1_000, lambda: rung.append("first"))
        timers.at(now_ms + 1_500, broken)
        timers.at(now_ms - 5, lambda: rung.append("past"))
        await wait_all_tasks_blocked()
        assert rung == ["past"]
        await trio.sleep(1.6)
        assert rung == ["past", "first"]
        timers.at(now_ms + 200_000, lambda: rung.append("late"))
        await trio.sleep(150)
        assert rung == ["past", "first", "second"]
        await trio.sleep(50)
        assert rung[-1] == "late"
        for n in range(100):
            timers.at(0, lambda n=n: rung.append(str(n)))  # type: ignore[misc]
        await wait_all_tasks_blocked()
        assert rung[4:] == [str(n) for n in range(100)]
        assert len(timers) == 0
        nursery.cancel_scope.cancel()


def test_recent_events_know_what_they_lack() -> None:
    recent = ReplayBuffer(10)
    assert recent.after(10) == []
    assert recent.after(9) is None
    for offset in range(11, 11 + BUFFER_EVENTS):
        recent.record(offset, offset)
    assert recent.after(10) == [(n, n) for n in range(11, 11 + BUFFER_EVENTS)]
    recent.record(11 + BUFFER_EVENTS, "last")
    assert recent.after(10) is None
    assert recent.after(10 + BUFFER_EVENTS) == [(11 + BUFFER_EVENTS, "last")]


async def test_a_parked_task_gets_the_first_value(autojump_clock: MockClock) -> None:
    early: OneShot[int] = OneShot()
    early.wake(1)
    early.wake(2)
    assert await early.wait() == 1
    left: OneShot[int] = OneShot()
    with trio.move_on_after(1):
        await left.wait()
    left.wake(3)
    assert await left.wait() == 3


async def test_all_that_wait_are_woken_and_who_has_left_is_not_counted(autojump_clock: MockClock) -> None:
    waiters: Waiters[int] = Waiters()
    waiters.wake(1)  # for nobody
    got: list[int] = []

    async def wait() -> None:
        got.append(await waiters.wait())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        nursery.start_soon(wait)
        with trio.move_on_after(1):
            await waiters.wait()
        assert len(waiters) == 2
        waiters.wake(2)
        assert len(waiters) == 0
    assert got == [2, 2]


async def test_a_room_takes_so_many_at_once_and_lets_the_others_in_as_they_came() -> None:
    room, inside, order = Room(2), 0, list[str]()

    async def visit(name: str, leaving: trio.Event) -> None:
        nonlocal inside
        async with room:
            inside += 1
            assert inside <= 2
            order.append(name)
            await leaving.wait()
            inside -= 1

    leaving = {name: trio.Event() for name in "abcd"}
    async with trio.open_nursery() as nursery:
        for name, its_leaving in leaving.items():
            nursery.start_soon(visit, name, its_leaving)
            await wait_all_tasks_blocked()
        with trio.move_on_after(0):  # comes last, and leaves before there is room
            await visit("e", trio.Event())
        assert order == ["a", "b"]
        for its_leaving in leaving.values():
            its_leaving.set()
            await wait_all_tasks_blocked()
    assert order == ["a", "b", "c", "d"]


async def test_nobody_else_runs_before_somebody_for_whom_there_is_room() -> None:
    room, ran = Room(1), trio.Event()

    async def run() -> None:
        ran.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        for _ in range(2):
            async with room:
                assert not ran.is_set()


@pytest.mark.parametrize(
    ("decided", "failure", "told"),
    [
        (
            True,
            Draining("x"),
            OutcomeUnknown,
        ),  # it may be committed yet: to be told to repeat it could do it twice
        (True, OutcomeUnknown("x"), OutcomeUnknown),
        (False, Draining("x"), Draining),
        (False, OutcomeUnknown("x"), DatabaseUnavailable),
    ],
)
def test_what_is_told_of_a_letter_depends_on_whether_it_was_decided(
    decided: bool, failure: Failure, told: type[Failure]
) -> None:
    letter = Letter(None, None, None, 0)
    letter.decided = decided
    assert type(failure_of(letter, failure)) is told
