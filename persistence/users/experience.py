"""The experience that users have gathered. Rows only."""

from persistence.connection import Connection


async def read(conn: Connection, user_id: str) -> int:
    """A user's experience, from 0."""
    return await conn.fetchval("SELECT total_xp FROM experience WHERE user_id = $1", user_id) or 0


async def add(conn: Connection, user_id: str, xp: int) -> int:
    """Give a user experience, and return what they have now.

    Args:
        xp: above 0.
    """
    total: int = await conn.fetchval(
        "INSERT INTO experience (user_id, total_xp) VALUES ($1, $2)"
        " ON CONFLICT (user_id) DO UPDATE SET total_xp = experience.total_xp + $2 RETURNING total_xp",
        user_id,
        xp,
    )
    return total
