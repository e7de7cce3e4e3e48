"""The experience that users have gathered. Rows only."""

from persistence.connection import Connection


async def read(conn: Connection, user_id: str) -> int:
    """A user's total experience; 0 before any was gathered."""
    return await conn.fetchval("SELECT total_xp FROM experience WHERE user_id = $1", user_id) or 0
