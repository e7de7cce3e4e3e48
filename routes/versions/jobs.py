"""Periodic jobs of releases: counts are written, and old ones deleted."""

from functools import partial

from actors.time import DAY_MS
from persistence.connection import Connection
from persistence.versions.counts import add_counts, prune_counts
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.pruning import Pruning, rows_of
from routes.service import Service
from routes.versions.events import KEPT_DAYS
from routes.versions.parts import TALLY


def jobs_of(service: Service) -> tuple[Job, ...]:
    """All jobs of releases."""

    async def old_counts(conn: Connection, limit: int) -> int:
        before_day = service.clock.now_ms() // DAY_MS - KEPT_DAYS
        return await prune_counts(conn, limit, before_day=before_day)

    return (
        Job("events of releases", 1, partial(write_counts, service)),
        Job("old events of releases", 3600, Pruning(rows_of(service.database, old_counts)).run),
    )


async def write_counts(service: Service) -> None:
    """Write what was counted since the last time.

    Raises:
        PersistenceError: nothing was written, or that is not known; it is counted once more.
    """
    with service.of(TALLY).taken() as counts:
        if counts:
            await change_by_itself(service, add_counts, counts, about=None)
