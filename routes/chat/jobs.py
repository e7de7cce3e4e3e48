"""Periodic jobs of chat."""

from functools import partial

import trio

from actors.chat.archive import archive_old
from actors.chat.leavings import drop
from actors.chat.sweeping import sweep, sweep_strays
from actors.time import DAY_MS
from persistence.chat import bounds, leavings
from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.failing import Failing
from routes.chat.parts import BLOBS, CHAT_KINDS
from routes.jobs import Job, OneOfMany
from routes.pruning import EachOf, Pruning, rows_of
from routes.service import Service


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
    if not service.config.archive_after_days:
        return ()
    after_ms, place, reached = service.config.archive_after_days * DAY_MS, "", ""
    failing = Failing()

    def each(conversation_id: str) -> OneOfMany:
        nonlocal reached
        reached = conversation_id
        return OneOfMany("archiving a conversation", conversation_id, failing)

    async def move(limit: int) -> bool:
        nonlocal place, reached
        now_ms, reached = service.clock.now_ms(), ""
        try:
            done = await archive_old(
                service.database, place, now_ms=now_ms, after_ms=after_ms, most=limit, each=each
            )
        except PersistenceError:
            # Where not even one message can be moved in time, it may be this conversation alone.
            place = reached or place if limit == 1 else place
            raise
        place = done.place or ""
        return done.place is not None

    return (Job("archive", 3600, Pruning(move).run, one_node=True),)
