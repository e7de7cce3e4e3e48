"""What must happen now and then: each job in its own task, its own beat, and no job hurts another, or the process.

Whatever a run raises is logged and counted, and the job has its next turn: soon when the database is away, after a
growing pause when it is a fault of ours. Tasks that run for as long as the service (`BackgroundTask`) are started again
by the same rule. What may still end the process is listed in ARCHITECTURE.md.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import structlog
import trio

from actors.errors import Refused
from persistence.errors import PersistenceError

FIRST_PAUSE_SECONDS = 1.0
"""After the first failure in a row; doubles with each."""

LONGEST_PAUSE_SECONDS = 60.0

REST_SECONDS = 1.0
"""Between two runs of a job that has left something for its next."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Job:
    """Something done over and over.

    Args:
        name: for the log and the metrics; unique.
        every_seconds: the pause after one run and before the next.
        run: what is done; returns False when something is left that is due already, anything else when all is done.
    """

    name: str
    every_seconds: float
    run: Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """Something that runs for as long as the service.

    Args:
        name: for the log and the metrics; unique, among jobs too.
        run: begins anew when it is called again.
    """

    name: str
    run: Callable[[], Awaitable[None]]


class Housekeeping:
    """What became of the jobs so far.

    Args:
        now: monotonic seconds; trio's clock by default.
    """

    def __init__(self, now: Callable[[], float] = trio.current_time) -> None:
        self._now = now
        self._failures: dict[str, int] = {}
        self._done_at: dict[str, float] = {}

    @property
    def failures(self) -> Mapping[str, int]:
        """{name: runs that failed}."""
        return MappingProxyType(self._failures)

    def behind_seconds(self) -> dict[str, float]:
        """{name of a job: how long ago the run began after which nothing was left that had been due}.

        So nothing is overdue for longer than this; a job that is well stays below its beat and the length of a run.
        """
        now = self._now()
        return {name: now - at for name, at in self._done_at.items()}

    def watched(self, job: Job) -> None:
        """From now on the job's time counts."""
        self._done_at[job.name] = self._now()
        self._failures.setdefault(job.name, 0)

    def done(self, job: Job, began_at: float) -> None:
        """A run has left nothing."""
        self._done_at[job.name] = began_at

    def failed(self, name: str) -> None:
        """A run has failed."""
        self._failures[name] = self._failures.get(name, 0) + 1


def ticking(name: str, every_seconds: float, tick: Callable[[], None]) -> Job:
    """A job that never waits.

    Args:
        name, every_seconds: as in `Job`.
        tick: what is done.
    """

    async def run() -> None:
        tick()

    return Job(name, every_seconds, run)


async def keep_house(jobs: tuple[Job, ...], housekeeping: Housekeeping) -> None:
    """Run the jobs until cancelled; a run that is under way is cancelled with the rest.

    Args:
        housekeeping: told what becomes of them.
    """
    async with trio.open_nursery() as nursery:
        for job in jobs:
            housekeeping.watched(job)
            nursery.start_soon(_repeat, job, housekeeping, name=f"housekeeping: {job.name}")


async def keep_running(task: BackgroundTask, housekeeping: Housekeeping) -> None:
    """Run it until it ends by itself or is cancelled; what it raises begins it anew after a pause."""
    failures = 0
    while True:
        fault = await _attempt(task.name, task.run, housekeeping)
        if not isinstance(fault, Exception):
            return
        failures += 1
        await trio.sleep(pause_seconds(FIRST_PAUSE_SECONDS, failures, fault))


def pause_seconds(every_seconds: float, failures: int, fault: Exception) -> float:
    """How long a job waits after a run that failed.

    Args:
        every_seconds: its beat.
        failures: runs that failed in a row, 1 and up.
        fault: of the last. A database that is away costs nobody more than the beat, so that everything heals soon
            after its return; a fault of ours would fill the log.
    """
    grown = min(FIRST_PAUSE_SECONDS * 2.0 ** min(failures - 1, 16), LONGEST_PAUSE_SECONDS)
    return min(grown, every_seconds) if _passes(fault) else grown


async def _repeat(job: Job, housekeeping: Housekeeping) -> None:
    failures, pause = 0, job.every_seconds
    while True:
        await trio.sleep(pause)
        began_at = trio.current_time()
        result = await _attempt(job.name, job.run, housekeeping)
        if isinstance(result, Exception):
            failures += 1
            pause = pause_seconds(job.every_seconds, failures, result)
            continue
        failures = 0
        if result is False:
            pause = min(REST_SECONDS, job.every_seconds)
        else:
            housekeeping.done(job, began_at)
            pause = job.every_seconds


async def _attempt(name: str, run: Callable[[], Awaitable[object]], housekeeping: Housekeeping) -> object:
    """What the run returned, or the exception that it raised. Cancellation passes."""
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
    """Whether it says that the world is not ready for us, rather than that we are wrong."""
    if isinstance(fault, ExceptionGroup):
        return all(_passes(one) for one in fault.exceptions)
    return isinstance(fault, (PersistenceError, OSError, Refused))
