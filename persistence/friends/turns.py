"""Numbers for changes between users, announced to every process that listens.

A transaction takes its number once it has locked what it changes. So of two changes between the same two users the
later one has the greater number, in whatever order processes hear of them.
"""

from persistence.connection import Connection

CHANNEL = "partyline_social"
"""The NOTIFY channel; a payload is a number, a space, and what has changed."""


async def announce(conn: Connection, change: str) -> int:
    """Take the number of a change, and notify every process of it once this transaction commits; returns the number.

    Args:
        change: what has changed, at most 7,900 bytes; empty when a user was erased.
    """
    turn: int = await conn.fetchval(
        """
        WITH taken AS MATERIALIZED (SELECT nextval('social_turns') AS turn)
        SELECT turn FROM taken, pg_notify($1, turn || ' ' || $2)
        """,
        CHANNEL,
        change,
    )
    return turn
