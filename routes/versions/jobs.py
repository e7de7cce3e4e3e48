"""Periodic jobs of releases: write counts, delete old ones, and remove files that no release has."""

from functools import partial

import trio

from actors.ids import new_object_id
from actors.time import DAY_MS
from actors.versions.units_content import sweep
from persistence.connection import Connection
from persistence.versions.counts import add_counts, prune_batches, prune_counts
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.pruning import Pruning, rows_of
from routes.service import Service
from routes.versions.events import KEPT_DAYS
from routes.versions.hosted import HOSTED_FILES
from routes.versions.parts import TALLY


def jobs_of(service: Service) -> tuple[Job, ...]:
    """All jobs of releases."""

    async def old_counts(conn: Connection, limit: int) -> int:
        before_day = service.clock.now_ms() // DAY_MS - KEPT_DAYS
        return await prune_counts(conn, limit, before_day=before_day)

    async def old_batches(conn: Connection, limit: int) -> int:
        return await prune_batches(conn, limit, before_ms=service.clock.now_ms() - DAY_MS)

    async def sweep_files() -> None:
        blobs, now_ms = service.of(HOSTED_FILES).blobs, service.clock.now_ms()
        await sweep(service.database, blobs, trio.to_thread.run_sync, now_ms=now_ms)

    return (
        Job("events of releases", 1, partial(write_counts, service)),
        Job(
            "old events of releases", 3600, Pruning(rows_of(service.database, old_counts)).run, one_node=True
        ),
        Job(
            "old batches of events", 3600, Pruning(rows_of(service.database, old_batches)).run, one_node=True
        ),
        Job("files without a release", 3600, sweep_files, one_node=True),
    )


async def write_counts(service: Service) -> None:
    """Write what was counted since the last call.

    Raises:
        PersistenceError: nothing was written, or that is not known; the next call writes the same, which counts once.
    """
    tally, now_ms = service.of(TALLY), service.clock.now_ms()
    batch = tally.batch(new_object_id(now_ms, service.random_bytes))
    if batch is not None:
        await change_by_itself(service, add_counts, batch, now_ms, about=None)
        tally.written()
