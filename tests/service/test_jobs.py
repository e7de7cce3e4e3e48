"""Housekeeping: whatever a job raises, it has its next turn, nobody else notices, and the process lives."""

from collections.abc import Callable

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.errors import NotFound, Overloaded
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, PersistenceError
from persistence.failing import Failing
from routes.jobs import (
    LONGEST_PAUSE_SECONDS,
    BackgroundTask,
    Does,
    Housekeeping,
    Job,
    OneOfMany,
    keep_house,
    keep_running,
    pause_seconds,
)

Kind = Callable[[], Exception]

FAULTS: dict[str, Kind] = {
    "refused": Overloaded,
    "not found": NotFound,
    "a fault of an actor": Fault,
    "a bug": lambda: KeyError("?"),
    "several at once": lambda: ExceptionGroup("of a nursery", [KeyError("?"), Overloaded()]),
    "the database": lambda: DatabaseUnavailable("!"),
    "the network": lambda: OSError("!"),
}


class Work:
    """A job that fails some times.

    Attributes:
        began: when it was run, in trio's seconds.
    """

    def __init__(self, failures: int, fault: Kind, answer: object = None) -> None:
        self._failures = failures
        self._fault = fault
        self._answer = answer
        self.began: list[float] = []

    async def run(self) -> object:
        self.began.append(trio.current_time())
        if len(self.began) <= self._failures:
            raise self._fault()
        return self._answer


def here(_job: str) -> bool:
    """This node does everything."""
    return True


def elsewhere(_job: str) -> bool:
    """Another node does what one does for all."""
    return False


async def run_for(seconds: float, jobs: tuple[Job, ...], does: Does = here) -> Housekeeping:
    """Keep house for so long, by a clock that jumps."""
    housekeeping = Housekeeping()
    with trio.move_on_after(seconds):
        await keep_house(jobs, housekeeping, does)
    return housekeeping


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_a_job_that_fails_never_ends_the_process(autojump_clock: MockClock, fault: Kind) -> None:
    bad, good = Work(3, fault), Work(0, fault)
    housekeeping = await run_for(30.6, (Job("bad", 1, bad.run), Job("good", 1, good.run)))
    assert len(bad.began) > 4
    assert len(good.began) == 30
    assert housekeeping.failures == {"bad": 3, "good": 0}


async def test_jobs_of_one_interval_do_not_run_at_once(autojump_clock: MockClock) -> None:
    works = [Work(0, FAULTS["a bug"]) for _ in range(50)]
    await run_for(300.5, tuple(Job(f"job {number}", 60, work.run) for number, work in enumerate(works)))
    began = [at for work in works for at in work.began]
    assert len(began) >= 4 * len(works)
    assert len(set(began)) == len(began)
    assert max(work.began[0] for work in works) - min(work.began[0] for work in works) < 1


async def test_a_job_costs_a_start_no_task(autojump_clock: MockClock) -> None:
    slow, soon = Work(0, FAULTS["a bug"]), Work(0, FAULTS["a bug"])
    jobs = (*(Job(f"slow {number}", 3_600, slow.run) for number in range(50)), Job("soon", 1, soon.run))
    async with trio.open_nursery() as nursery:
        before = trio.lowlevel.current_statistics().tasks_living
        nursery.start_soon(keep_house, jobs, Housekeeping(), here)
        await trio.sleep(0.5)
        assert trio.lowlevel.current_statistics().tasks_living == before + 1
        await trio.sleep(60)
        assert trio.lowlevel.current_statistics().tasks_living == before + 2
        nursery.cancel_scope.cancel()
    assert (len(slow.began), len(soon.began)) == (0, 59)


async def test_cancellation_is_no_failure(autojump_clock: MockClock) -> None:
    async def forever() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)

    housekeeping = await run_for(5, (Job("endless", 1, forever),))
    assert housekeeping.failures == {"endless": 0}


async def test_what_keeps_failing_does_not_fill_the_log(autojump_clock: MockClock) -> None:
    work = Work(1_000, FAULTS["a bug"])
    await run_for(1_000, (Job("bad", 1, work.run),))
    pauses = [after - before for before, after in zip(work.began, work.began[1:], strict=False)]
    assert pauses[:6] == pytest.approx([1, 2, 4, 8, 16, 32])
    assert set(pauses[6:]) == {LONGEST_PAUSE_SECONDS}


async def test_one_of_many_that_keeps_failing_does_not_fill_the_log(autojump_clock: MockClock) -> None:
    runs, failing = 0, Failing()

    async def run() -> None:
        nonlocal runs
        runs += 1
        for about in ("one", "other"):
            with OneOfMany("testing", about, failing):
                if about == "one" and runs != 20:
                    raise Fault if runs % 2 else KeyError("?")

    with capture_logs() as lines:
        await run_for(40.5, (Job("bad", 1, run),))
    told = [(line["log_level"], line["about"], line["times"]) for line in lines]
    # It went well in the twentieth run, and failed from there on as if for the first time.
    assert told == [
        (level, "one", times)
        for _ in ("before", "after")
        for times in (1, 2, 4, 8)
        for level in ("warning", "error")
    ]


@pytest.mark.parametrize("fault", [DatabaseUnavailable("!"), Overloaded(), OSError("!")], ids=repr)
def test_what_waits_for_others_comes_no_later_than_ever(fault: Exception) -> None:
    """The database is back: everything heals at its own beat. What comes once an hour need not wait for that long."""
    assert [pause_seconds(0.2, n, fault) for n in (1, 5, 50)] == [0.2, 0.2, 0.2]
    assert [pause_seconds(3600, n, fault) for n in (1, 2, 50)] == [1, 2, LONGEST_PAUSE_SECONDS]


async def test_a_job_that_left_something_goes_on_soon(autojump_clock: MockClock) -> None:
    work = Work(0, FAULTS["a bug"], answer=False)
    housekeeping = await run_for(3605.5, (Job("hourly", 3600, work.run),))
    assert len(work.began) == 6
    assert housekeeping.behind_seconds()["hourly"] == pytest.approx(3605.5)


async def test_how_late_a_job_is(autojump_clock: MockClock) -> None:
    away = Work(1_000, lambda: PersistenceError("!"))
    housekeeping = await run_for(
        100.5, (Job("well", 10, Work(0, FAULTS["a bug"]).run), Job("ill", 10, away.run))
    )
    assert housekeeping.behind_seconds() == pytest.approx({"well": 0.5, "ill": 100.5})


async def test_what_stands_is_begun_again(autojump_clock: MockClock) -> None:
    work = Work(3, FAULTS["a bug"])

    async def run() -> None:
        await work.run()
        await trio.sleep_forever()

    housekeeping = Housekeeping()
    with trio.move_on_after(100):
        await keep_running(BackgroundTask("rights", run), housekeeping, elsewhere)
    assert len(work.began) == 4
    assert housekeeping.failures == {"rights": 3}


async def test_what_stands_may_end(autojump_clock: MockClock) -> None:
    work = Work(0, FAULTS["a bug"])

    async def run() -> None:
        await work.run()

    for one_node in (False, True):
        await keep_running(BackgroundTask("issuers", run, one_node=one_node), Housekeeping(), here)
    assert len(work.began) == 2


async def test_what_one_node_does_is_done_by_no_other(autojump_clock: MockClock) -> None:
    shared, own = Work(0, FAULTS["a bug"]), Work(0, FAULTS["a bug"])
    jobs = (Job("shared", 10, shared.run, one_node=True), Job("own", 10, own.run))
    housekeeping = await run_for(100.6, jobs, elsewhere)
    assert (len(shared.began), len(own.began)) == (0, 10)
    assert housekeeping.behind_seconds()["shared"] == pytest.approx(0.6)
    await run_for(100.6, jobs, here)
    assert (len(shared.began), len(own.began)) == (10, 20)


async def test_a_task_of_one_node_moves(autojump_clock: MockClock) -> None:
    began: list[float] = []
    ended: list[float] = []

    async def run() -> None:
        began.append(trio.current_time())
        try:
            await trio.sleep_forever()
        finally:
            ended.append(trio.current_time())

    def away_in_between(_task: str) -> bool:
        return not 10 <= trio.current_time() - start < 20

    start = trio.current_time()
    with trio.move_on_after(30):
        await keep_running(BackgroundTask("sender", run, one_node=True), Housekeeping(), away_in_between)
    assert [at - start for at in began] == pytest.approx([0, 20])
    assert [at - start for at in ended] == pytest.approx([10, 30])
