"""What users hide from their friends, and what stays hidden after a friendship has ended. Rows only."""

from typing import Literal

from persistence.connection import Connection

Visibility = Literal["DEFAULT", "LIMITED", "HIDDEN"]
"""What a friend sees of the holder of a link (contract §5)."""


async def between(conn: Connection, one_id: str, other_id: str) -> dict[str, Visibility]:
    """{holder: visibility} of the two links of a friendship, locked until the transaction ends.

    Without a friendship: `HIDDEN` for each of the two who is still hidden from the other.
    """
    rows = await conn.fetch(
        "SELECT user_id, visibility FROM friend_links"
        " WHERE user_id = $1 AND friend_id = $2 OR user_id = $2 AND friend_id = $1 ORDER BY user_id FOR UPDATE",
        one_id,
        other_id,
    )
    if rows:
        return {row["user_id"]: row["visibility"] for row in rows}
    left = await conn.fetch(
        "SELECT holder_id FROM veils WHERE holder_id = $1 AND viewer_id = $2 OR holder_id = $2 AND viewer_id = $1",
        one_id,
        other_id,
    )
    return {row["holder_id"]: "HIDDEN" for row in left}


async def veiled(conn: Connection) -> list[tuple[str, str, Visibility]]:
    """(holder, viewer, visibility) of every link that is not `DEFAULT`, and of every former link whose
    holder stays hidden.
    """
    rows = await conn.fetch(
        "SELECT user_id, friend_id, visibility FROM friend_links WHERE visibility <> 'DEFAULT'"
        " UNION ALL SELECT holder_id, viewer_id, 'HIDDEN' FROM veils"
    )
    return [(row["user_id"], row["friend_id"], row["visibility"]) for row in rows]
