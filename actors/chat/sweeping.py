"""Removing from the disk what no message shows (contract §4): uploads that were not used, files of deleted messages.

A row is `freed` first and its bytes go afterwards, so that a crash in between only leaves work for the next sweep.
Bytes that another row shows stay, and are that user's alone then.
"""

from functools import partial

from actors.chat.rules_messages import UNUSED_ATTACHMENT_MS
from actors.in_thread import InThread
from actors.kernel.store import Store
from actors.time import DAY_MS
from persistence.blobs import RENEWED_SECONDS, STRAY_SECONDS, Blobs
from persistence.chat import attachments
from persistence.connection import Connection

RESERVED_MS = 15 * 60 * 1000
"""After this time an upload that has not ended is given up: no request lives so long."""

_AT_ONCE = 500
_GRACE_MS = 5 * 60 * 1000  # a message that was decided just before the deadline commits before the sweep


async def sweep(database: Store, blobs: Blobs, in_thread: InThread, *, now_ms: int) -> int:
    """Free uploads that no message has used, and remove the bytes of all freed attachments, in several transactions.

    Returns: of how many attachments the bytes were removed. Cancellation leaves nothing half-done.
    """
    while await database.transact(_free_unused, now_ms) == _AT_ONCE:
        pass
    before_seconds = now_ms / 1000 - RENEWED_SECONDS
    ended, after_id = 0, ""
    while some := await database.read(partial(attachments.freed, after_id=after_id, limit=_AT_ONCE)):
        after_id = some[-1][0]
        needed = await database.read(attachments.needed, [digest for _, digest in some])
        orphans = {digest for _, digest in some} - needed
        gone = await in_thread(partial(blobs.drop, orphans, before_seconds=before_seconds))
        ids = [id for id, digest in some if digest in needed or digest in gone]
        if ids:
            await database.transact(attachments.end, ids)
        ended += len(ids)
    while await database.transact(_forget_gone, now_ms) == _AT_ONCE:
        pass
    return ended


async def sweep_strays(database: Store, blobs: Blobs, in_thread: InThread, *, now_ms: int) -> int:
    """Remove files that no row has named for a day: remnants of crashes and of earlier versions.

    Returns: how many files were removed. It looks at every file, so it is not done often.
    """
    before_seconds = now_ms / 1000 - STRAY_SECONDS
    old = sorted(await in_thread(lambda: set(blobs.older_than(before_seconds))))
    removed = 0
    for start in range(0, len(old), _AT_ONCE):
        some = old[start : start + _AT_ONCE]
        spoken_of = await database.read(attachments.spoken_of, some)
        strays = set(some) - spoken_of
        removed += len(await in_thread(partial(blobs.drop, strays, before_seconds=before_seconds)))
    return removed


async def _free_unused(conn: Connection, now_ms: int) -> int:
    return await attachments.free_unused(
        conn,
        kept_before_ms=now_ms - UNUSED_ATTACHMENT_MS - _GRACE_MS,
        reserved_before_ms=now_ms - RESERVED_MS,
        limit=_AT_ONCE,
    )


async def _forget_gone(conn: Connection, now_ms: int) -> int:
    return await attachments.forget_gone(conn, before_ms=now_ms - DAY_MS, limit=_AT_ONCE)
