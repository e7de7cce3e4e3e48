"""Attachments' rows. The bytes lie in the blob store under their hash; several rows may share them.

    reserved ──bytes written──▶ kept ──nothing shows it──▶ freed ──bytes removed──▶ gone ──a day after──▶ no row
        └───────upload failed, or never ended──────────────▲

A row that is not `gone` counts against its uploader's quota, so that the quota bounds what is on the disk. A `gone`
row counts only towards what was uploaded on its day. From `freed` on the row holds nothing that the user has given.
"""

from collections.abc import Sequence
from typing import Literal

from persistence.chat.rows import AttachmentRow
from persistence.connection import Connection
from persistence.journal.turn import Statement

Bound = Literal["quota", "files", "day"]
"""The limit that an upload would exceed."""


async def reserve(
    conn: Connection,
    row: AttachmentRow,
    *,
    quota_bytes: int,
    most_files: int,
    day_bytes: int,
    day_began_ms: int,
) -> Bound | None:
    """Reserve room for bytes that are about to be written, inside a transaction; to be followed by
    `keep` or `release`.

    Uploads of one user are serialised, so that two cannot exceed a bound together.

    Args:
        quota_bytes: the most bytes of the user's attachments that are not gone.
        most_files: the most attachments of the user that are not gone.
        day_bytes: the most bytes that the user may upload since `day_began_ms`, including deleted ones.
        day_began_ms: when the present day began, epoch milliseconds.

    Returns:
        The bound that it would exceed, and then nothing is stored; else None.
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 2))", row.uploader_id)
    used = await conn.fetchrow(
        """
        SELECT coalesce(sum(size_bytes) FILTER (WHERE state <> 'gone'), 0)::bigint AS kept,
               count(*) FILTER (WHERE state <> 'gone') AS files,
               coalesce(sum(size_bytes) FILTER (WHERE created_at_ms > $2), 0)::bigint AS of_day
        FROM attachments WHERE uploader_id = $1
        """,
        row.uploader_id,
        day_began_ms,
    )
    if used is not None and used["kept"] + row.size_bytes > quota_bytes:
        return "quota"
    if used is not None and used["files"] >= most_files:
        return "files"
    if used is not None and used["of_day"] + row.size_bytes > day_bytes:
        return "day"
    await conn.execute(
        """
        INSERT INTO attachments (id, conversation_id, uploader_id, file_name, content_type, size_bytes, sha256,
                                 created_at_ms, state)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'reserved')
        """,
        row.id,
        row.conversation_id,
        row.uploader_id,
        row.file_name,
        row.content_type,
        row.size_bytes,
        row.sha256,
        row.created_at_ms,
    )
    return None


async def keep(conn: Connection, id: str) -> bool:
    """Note that the bytes of a reservation are durable; False when the reservation no longer exists."""
    tag = await conn.execute("UPDATE attachments SET state = 'kept' WHERE id = $1 AND state = 'reserved'", id)
    return tag == "UPDATE 1"


# What the user has given is cleared at once; the digest stays until the bytes are gone, to find them.
FREE = """
UPDATE attachments SET state = 'freed', conversation_id = '', file_name = '', content_type = '', message_id = NULL
"""


UNUSED = """
WHERE id IN (
    SELECT id FROM attachments
    WHERE used_at_ms IS NULL AND state IN ('reserved', 'kept')
      AND created_at_ms < CASE state WHEN 'kept' THEN $1::bigint ELSE $2::bigint END
    LIMIT $3
) AND used_at_ms IS NULL AND state IN ('reserved', 'kept')
"""


async def release(conn: Connection, id: str) -> None:
    """Give up a reservation whose upload has failed; without effect on one that was kept."""
    await conn.execute(f"{FREE} WHERE id = $1 AND state = 'reserved'", id)


async def by_ids(conn: Connection, conversation_id: str, ids: Sequence[str]) -> list[AttachmentRow]:
    """Those of the named attachments that are kept in this conversation."""
    # Found by their ids alone, as in `messages.by_ids`.
    rows = await conn.fetch(
        """
        SELECT id, conversation_id, uploader_id, file_name, content_type, size_bytes, sha256, created_at_ms,
               used_at_ms, message_id
        FROM attachments WHERE id = ANY($2::text[]) AND conversation_id || '' = $1 AND state = 'kept'
        """,
        conversation_id,
        list(ids),
    )
    return [AttachmentRow(*row) for row in rows]


_USE = """
UPDATE attachments a SET message_id = n.message_id, used_at_ms = n.used_at_ms
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS n (id, message_id, used_at_ms)
WHERE a.id = n.id AND a.state = 'kept'
"""


def using(rows: Sequence[tuple[str, str, int]]) -> Statement:
    """The statement that binds attachments to messages for good.

    Args:
        rows: (attachment id, message id, time of use in epoch milliseconds).
    """
    return Statement(_USE, list(zip(*rows, strict=True)))


async def use(conn: Connection, rows: Sequence[tuple[str, str, int]]) -> None:
    """Bind attachments to messages for good.

    Args:
        rows: (attachment id, message id, time of use in epoch milliseconds).
    """
    statement = using(rows)
    await conn.execute(statement.sql, *statement.parameters)


async def free_of_messages(conn: Connection, message_ids: Sequence[str]) -> None:
    """Free the attachments of deleted messages; the next sweep removes their bytes."""
    await conn.execute(f"{FREE} WHERE message_id = ANY($1::text[]) AND state = 'kept'", list(message_ids))


async def free_of_uploader(conn: Connection, uploader_id: str) -> None:
    """Free everything that a user has uploaded; the next sweep removes the bytes."""
    await conn.execute(f"{FREE} WHERE uploader_id = $1 AND state IN ('reserved', 'kept')", uploader_id)


async def free_of_conversation(conn: Connection, conversation_id: str) -> None:
    """Free everything that was uploaded to a conversation; the next sweep removes the bytes."""
    await conn.execute(
        f"{FREE} WHERE conversation_id = $1 AND state IN ('reserved', 'kept')", conversation_id
    )


async def free_unused(conn: Connection, *, kept_before_ms: int, reserved_before_ms: int, limit: int) -> int:
    """Free attachments that no message uses, and reservations whose upload never ended; returns how many.

    Args:
        kept_before_ms, reserved_before_ms: only those uploaded before these moments, epoch milliseconds.
        limit: at most so many.
    """
    tag = await conn.execute(
        f"{FREE}{UNUSED}",
        kept_before_ms,
        reserved_before_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])


async def freed(conn: Connection, *, after_id: str, limit: int) -> list[tuple[str, bytes]]:
    """(id, SHA-256) of the next freed attachments, whose bytes may be removed, in the order of their ids.

    Args:
        after_id: the last id of the page before; "" from the start.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT id, sha256 FROM attachments WHERE state = 'freed' AND id > $1 ORDER BY id LIMIT $2",
        after_id,
        limit,
    )
    return [(row["id"], row["sha256"]) for row in rows]


async def needed(conn: Connection, hashes: Sequence[bytes]) -> set[bytes]:
    """Those of the hashes (SHA-256) whose bytes a reserved or kept attachment needs."""
    rows = await conn.fetch(
        """
        SELECT DISTINCT sha256 FROM attachments
        WHERE sha256 = ANY($1::bytea[]) AND state IN ('reserved', 'kept')
        """,
        list(hashes),
    )
    return {bytes(row["sha256"]) for row in rows}


async def spoken_of(conn: Connection, hashes: Sequence[bytes]) -> set[bytes]:
    """Those of the hashes (SHA-256) that any row has, whatever its state."""
    rows = await conn.fetch(
        "SELECT DISTINCT sha256 FROM attachments WHERE sha256 = ANY($1::bytea[])", list(hashes)
    )
    return {bytes(row["sha256"]) for row in rows}


async def end(conn: Connection, ids: Sequence[str]) -> None:
    """Mark freed attachments as gone: their bytes are removed, or needed by other rows alone, and count
    against no quota.
    """
    await conn.execute(
        "UPDATE attachments SET state = 'gone', sha256 = NULL WHERE id = ANY($1::text[]) AND state = 'freed'",
        list(ids),
    )


async def forget_gone(conn: Connection, *, before_ms: int, limit: int) -> int:
    """Delete the rows of gone attachments that were uploaded before a moment; returns how many.

    Args:
        before_ms: epoch milliseconds.
        limit: at most so many.
    """
    tag = await conn.execute(
        """
        DELETE FROM attachments WHERE id IN (
            SELECT id FROM attachments WHERE state = 'gone' AND created_at_ms < $1 LIMIT $2
        )
        """,
        before_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])
