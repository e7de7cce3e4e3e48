"""Users who were erased. Rows only.

What hangs on a user by a foreign key goes with their row: rights, settings, friendships, requests, their own blocks,
notifications, shares, capes. What others did to them (blocks, reports) and the audit trail stay, under the bare id.
"""

from persistence.connection import Connection
from persistence.permissions import announce


async def friends_of(conn: Connection, user_id: str) -> list[str]:
    """Everybody with whom a user has a friendship or a request."""
    rows = await conn.fetch(
        "SELECT friend_id FROM friend_links WHERE user_id = $1"
        " UNION SELECT recipient_id FROM friend_requests WHERE sender_id = $1"
        " UNION SELECT sender_id FROM friend_requests WHERE recipient_id = $1",
        user_id,
    )
    return [row[0] for row in rows]


async def erase(conn: Connection, user_id: str, now_ms: int) -> None:
    """Delete a user and all that hangs on them, and note that it was done; every process hears of it."""
    await conn.execute(
        "INSERT INTO erased_users (user_id, erased_at_ms) VALUES ($1, $2)"
        " ON CONFLICT (user_id) DO UPDATE SET erased_at_ms = $2, swept = false",
        user_id,
        now_ms,
    )
    await drop_attachments(conn, user_id)
    await conn.execute("DELETE FROM users WHERE id = $1", user_id)
    await announce(conn, user_id)


async def drop_attachments(conn: Connection, user_id: str) -> None:
    """Forget everything that a user has uploaded; the files go with the next sweep."""
    await conn.execute("DELETE FROM attachments WHERE uploader_id = $1", user_id)


async def unswept(conn: Connection, limit: int) -> list[str]:
    """Those whose name older messages may still have, the longest-erased first."""
    rows = await conn.fetch(
        "SELECT user_id FROM erased_users WHERE NOT swept ORDER BY erased_at_ms LIMIT $1", limit
    )
    return [row["user_id"] for row in rows]


async def finish(conn: Connection, user_id: str) -> None:
    """Nothing has the user's name any more."""
    await drop_attachments(conn, user_id)
    await conn.execute("UPDATE erased_users SET swept = true WHERE user_id = $1", user_id)
