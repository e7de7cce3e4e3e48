"""Conversations without members: no user can read or join them any more, and all their rows are deleted.

Large tables are deleted in batches; the row of the conversation, by which a job finds it again, goes last.
"""

from persistence.chat import attachments
from persistence.chat.conversations import KIND
from persistence.connection import Connection
from persistence.journal import history

MESSAGES_AT_ONCE = 1_000


async def abandoned(conn: Connection, limit: int, *, after_id: str = "") -> list[str]:
    """Ids of conversations without members, in order, after a given one.

    Args:
        limit: at most so many.
        after_id: the last id of the page before; "" from the start.
    """
    rows = await conn.fetch(
        """
        SELECT c.id FROM conversations c
        WHERE c.owner_id IS NULL AND c.participant_key IS NULL AND c.id > $1
          AND NOT EXISTS (SELECT FROM conversation_members m WHERE m.conversation_id = c.id)
        ORDER BY c.id LIMIT $2
        """,
        after_id,
        limit,
    )
    return [row["id"] for row in rows]


async def drop_some(conn: Connection, conversation_id: str) -> bool:
    """Delete up to 1,000 live and 1,000 archived messages of a conversation with all rows that depend on them; False
    when none was left.
    """
    rows = await conn.fetch(
        """
        WITH live AS (
            DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE conversation_id = $1 LIMIT $2) RETURNING id
        ), old AS (
            DELETE FROM archived_messages
            WHERE id IN (SELECT id FROM archived_messages WHERE conversation_id = $1 LIMIT $2) RETURNING id
        )
        SELECT id FROM live UNION ALL SELECT id FROM old
        """,
        conversation_id,
        MESSAGES_AT_ONCE,
    )
    ids = [row["id"] for row in rows]
    if ids:
        await conn.execute("DELETE FROM message_revisions WHERE message_id = ANY($1::text[])", ids)
        await conn.execute("DELETE FROM poll_votes WHERE message_id = ANY($1::text[])", ids)
        await attachments.free_of_messages(conn, ids)
    return bool(ids)


async def drop_rest(conn: Connection, conversation_id: str) -> None:
    """Delete the conversation itself, its journal, and uploads that no message has used."""
    await attachments.free_of_conversation(conn, conversation_id)
    await conn.execute("DELETE FROM mentions WHERE conversation_id = $1", conversation_id)
    await history.forget(conn, KIND, conversation_id)
    await conn.execute("DELETE FROM conversations WHERE id = $1", conversation_id)
