"""What is shown of users without a token, and what forbids showing it. Rows only."""

import msgspec

from persistence.connection import Connection


class Supporter(msgspec.Struct, frozen=True):
    """A user who supports the service.

    Args:
        since_ms: since when they support it, epoch milliseconds; None where that was not recorded.
    """

    user_id: str
    name: str
    tier: str
    since_ms: int | None


async def shuns_somebody(conn: Connection, user_id: str) -> bool:
    """Whether the user blocks any user, or is hidden from any friend or former friend."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM friend_links WHERE user_id = $1 AND visibility = 'HIDDEN')"
        " OR EXISTS (SELECT FROM veils WHERE holder_id = $1)"
        " OR EXISTS (SELECT FROM blocks WHERE user_id = $1)",
        user_id,
    )
    return found


async def supporters(conn: Connection, limit: int) -> list[Supporter]:
    """The users who support the service, the longest-standing first, at most `limit`."""
    rows = await conn.fetch(
        "SELECT id, name, supporter_tier, supporter_since_ms FROM users WHERE supporter_tier IS NOT NULL"
        " ORDER BY supporter_since_ms, id LIMIT $1",
        limit,
    )
    return [Supporter(*row) for row in rows]
