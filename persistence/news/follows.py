"""What users follow. Rows only."""

from collections.abc import Collection, Sequence

from persistence.connection import Connection
from persistence.news.rows import FollowRow, Scope


async def of_user(conn: Connection, user_id: str) -> list[FollowRow]:
    """What a user follows, in the order in which they listed it."""
    rows = await conn.fetch(
        "SELECT CASE WHEN network_id IS NOT NULL THEN 'network' WHEN server_id IS NOT NULL THEN 'server'"
        " ELSE 'category' END AS type, coalesce(network_id, server_id, category) AS id"
        " FROM news_follows WHERE user_id = $1 ORDER BY place",
        user_id,
    )
    return [FollowRow(row["type"], row["id"]) for row in rows]


async def replace(conn: Connection, user_id: str, rows: Sequence[FollowRow]) -> None:
    """Store all that a user follows, in place of what was stored; the caller has locked the user.

    Args:
        rows: each thing once, in the user's order.
    """
    await conn.execute("DELETE FROM news_follows WHERE user_id = $1", user_id)
    await conn.executemany(
        "INSERT INTO news_follows (user_id, place, network_id, server_id, category) VALUES ($1, $2, $3, $4, $5)",
        [
            (
                user_id,
                place,
                *(row.id if row.type == type else None for type in ("network", "server", "category")),
            )
            for place, row in enumerate(rows)
        ],
    )


async def known_networks(conn: Connection, network_ids: Collection[str]) -> set[str]:
    """Those of these networks that exist, locked so that they stay until the transaction ends."""
    rows = await conn.fetch(
        "SELECT network_id FROM networks WHERE network_id = ANY ($1::text[]) ORDER BY network_id FOR KEY SHARE",
        list(network_ids),
    )
    return {row["network_id"] for row in rows}


async def known_servers(conn: Connection, server_ids: Collection[str]) -> set[str]:
    """Those of these game servers that exist, locked so that they stay until the transaction ends."""
    rows = await conn.fetch(
        "SELECT server_id FROM connect_servers WHERE server_id = ANY ($1::text[]) ORDER BY server_id FOR KEY SHARE",
        list(server_ids),
    )
    return {row["server_id"] for row in rows}


async def followers(conn: Connection, scope: Scope, *, after: str, limit: int) -> list[str]:
    """The next followers of a network or server, in the order of their ids.

    Args:
        after: the last user id of the page before; "" from the start.
        limit: at most so many.
    """
    rows = await conn.fetch(_FOLLOWERS[scope.type], scope.id, after, limit)
    return [row["user_id"] for row in rows]


_FOLLOWERS = {
    "network": "SELECT user_id FROM news_follows WHERE network_id = $1 AND user_id > $2 ORDER BY user_id LIMIT $3",
    "server": "SELECT user_id FROM news_follows WHERE server_id = $1 AND user_id > $2 ORDER BY user_id LIMIT $3",
}
