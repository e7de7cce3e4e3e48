"""Archived messages: imported history, and messages that grew old; both lie in `archived_messages`, ordered by
`created_at_ms`.

No two messages of a conversation, live or archived, share a millisecond: `beforeMs` could not be exact otherwise.
This module is the one writer beside the actors of what they show, so live actors learn of its changes by a NOTIFY.
"""

from collections.abc import Sequence

from persistence.chat import member_locks
from persistence.chat.rows import ArchiveRow, PageRow
from persistence.connection import Connection

CHANNEL = "partyline_archive"
"""The NOTIFY channel; its payload is the conversation's id."""

MADE_CHANNEL = "partyline_archive_home"
"""The NOTIFY channel of conversations that an import has made; its payload is the conversation's id."""

KEPT_LIVE = 120
"""How many of a conversation's newest messages are never moved, because its actor holds them in memory."""


async def tails_of(conn: Connection, conversation_ids: Sequence[str], limit: int) -> dict[str, list[PageRow]]:
    """{conversation id: its newest archived messages, at most `limit`, oldest first}."""
    rows = await conn.fetch(
        """
        SELECT newest.* FROM unnest($1::text[]) AS wanted (id) CROSS JOIN LATERAL (
            SELECT conversation_id, id, created_at_ms, record, has_poll FROM archived_messages
            WHERE conversation_id = wanted.id ORDER BY created_at_ms DESC LIMIT $2
        ) AS newest ORDER BY newest.conversation_id, newest.created_at_ms
        """,
        conversation_ids,
        limit,
    )
    found: dict[str, list[PageRow]] = {id: [] for id in conversation_ids}
    for conversation_id, id, created_at_ms, record, has_poll in rows:
        found[conversation_id].append(PageRow(id, created_at_ms, record, has_poll, None))
    return found


async def among(conn: Connection, conversation_id: str, ids: Sequence[str]) -> frozenset[str]:
    """Those of the message ids that are archived in this conversation."""
    # Found by their ids alone, as in `messages.by_ids`.
    rows = await conn.fetch(
        "SELECT id FROM archived_messages WHERE id = ANY($2::text[]) AND conversation_id || '' = $1",
        conversation_id,
        list(ids),
    )
    return frozenset(row["id"] for row in rows)


async def taken_ms(
    conn: Connection, conversation_id: str, moments_ms: Sequence[int], *, span_ms: int
) -> set[int]:
    """Milliseconds from each given one on that messages of the conversation already have.

    Args:
        moments_ms: epoch milliseconds.
        span_ms: how far after each moment to look.
    """
    rows = await conn.fetch(
        """
        SELECT t.created_at_ms FROM unnest($2::bigint[]) AS n (ms) CROSS JOIN LATERAL (
            SELECT created_at_ms FROM messages
            WHERE conversation_id = $1 AND created_at_ms BETWEEN n.ms AND n.ms + $3
            UNION ALL
            SELECT created_at_ms FROM archived_messages
            WHERE conversation_id = $1 AND created_at_ms BETWEEN n.ms AND n.ms + $3
        ) AS t
        """,
        conversation_id,
        list(moments_ms),
        span_ms,
    )
    return {row["created_at_ms"] for row in rows}


async def present(conn: Connection, ids: Sequence[str]) -> set[str]:
    """Those of the message ids that exist, live or archived, in any conversation."""
    rows = await conn.fetch(
        """
        SELECT id FROM messages WHERE id = ANY($1::text[])
        UNION SELECT id FROM archived_messages WHERE id = ANY($1::text[])
        """,
        list(ids),
    )
    return {row["id"] for row in rows}


async def lock(conn: Connection, conversation_id: str) -> None:
    """Serialise imports into one conversation, until the end of the transaction."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 3))", conversation_id)


async def store(conn: Connection, rows: Sequence[ArchiveRow]) -> None:
    """Add history; ids and milliseconds must be free. Live actors are notified at the commit."""
    await conn.execute(
        """
        INSERT INTO archived_messages (conversation_id, created_at_ms, id, record)
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[])
        """,
        [row.conversation_id for row in rows],
        [row.created_at_ms for row in rows],
        [row.id for row in rows],
        [row.record for row in rows],
    )
    for conversation_id in sorted({row.conversation_id for row in rows}):
        await conn.execute("SELECT pg_notify($1, $2)", CHANNEL, conversation_id)


async def tell_made(conn: Connection, conversation_id: str) -> None:
    """Notify every process, at the commit, of a conversation that an import has made, so that its members see it."""
    await conn.execute("SELECT pg_notify($1, $2)", MADE_CHANNEL, conversation_id)


async def overgrown(
    conn: Connection, after: str | None, limit: int, *, before_ms: int
) -> tuple[list[str], str | None]:
    """Those among the next conversations that hold messages to be archived: older than a moment, and not
    among the newest 120.

    Args:
        after: the last conversation of the page before; None from the start.
        limit: conversations on the page.
        before_ms: epoch milliseconds.

    Returns:
        Their ids, and where the next page starts; None after the last.
    """
    page = await conn.fetch(
        """
        SELECT c.id, EXISTS (
            SELECT FROM messages m WHERE m.conversation_id = c.id AND m.created_at_ms < $2 AND NOT m.poll_open
              AND m.seq <= (SELECT n.seq FROM messages n WHERE n.conversation_id = c.id
                            ORDER BY n.seq DESC OFFSET $3 LIMIT 1)
        ) AS overgrown FROM (SELECT id FROM conversations WHERE id > $1 ORDER BY id LIMIT $4) AS c ORDER BY c.id
        """,
        after or "",
        before_ms,
        KEPT_LIVE,
        limit,
    )
    return [row["id"] for row in page if row["overgrown"]], page[-1]["id"] if len(page) >= limit else None


async def move_old(conn: Connection, conversation_id: str, *, before_ms: int, limit: int) -> int:
    """Move old messages of one conversation into the archive, inside a transaction; returns how many.

    Messages with an open poll stay. The number of messages that a member has sent is saved in their row, so that
    unread counts stay correct. The members are locked before the messages, as where the writer changes both.

    Args:
        before_ms: only messages older than this, epoch milliseconds.
        limit: messages to move at most.
    """
    await member_locks.hold_all(conn, conversation_id)
    moved = await conn.fetchval(
        """
        WITH moved AS (
            DELETE FROM messages WHERE conversation_id = $1 AND seq IN (
                SELECT m.seq FROM messages m
                WHERE m.conversation_id = $1 AND m.created_at_ms < $2 AND NOT m.poll_open
                  AND m.seq <= (SELECT n.seq FROM messages n WHERE n.conversation_id = $1
                                ORDER BY n.seq DESC OFFSET $3 LIMIT 1)
                ORDER BY m.seq LIMIT $4
            )
            RETURNING conversation_id, created_at_ms, id, seq, sender_id, sender_seq, record, has_poll
        ), kept AS (
            INSERT INTO archived_messages (conversation_id, created_at_ms, id, record, has_poll)
            SELECT conversation_id, created_at_ms, id,
                   convert_to(replace(convert_from(record, 'UTF8'), '"source":"live"', '"source":"archived"'),
                              'UTF8'),
                   has_poll
            FROM moved
        ), counted AS (
            UPDATE conversation_members m SET sent = greatest(m.sent, n.sent)
            FROM (SELECT x.sender_id, max(x.sender_seq) AS sent
                  FROM moved x JOIN conversation_members j
                    ON j.conversation_id = $1 AND j.user_id = x.sender_id AND x.seq > j.joined_seq
                  GROUP BY x.sender_id) AS n
            WHERE m.conversation_id = $1 AND m.user_id = n.sender_id
        )
        SELECT count(*) FROM moved
        """,
        conversation_id,
        before_ms,
        KEPT_LIVE,
        limit,
    )
    if moved:
        await conn.execute("SELECT pg_notify($1, $2)", CHANNEL, conversation_id)
    return int(moved)
