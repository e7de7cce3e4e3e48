"""The experience that users have gathered. Rows only."""

from persistence.connection import Connection


async def read(conn: Connection, user_id: str) -> int:
    """A user's total experience; 0 before any was gathered."""
    return await conn.fetchval("SELECT total_xp FROM experience WHERE user_id = $1", user_id) or 0


async def add(conn: Connection, user_id: str, xp: int) -> int:
    """Add to a user's experience; returns the new total.

    Args:
        xp: the experience to add, above 0.
    """
    total: int = await conn.fetchval(
        "INSERT INTO experience (user_id, total_xp) VALUES ($1, $2)"
        " ON CONFLICT (user_id) DO UPDATE SET total_xp = experience.total_xp + $2 RETURNING total_xp",
        user_id,
        xp,
    )
    return total
