"""The links whose holders hide something from their friends. Rows only."""

from typing import Literal

from persistence.connection import Connection

Visibility = Literal["DEFAULT", "LIMITED", "HIDDEN"]
"""What a friend sees of the holder of a link (contract §5)."""


async def between(conn: Connection, one_id: str, other_id: str) -> dict[str, Visibility]:
    """{holder: visibility} of the two links of a friendship, locked until the transaction ends; empty without one."""
    rows = await conn.fetch(
        "SELECT user_id, visibility FROM friend_links"
        " WHERE user_id = $1 AND friend_id = $2 OR user_id = $2 AND friend_id = $1 ORDER BY user_id FOR UPDATE",
        one_id,
        other_id,
    )
    return {row["user_id"]: row["visibility"] for row in rows}


async def veiled(conn: Connection) -> list[tuple[str, str, Visibility]]:
    """(holder, viewer, visibility) of every link that is not `DEFAULT`."""
    rows = await conn.fetch(
        "SELECT user_id, friend_id, visibility FROM friend_links WHERE visibility <> 'DEFAULT'"
    )
    return [(row["user_id"], row["friend_id"], row["visibility"]) for row in rows]
