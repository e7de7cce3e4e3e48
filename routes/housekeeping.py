"""What must happen now and then: each job in its own task, its own beat, and no job hurts another.

A database that is away makes a job wait for its next turn; anything else that a job raises is a fault of ours and
ends the process, so that it is seen.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
import trio

from persistence.errors import PersistenceError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Job:
    """Something done over and over.

    Args:
        name: for the log.
        every_seconds: the pause after one run and before the next.
        run: what is done; raises PersistenceError when the database is away.
    """

    name: str
    every_seconds: float
    run: Callable[[], Awaitable[object]]


def ticking(name: str, every_seconds: float, tick: Callable[[], None]) -> Job:
    """A job that never waits.

    Args:
        name, every_seconds: as in `Job`.
        tick: what is done.
    """

    async def run() -> None:
        tick()

    return Job(name, every_seconds, run)


async def keep_house(jobs: tuple[Job, ...]) -> None:
    """Run the jobs until cancelled; a run that is under way is cancelled with the rest."""
    async with trio.open_nursery() as nursery:
        for job in jobs:
            nursery.start_soon(_repeat, job, name=f"housekeeping: {job.name}")


async def _repeat(job: Job) -> None:
    while True:
        await trio.sleep(job.every_seconds)
        try:
            await job.run()
        except (PersistenceError, OSError) as fault:
            log.warning("housekeeping put off", job=job.name, reason=type(fault).__name__)
