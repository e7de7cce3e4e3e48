"""Friendship and blocks between two users, in one query. Rows only."""

import msgspec

from persistence.connection import Connection

_SELECT = """
SELECT EXISTS (SELECT FROM friend_links WHERE user_id = $1 AND friend_id = $2),
       EXISTS (SELECT FROM blocks WHERE user_id = $1 AND target_id = $2),
       EXISTS (SELECT FROM blocks WHERE user_id = $2 AND target_id = $1)
"""


class Marks(msgspec.Struct, frozen=True):
    """Whether two users, a first and a second, are friends, and which of them blocks the other.

    Args:
        blocks: the first blocks the second.
        blocked: the second blocks the first.
    """

    linked: bool
    blocks: bool
    blocked: bool


async def between(conn: Connection, one_id: str, other_id: str) -> Marks:
    """Friendship and blocks between two users, without requests.

    Raises:
        LookupError: the database returned no row; a defect.
    """
    row = await conn.fetchrow(_SELECT, one_id, other_id)
    if row is None:
        raise LookupError("a row of three answers is missing")
    return Marks(*row)


async def count_friends(conn: Connection, user_id: str) -> int:
    """How many friends a user has."""
    found: int = await conn.fetchval("SELECT count(*) FROM friend_links WHERE user_id = $1", user_id)
    return found


async def count_requests(conn: Connection, sender_id: str, recipient_id: str, now_ms: int) -> tuple[int, int]:
    """How many requests the sender has pending in all, and how many the recipient has received.

    Raises:
        LookupError: the database returned no row; a defect.
    """
    row = await conn.fetchrow(
        "SELECT (SELECT count(*) FROM friend_requests WHERE sender_id = $1 AND expires_at_ms > $3),"
        " (SELECT count(*) FROM friend_requests WHERE recipient_id = $2 AND expires_at_ms > $3)",
        sender_id,
        recipient_id,
        now_ms,
    )
    if row is None:
        raise LookupError("a row of two counts is missing")
    return row[0], row[1]
