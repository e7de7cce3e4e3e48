"""Messages and their revisions. `record` is opaque here, but for one word: `"source":"live"` cannot stand inside a
JSON string unescaped, so the archive may replace it as text.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from persistence.chat.rows import MessageRow, PageRow, RevisionRow
from persistence.connection import Connection, Row
from persistence.errors import RowsRejected
from persistence.journal.turn import Statement

_COLUMNS = """
    conversation_id, seq, id, created_at_ms, sender_id, sender_seq, client_message_id, record, has_poll,
    poll_open, poll_expires_at_ms
"""

# Always true, and never evaluated beyond the OR. PostgreSQL expects one message of a sender in a conversation, so that
# the index of all of them seemed as good as the one of client ids, and each message of a busy sender read all former
# ones. The index of client ids implies this; the other would have to look at it, which is said to be dear.
_HAS_CLIENT_ID = """(
    client_message_id IS NOT NULL
    OR to_tsvector('simple', client_message_id) @@ to_tsquery('simple', client_message_id)
)"""

REVISIONS_KEPT = 50
"""How many former texts of one message are kept: the first and the newest."""

LAST_MS = 2**62
"""Later than every message: the cursor of the newest page."""


_INSERT = f"""
INSERT INTO messages ({_COLUMNS})
SELECT * FROM unnest($1::message_row[])
"""  # noqa: S608 - constants only

_values = attrgetter(*MessageRow.__struct_fields__)


def insertion(rows: Sequence[MessageRow]) -> Statement:
    """The statement that `insert` runs."""
    return Statement(_INSERT, [list(map(_values, rows))])


async def insert(conn: Connection, rows: Sequence[MessageRow]) -> None:
    """Store new messages, of any number of conversations."""
    statement = insertion(rows)
    await conn.execute(statement.sql, *statement.parameters)


async def update(conn: Connection, rows: Sequence[PageRow], *, poll_open: Sequence[bool]) -> None:
    """Replace the records of messages, each id once; columns by which messages are found never change.

    Args:
        poll_open: for each of the rows, whether it has a poll that is open.

    Raises:
        RowsRejected: one of them has been archived meanwhile; the turn must not be acknowledged.
    """
    tag = await conn.execute(
        """
        UPDATE messages m
        SET record = n.record, has_poll = n.has_poll, poll_open = n.poll_open,
            poll_expires_at_ms = n.poll_expires_at_ms
        FROM unnest($1::text[], $2::bytea[], $3::boolean[], $4::boolean[], $5::bigint[])
             AS n (id, record, has_poll, poll_open, poll_expires_at_ms)
        WHERE m.id = n.id
        """,
        [row.id for row in rows],
        [row.record for row in rows],
        [row.has_poll for row in rows],
        list(poll_open),
        [row.poll_expires_at_ms for row in rows],
    )
    if int(tag.rpartition(" ")[2]) != len(rows):
        raise RowsRejected("a message of this turn is no longer live")


async def newest_of(
    conn: Connection, conversation_ids: Sequence[str], limit: int
) -> dict[str, list[MessageRow]]:
    """{conversation id: its newest live messages, at most `limit`, oldest first}."""
    rows = await conn.fetch(
        f"""
        SELECT newest.* FROM unnest($1::text[]) AS wanted (id) CROSS JOIN LATERAL (
            SELECT {_COLUMNS} FROM messages WHERE conversation_id = wanted.id ORDER BY seq DESC LIMIT $2
        ) AS newest ORDER BY newest.conversation_id, newest.seq
        """,  # noqa: S608 - constants only
        conversation_ids,
        limit,
    )
    found: dict[str, list[MessageRow]] = {id: [] for id in conversation_ids}
    for row in rows:
        found[row["conversation_id"]].append(_message(row))
    return found


async def by_ids(conn: Connection, conversation_id: str, ids: Sequence[str]) -> list[MessageRow]:
    """Those of the messages with these ids that are live in this conversation."""
    # Found by their ids alone: of all conversations on average few messages are expected, but not of each.
    rows = await conn.fetch(
        f"""
        SELECT {_COLUMNS}
        FROM messages WHERE id = ANY($2::text[]) AND conversation_id || '' = $1
        """,  # noqa: S608 - constants only
        conversation_id,
        list(ids),
    )
    return [_message(row) for row in rows]


async def by_client_id(
    conn: Connection, conversation_id: str, sender_id: str, client_message_id: str
) -> MessageRow | None:
    """The live message to which its sender gave this `clientMessageId`, or None."""
    row = await conn.fetchrow(
        f"""
        SELECT {_COLUMNS}
        FROM messages WHERE conversation_id = $1 AND sender_id = $2 AND client_message_id = $3 AND {_HAS_CLIENT_ID}
        """,  # noqa: S608 - constants only
        conversation_id,
        sender_id,
        client_message_id,
    )
    return None if row is None else _message(row)


async def own_after(conn: Connection, conversation_id: str, user_id: str, seq: int) -> int | None:
    """`sender_seq` of the user's first live message above `seq`; None when there is no such message.

    Counted from the newer side, because the older messages may have moved to the archive.
    """
    found = await conn.fetchval(
        """
        SELECT sender_seq FROM messages
        WHERE conversation_id = $1 AND sender_id = $2 AND seq > $3 ORDER BY seq LIMIT 1
        """,
        conversation_id,
        user_id,
        seq,
    )
    return None if found is None else int(found)


async def deadlines_of(conn: Connection, conversation_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """{conversation id: {message id: expiry in epoch milliseconds} of every open poll with a deadline}."""
    rows = await conn.fetch(
        """
        SELECT conversation_id, id, poll_expires_at_ms FROM messages
        WHERE conversation_id = ANY ($1::text[]) AND poll_expires_at_ms IS NOT NULL
        """,
        conversation_ids,
    )
    found: dict[str, dict[str, int]] = {id: {} for id in conversation_ids}
    for conversation_id, id, expires_at_ms in rows:
        found[conversation_id][id] = expires_at_ms
    return found


async def with_older(conn: Connection, seqs: Mapping[str, int]) -> set[str]:
    """Those of the conversations that have a live message older than the one with the given `seq`.

    Args:
        seqs: {conversation id: seq}.
    """
    rows = await conn.fetch(
        """
        SELECT wanted.id FROM unnest($1::text[], $2::bigint[]) AS wanted (id, seq)
        WHERE EXISTS (SELECT FROM messages WHERE conversation_id = wanted.id AND messages.seq < wanted.seq)
        """,
        list(seqs),
        list(seqs.values()),
    )
    return {id for (id,) in rows}


async def page(
    conn: Connection,
    conversation_id: str,
    *,
    before_ms: int,
    limit: int,
    include_archived: bool,
    max_bytes: int,
) -> list[PageRow]:
    """The newest `limit` messages before a moment, newest first, live and archived merged.

    One statement, so that a message that is archived meanwhile appears exactly once.

    Args:
        before_ms: exclusive bound on `created_at_ms`; clamped to what a bigint holds.
        limit: at least 1; ask one more than wanted to learn whether there is more.
        include_archived: False for live messages only.
        max_bytes: the page ends with the first record that brings the total of bytes above this.
    """
    rows = await conn.fetch(
        """
        SELECT id, created_at_ms, record, has_poll, poll_expires_at_ms FROM (
            SELECT merged.*, sum(octet_length(record)) OVER (ORDER BY created_at_ms DESC, id DESC) AS upto_bytes
            FROM ((SELECT id, created_at_ms, record, has_poll, poll_expires_at_ms FROM messages
             WHERE conversation_id = $1 AND created_at_ms < $2 ORDER BY created_at_ms DESC LIMIT $3)
            UNION ALL
            (SELECT id, created_at_ms, record, has_poll, NULL::bigint FROM archived_messages
             WHERE $4 AND conversation_id = $1 AND created_at_ms < $2 ORDER BY created_at_ms DESC LIMIT $3)
            ) AS merged
        ) AS measured
        WHERE upto_bytes - octet_length(record) <= $5
        ORDER BY created_at_ms DESC, id DESC LIMIT $3
        """,
        conversation_id,
        min(max(before_ms, 0), LAST_MS),
        limit,
        include_archived,
        max_bytes,
    )
    return [
        PageRow(row["id"], row["created_at_ms"], row["record"], row["has_poll"], row["poll_expires_at_ms"])
        for row in rows
    ]


class Standing(NamedTuple):
    """How a user and a message stand to a conversation.

    Args:
        is_member: whether the user is in it.
        sender_id: who sent the message, if it is live there.
        is_archived: whether the message is archived there.
    """

    is_member: bool
    sender_id: str | None
    is_archived: bool


async def standing(conn: Connection, conversation_id: str, message_id: str, user_id: str) -> Standing:
    """How a user and a message stand to a conversation; one indexed read."""
    (row,) = await conn.fetch(
        """
        SELECT EXISTS (SELECT FROM conversation_members WHERE conversation_id = $1 AND user_id = $3),
            (SELECT sender_id FROM messages WHERE id = $2 AND conversation_id = $1),
            EXISTS (SELECT FROM archived_messages WHERE id = $2 AND conversation_id = $1)
        """,
        conversation_id,
        message_id,
        user_id,
    )
    return Standing(*row)


async def one(conn: Connection, conversation_id: str, message_id: str) -> PageRow | None:
    """One message, live or archived, or None."""
    row = await conn.fetchrow(
        """
        SELECT id, created_at_ms, record, has_poll, poll_expires_at_ms FROM messages
        WHERE id = $2 AND conversation_id = $1
        UNION ALL
        SELECT id, created_at_ms, record, has_poll, NULL FROM archived_messages
        WHERE id = $2 AND conversation_id = $1
        LIMIT 1
        """,
        conversation_id,
        message_id,
    )
    return None if row is None else PageRow(*row)


async def add_revisions(conn: Connection, rows: Sequence[RevisionRow]) -> None:
    """Store former texts of edited messages; of each message the first and the newest 49 are kept."""
    await conn.execute(
        """
        INSERT INTO message_revisions (message_id, revision, content, edited_at_ms, editor_id)
        SELECT * FROM unnest($1::text[], $2::integer[], $3::text[], $4::bigint[], $5::text[])
        """,
        [row.message_id for row in rows],
        [row.revision for row in rows],
        [row.content for row in rows],
        [row.edited_at_ms for row in rows],
        [row.editor_id for row in rows],
    )
    newest: dict[str, int] = {}
    for row in rows:
        newest[row.message_id] = max(row.revision, newest.get(row.message_id, 0))
    if any(revision > REVISIONS_KEPT for revision in newest.values()):
        await conn.execute(
            """
            DELETE FROM message_revisions r USING unnest($1::text[], $2::integer[]) AS n (message_id, newest)
            WHERE r.message_id = n.message_id AND r.revision > 1 AND r.revision <= n.newest - $3
            """,
            list(newest),
            list(newest.values()),
            REVISIONS_KEPT - 1,
        )


async def drop_revisions(conn: Connection, message_ids: Sequence[str]) -> None:
    """Delete the former texts of deleted messages."""
    await conn.execute("DELETE FROM message_revisions WHERE message_id = ANY($1::text[])", list(message_ids))


async def revisions(conn: Connection, message_id: str, limit: int) -> list[RevisionRow]:
    """The former texts of a message, oldest first; only the newest `limit` of them."""
    rows = await conn.fetch(
        """
        SELECT message_id, revision, content, edited_at_ms, editor_id FROM message_revisions
        WHERE message_id = $1 ORDER BY revision DESC LIMIT $2
        """,
        message_id,
        limit,
    )
    return [
        RevisionRow(row["message_id"], row["revision"], row["content"], row["edited_at_ms"], row["editor_id"])
        for row in reversed(rows)
    ]


def _message(row: Row) -> MessageRow:
    return MessageRow(*row)
