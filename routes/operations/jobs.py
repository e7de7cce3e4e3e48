"""Periodic jobs that concern all domains."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from trio.from_thread import check_cancelled
from trio.to_thread import run_sync

from actors.operations.actors import INTERVAL_MS
from actors.operations.history import EVERY_MS
from persistence.archiving.files import FileArchive
from persistence.connection import Connection
from persistence.journal import history, receipts
from routes.allocator import return_free_pages
from routes.changes import reconcile
from routes.disk import archive_of
from routes.jobs import Job, looking, ticking
from routes.operations.parts import CERTIFICATE, CLOCKS, LIVE_ACTORS
from routes.operations.sampling import Sampler
from routes.pruning import Pruning, pages_of, rows_of
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: sample metrics, reconcile unknown outcomes, compare clocks, return free memory, measure tables, prune
    receipts and the journal, take a renewed certificate, copy new files to the archive."""
    now_ms, database = service.clock.now_ms, service.database

    async def expire_receipts(conn: Connection, limit: int) -> int:
        return await receipts.prune(conn, limit, now_ms=now_ms())

    async def prune_journal(
        conn: Connection, after: tuple[str, str] | None, limit: int
    ) -> tuple[str, str] | None:
        return await history.prune(conn, after, limit, now_ms=now_ms())

    certificate = service.of(CERTIFICATE)
    renewals = (
        () if certificate is None else (looking("certificate", 30, partial(run_sync, certificate.renew)),)
    )
    archive = archive_of(service.config)
    archived = (
        ()
        if archive is None
        else (Job("files to the archive", 60, _copying(service.config.shared_dir, archive), one_node=True),)
    )
    return (
        ticking("samples of metrics", EVERY_MS / 1000, Sampler(service).take),
        Job("actors that are watched", INTERVAL_MS / 1000, service.of(LIVE_ACTORS).tick),
        Job("changes whose outcome is unknown", 1, partial(reconcile, service)),
        Job("clocks", 60, service.of(CLOCKS).look),
        Job("free memory", 60, partial(run_sync, return_free_pages)),
        Job("sizes of tables", 60, partial(service.disk.look, database, archive=archive)),
        Job("idempotency receipts", 60, Pruning(rows_of(database, expire_receipts)).run, one_node=True),
        Job("journal", 60, Pruning(pages_of(database, prune_journal)).run, one_node=True),
        *renewals,
        *archived,
    )


def _copying(shared_dir: Path, archive: Path) -> Callable[[], Awaitable[None]]:
    files = FileArchive(shared_dir, archive)

    async def copy() -> None:
        await run_sync(files.copy_new, check_cancelled)

    return copy
