"""Unread mentions of members. Those that a member has read are deleted as their read marker moves (`members.py`)."""

from collections.abc import Sequence

from persistence.chat.rows import MentionRow
from persistence.connection import Connection
from persistence.journal.turn import Statement

# A member who has read past the message already gets no new mention by an edit.
_ADD = """
INSERT INTO mentions (conversation_id, user_id, seq)
SELECT n.conversation_id, n.user_id, n.seq
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS n (conversation_id, user_id, seq)
JOIN conversation_members m
  ON m.conversation_id = n.conversation_id AND m.user_id = n.user_id AND m.read_seq < n.seq
"""


def adding(rows: Sequence[MentionRow]) -> Statement:
    """The statement that `add` runs."""
    named = [(row.conversation_id, user_id, row.seq) for row in rows for user_id in row.user_ids]
    return Statement(_ADD, list(zip(*named, strict=True)) if named else [(), (), ()])


async def add(conn: Connection, rows: Sequence[MentionRow]) -> None:
    """Store the mentions of new messages, each message once."""
    if any(row.user_ids for row in rows):
        statement = adding(rows)
        await conn.execute(statement.sql, *statement.parameters)


async def replace(conn: Connection, rows: Sequence[MentionRow]) -> None:
    """Store the mentions of messages that were edited or deleted, each message once, in place of their former ones."""
    await conn.execute(
        """
        DELETE FROM mentions m USING unnest($1::text[], $2::bigint[]) AS n (conversation_id, seq)
        WHERE m.conversation_id = n.conversation_id AND m.seq = n.seq
        """,
        [row.conversation_id for row in rows],
        [row.seq for row in rows],
    )
    await add(conn, rows)
