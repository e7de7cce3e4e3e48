"""Attachments' rows. The bytes lie in the blob store under their hash; several rows may share them."""

from collections.abc import Sequence

from persistence.chat.rows import AttachmentRow
from persistence.connection import Connection
from persistence.turn import Statement


async def used_bytes(conn: Connection, uploader_id: str) -> int:
    """Decoded bytes of everything that the user has uploaded and that is still kept."""
    found = await conn.fetchval(
        "SELECT coalesce(sum(size_bytes), 0)::bigint FROM attachments WHERE uploader_id = $1", uploader_id
    )
    return int(found)


async def add(conn: Connection, row: AttachmentRow, *, quota_bytes: int) -> bool:
    """Store the row if the uploader's quota allows it, inside a transaction; the blob must be durable
    already.

    Uploads of one user wait for each other, so that two cannot slip under the quota together.

    Returns: False when it would exceed `quota_bytes`; then nothing is stored.
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 2))", row.uploader_id)
    if await used_bytes(conn, row.uploader_id) + row.size_bytes > quota_bytes:
        return False
    await conn.execute(
        """
        INSERT INTO attachments
               (id, conversation_id, uploader_id, file_name, content_type, size_bytes, sha256, created_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
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
    return True


async def by_ids(conn: Connection, conversation_id: str, ids: Sequence[str]) -> list[AttachmentRow]:
    """Those of the named attachments that belong to this conversation."""
    rows = await conn.fetch(
        """
        SELECT id, conversation_id, uploader_id, file_name, content_type, size_bytes, sha256, created_at_ms,
               used_at_ms, message_id
        FROM attachments WHERE id = ANY($2::text[]) AND conversation_id = $1
        """,
        conversation_id,
        list(ids),
    )
    return [AttachmentRow(*row) for row in rows]


_USE = """
UPDATE attachments a SET message_id = n.message_id, used_at_ms = n.used_at_ms
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS n (id, message_id, used_at_ms) WHERE a.id = n.id
"""


def using(rows: Sequence[tuple[str, str, int]]) -> Statement:
    """Binds (attachment id, message id, used at ms) for good."""
    return Statement(_USE, list(zip(*rows, strict=True)))


async def use(conn: Connection, rows: Sequence[tuple[str, str, int]]) -> None:
    """Bind (attachment id, message id, used at ms) for good."""
    statement = using(rows)
    await conn.execute(statement.sql, *statement.columns)


async def drop_of_messages(conn: Connection, message_ids: Sequence[str]) -> None:
    """Forget the attachments of deleted messages; their blobs become orphans."""
    await conn.execute("DELETE FROM attachments WHERE message_id = ANY($1::text[])", list(message_ids))


async def drop_unused(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Forget attachments that no message has used since before a moment, at most `limit`; returns how many."""
    tag = await conn.execute(
        """
        DELETE FROM attachments WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM attachments WHERE used_at_ms IS NULL AND created_at_ms < $1
            ORDER BY created_at_ms LIMIT $2
        )) AND used_at_ms IS NULL
        """,
        before_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])


async def known(conn: Connection, hashes: Sequence[bytes]) -> set[bytes]:
    """Those of the hashes that some attachment still shows."""
    rows = await conn.fetch(
        "SELECT DISTINCT sha256 FROM attachments WHERE sha256 = ANY($1::bytea[])", list(hashes)
    )
    return {bytes(row["sha256"]) for row in rows}
