"""Numbers for changes between users, announced to every process that listens.

A number is taken inside the transaction, once it has locked what it changes: then of two changes of the same two users
the later one has the greater number, in whatever order they are told of.
"""

from persistence.connection import Connection

CHANNEL = "partyline_social"
"""The NOTIFY channel; a payload is a number, a space, and what has changed."""


async def announce(conn: Connection, change: str) -> int:
    """Number a change, and notify every process of it once this transaction commits.

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
