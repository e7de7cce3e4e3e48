"""Periodic jobs: each in its own task with its own interval, so that none affects another, or the process.

What a run raises is logged and counted, and the job runs again: soon if the database is unavailable, after a growing
pause if it is a bug. Tasks that run for as long as the service (`BackgroundTask`) are restarted by the same rule. What
may still end the process is listed in ARCHITECTURE.md.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType, TracebackType
from typing import TypeAlias

import structlog
import trio

from actors.errors import Refused
from actors.kernel.mailbox import Failure
from actors.kernel.supervisor import Fault
from persistence.errors import PASSING, PersistenceError
from persistence.failing import Failing

FIRST_PAUSE_SECONDS = 1.0
"""Pause after the first failure in a row; it doubles with each further one."""

LONGEST_PAUSE_SECONDS = 60.0

LOOK_SECONDS = 1.0
"""How often it is checked whether this node runs a task that one node runs for all."""

REST_SECONDS = 1.0
"""Pause between two runs of a job that has not finished its work."""

SPREAD_SECONDS = 1.0
"""Over how long the first runs of jobs with the same interval are spread. All of them at once would take all
connections to the database, and a request that comes just then would wait for them, each second and minute anew."""

log = structlog.get_logger()

Does: TypeAlias = Callable[[str], bool]
"""Whether this node is the one that runs the job or task with this name for all nodes."""


@dataclass(frozen=True, slots=True)
class Job:
    """A function that is called periodically.

    Args:
        name: for the log and the metrics; unique.
        every_seconds: the pause between the end of a run and the start of the next.
        run: the function; returns False if work that is due is left, anything else if all is done.
        one_node: one node runs it for all, because it is about rows or the outside world; otherwise every node runs it
            for what is in its memory. Another node may begin while the last run of the former one ends.
    """

    name: str
    every_seconds: float
    run: Callable[[], Awaitable[object]]
    one_node: bool = False


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """A task that runs for as long as the service.

    Args:
        name: for the log and the metrics; unique, among jobs too.
        run: the task; called again after it failed.
        one_node: as in `Job`; it is cancelled when another node takes over.
    """

    name: str
    run: Callable[[], Awaitable[None]]
    one_node: bool = False


class Housekeeping:
    """The record of the jobs' runs and failures, for the metrics.

    Args:
        now: a clock of monotonic seconds; trio's by default.

    Attributes:
        failing: the things of all jobs that fail again and again.
    """

    def __init__(self, now: Callable[[], float] = trio.current_time) -> None:
        self.failing = Failing()
        self._now = now
        self._failures: dict[str, int] = {}
        self._done_at: dict[str, float] = {}

    @property
    def failures(self) -> Mapping[str, int]:
        """{name of a job or task: number of runs that failed}."""
        return MappingProxyType(self._failures)

    def behind_seconds(self) -> dict[str, float]:
        """{name of a job: seconds since the start of its last run that left no work}.

        No work is overdue for longer than this. It stays below the interval plus the length of a run if all is well.
        """
        now = self._now()
        return {name: now - at for name, at in self._done_at.items()}

    def watched(self, job: Job) -> None:
        """Start to measure a job."""
        self._done_at[job.name] = self._now()
        self._failures.setdefault(job.name, 0)

    def done(self, job: Job, began_at: float) -> None:
        """Record a run that left no work; `began_at` is its start, in seconds of the clock."""
        self._done_at[job.name] = began_at

    def failed(self, name: str) -> None:
        """Count a failed run of the job or task with this name."""
        self._failures[name] = self._failures.get(name, 0) + 1


def ticking(name: str, every_seconds: float, tick: Callable[[], None]) -> Job:
    """Make a job of a synchronous function.

    Args:
        name, every_seconds: as in `Job`.
        tick: the function.
    """

    async def run() -> None:
        tick()

    return Job(name, every_seconds, run)


def looking(name: str, every_seconds: float, look: Callable[[], Awaitable[object]]) -> Job:
    """Make a job of a function whose answer says what it has found, and not whether work is left.

    Args:
        name, every_seconds: as in `Job`.
        look: the function; whatever it returns, all is done.
    """

    async def run() -> None:
        await look()

    return Job(name, every_seconds, run)


class OneOfMany:
    """A block for one of many things of a job, whose failures are logged and kept here, instead of going further.

    A job that ended at the first failure would end there each time, and never come to the things behind. Only the
    errors in `PASSING` go further, because all other things would meet them too, and so does cancellation.

    A thing that fails again and again for one reason is logged at its first, second, fourth, eighth failure and so on.

    Args:
        doing: what the block does, for the log.
        about: the thing that the block is about, for the log.
        failing: what has failed before.

    Attributes:
        failure: the refusal or error that ended the block; None when it went well. A bug becomes a `Fault`.
    """

    def __init__(self, doing: str, about: str, failing: Failing) -> None:
        self.failure: Failure | None = None
        self._thing = doing, about
        self._failing = failing

    def __enter__(self) -> "OneOfMany":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            self._failing.forget(self._thing)
        if not isinstance(error, Exception) or isinstance(error, PASSING):
            return False
        reason = type(error).__name__
        doing, about = self._thing
        times = self._failing.count(self._thing, reason)
        if isinstance(error, PersistenceError | Refused | Fault):
            self.failure = error
            if times is not None:
                log.warning(
                    "a step of a job is put off", doing=doing, about=about, times=times, reason=reason
                )
        else:
            self.failure = Fault()
            if times is not None:
                log.error("a step of a job failed", doing=doing, about=about, times=times, exc_info=error)
        return True


async def keep_house(jobs: tuple[Job, ...], housekeeping: Housekeeping, does: Does) -> None:
    """Run the jobs until cancelled; cancellation also cancels runs in progress.

    Args:
        housekeeping: records runs and failures.
        does: asked before each run of a job that one node runs for all.
    """
    begun_at = trio.current_time()
    for job in jobs:
        housekeeping.watched(job)
    spread = [
        (job.every_seconds + SPREAD_SECONDS * number / len(jobs), job) for number, job in enumerate(jobs)
    ]
    async with trio.open_nursery() as nursery:
        # A job is a task from its first run on: a start makes, and a stop soon after ends, eighty fewer.
        for first_seconds, job in sorted(spread, key=itemgetter(0)):
            await trio.sleep_until(begun_at + first_seconds)
            nursery.start_soon(_repeat, job, housekeeping, does, name=f"housekeeping: {job.name}")


async def keep_running(task: BackgroundTask, housekeeping: Housekeeping, does: Does) -> None:
    """Run a task until it returns or is cancelled; if it raises, restart it after a pause.

    Args:
        does: says whether this node is the one for a task that one node runs for all.
    """
    if task.one_node:
        await _while_ours(task, housekeeping, does)
    else:
        await _keep_at(task, housekeeping)


async def _while_ours(task: BackgroundTask, housekeeping: Housekeeping, does: Does) -> None:
    """Run the task whenever this node is the one for it."""

    async def until_lost(running: trio.CancelScope) -> None:
        while does(task.name):  # noqa: ASYNC110 — which node owns a shard sets no event
            await trio.sleep(LOOK_SECONDS)
        running.cancel()

    has_ended = False
    while not has_ended:
        if does(task.name):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_lost, nursery.cancel_scope)
                await _keep_at(task, housekeeping)
                has_ended = True
                nursery.cancel_scope.cancel()
        else:
            await trio.sleep(LOOK_SECONDS)


async def _keep_at(task: BackgroundTask, housekeeping: Housekeeping) -> None:
    failures = 0
    while True:
        fault = await _attempt(task.name, task.run, housekeeping)
        if not isinstance(fault, Exception):
            return
        failures += 1
        await trio.sleep(pause_seconds(FIRST_PAUSE_SECONDS, failures, fault))


def pause_seconds(every_seconds: float, failures: int, fault: Exception) -> float:
    """How long a job waits after a failed run.

    Args:
        every_seconds: the job's interval.
        failures: failed runs in a row, 1 and up.
        fault: what the last one raised. If the database is unavailable, the pause is at most the interval, so that the
            job recovers soon after its return; after a bug it may be longer, so that the log does not fill up.
    """
    grown = min(FIRST_PAUSE_SECONDS * 2.0 ** min(failures - 1, 16), LONGEST_PAUSE_SECONDS)
    return min(grown, every_seconds) if _passes(fault) else grown


async def _repeat(job: Job, housekeeping: Housekeeping, does: Does) -> None:
    failures = 0
    while True:
        failures, pause = await _run(job, failures, housekeeping, does)
        await trio.sleep(pause)


async def _run(job: Job, failures: int, housekeeping: Housekeeping, does: Does) -> tuple[int, float]:
    """Run a job, unless another node does; returns how often in a row it has failed now, and the seconds to its next
    run."""
    began_at = trio.current_time()
    if job.one_node and not does(job.name):
        housekeeping.done(job, began_at)  # by another node
        return 0, job.every_seconds
    result = await _attempt(job.name, job.run, housekeeping)
    if isinstance(result, Exception):
        return failures + 1, pause_seconds(job.every_seconds, failures + 1, result)
    if result is False:
        return 0, min(REST_SECONDS, job.every_seconds)
    housekeeping.done(job, began_at)
    return 0, job.every_seconds


async def _attempt(name: str, run: Callable[[], Awaitable[object]], housekeeping: Housekeeping) -> object:
    """What the run returned, or the exception that it raised, logged. Cancellation is not caught."""
    try:
        return await run()
    except Exception as fault:
        housekeeping.failed(name)
        if _passes(fault):
            log.warning("housekeeping put off", job=name, reason=type(fault).__name__)
        else:
            log.exception("housekeeping failed", job=name)
        return fault


def _passes(fault: Exception) -> bool:
    """Whether the cause is outside, such as the database, rather than a bug."""
    if isinstance(fault, ExceptionGroup):
        return all(_passes(one) for one in fault.exceptions)
    return isinstance(fault, (PersistenceError, OSError, Refused))
