"""Periodic jobs of chat."""

import trio

from actors.chat.archive import archive_old
from actors.chat.leavings import sweep_leavings
from actors.chat.sweeping import sweep, sweep_strays
from actors.time import DAY_MS
from persistence.chat import bounds
from persistence.connection import Connection
from routes.chat.parts import BLOBS, CHAT_KINDS
from routes.jobs import Job
from routes.pruning import Pruning, rows_of
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: remove what nothing refers to any longer, and archive old messages if that is configured."""
    now_ms, database = service.clock.now_ms, service.database

    async def sweep_empty_groups() -> None:
        system, kind = service.system, service.of(CHAT_KINDS).conversation
        await sweep_leavings(database, lambda id: system.peek(kind, id) is not None)

    async def sweep_attachments() -> None:
        await sweep(database, service.of(BLOBS), trio.to_thread.run_sync, now_ms=now_ms())

    async def sweep_stray_files() -> None:
        await sweep_strays(database, service.of(BLOBS), trio.to_thread.run_sync, now_ms=now_ms())

    async def forget_additions(conn: Connection, limit: int) -> int:
        return await bounds.prune(conn, now_ms(), limit=limit)

    return (
        Job("groups that everybody has left", 60, sweep_empty_groups, one_node=True),
        Job("attachments that nothing shows", 60, sweep_attachments, one_node=True),
        Job("files without an attachment", 3600, sweep_stray_files, one_node=True),
        Job("additions to groups", 60, Pruning(rows_of(database, forget_additions)).run, one_node=True),
        *_archiving(service),
    )


def _archiving(service: Service) -> tuple[Job, ...]:
    if not service.config.archive_after_days:
        return ()
    after_ms, place = service.config.archive_after_days * DAY_MS, ""

    async def move(limit: int) -> bool:
        nonlocal place
        now_ms = service.clock.now_ms()
        done = await archive_old(service.database, place, now_ms=now_ms, after_ms=after_ms, most=limit)
        place = done.place or ""
        return done.place is not None

    return (Job("archive", 3600, Pruning(move).run, one_node=True),)
