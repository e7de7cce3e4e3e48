"""Periodic jobs of chat."""

from collections.abc import Callable
from functools import partial

import trio

from actors.chat.leavings import drop
from actors.chat.sweeping import sweep, sweep_strays
from actors.kernel.store import Store
from actors.time import DAY_MS
from persistence.chat import archive, bounds, leavings
from persistence.connection import Connection
from routes.chat.parts import BLOBS, CHAT_KINDS
from routes.jobs import Job
from routes.pruning import EachOf, Pruning, RowsOfEach, rows_of
from routes.service import Service

LOOKED_AT = 500
"""Conversations looked at in one read for messages that grew old."""

MOVED = 1_000
"""Messages of one conversation that one transaction archives at most."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: remove what nothing refers to any longer, and archive old messages if that is configured."""
    now_ms, database = service.clock.now_ms, service.database

    async def sweep_attachments() -> None:
        await sweep(database, service.of(BLOBS), trio.to_thread.run_sync, now_ms=now_ms())

    async def sweep_stray_files() -> None:
        await sweep_strays(database, service.of(BLOBS), trio.to_thread.run_sync, now_ms=now_ms())

    async def forget_additions(conn: Connection, limit: int) -> int:
        return await bounds.prune(conn, now_ms(), limit=limit)

    return (
        Job("groups that everybody has left", 60, Pruning(_left(service).take, most=100).run),
        Job("attachments that nothing shows", 60, sweep_attachments, one_node=True),
        Job("files without an attachment", 3600, sweep_stray_files, one_node=True),
        Job("additions to groups", 60, Pruning(rows_of(database, forget_additions)).run, one_node=True),
        *_archiving(service),
    )


def _left(service: Service) -> EachOf[str]:
    """Deletes conversations without members, each node those whose actors would be here and are not live."""
    system, kind = service.system, service.of(CHAT_KINDS).conversation

    async def page(after_id: str | None, limit: int) -> list[str]:
        return await service.database.read(partial(leavings.abandoned, after_id=after_id or ""), limit)

    async def drop_unless_live(conversation_id: str) -> None:
        if not system.routing.is_far(kind, conversation_id) and system.peek(kind, conversation_id) is None:
            await drop(service.database, conversation_id)

    return EachOf(page, drop_unless_live, doing="deleting a conversation", about=str)


def _archiving(service: Service) -> tuple[Job, ...]:
    days = service.config.archive_after_days
    if not days:
        return ()
    growing_old = archiving(service.database, lambda: service.clock.now_ms() - days * DAY_MS)
    return (Job("archive", 3600, Pruning(growing_old.take).run, one_node=True),)


def archiving(database: Store, before_ms: Callable[[], int]) -> RowsOfEach[str]:
    """Moves old messages into the archive, but never the newest 120 of a conversation.

    Args:
        before_ms: returns when messages were sent that are old by now: before this moment, epoch milliseconds.
    """

    async def page(conn: Connection, after_id: str | None) -> tuple[list[str], str | None]:
        return await archive.overgrown(conn, after_id, LOOKED_AT, before_ms=before_ms())

    async def move(conn: Connection, conversation_id: str, limit: int) -> int:
        return await archive.move_old(conn, conversation_id, before_ms=before_ms(), limit=min(limit, MOVED))

    return RowsOfEach(database, page, move, doing="archiving a conversation", about=str)
