"""Saved public servers. Rows only."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection


class Saved(msgspec.Struct, frozen=True):
    """A server in a user's list.

    Args:
        server_id: the id of its publication.
        address_key: equal for all spellings of one server's address.
        favorites: how many users have it among their favourites.
    """

    server_id: str
    address: str
    address_key: str
    display_name: str
    favorite: bool
    favorites: int


async def of_user(conn: Connection, user_id: str) -> list[Saved]:
    """A user's saved servers, in the user's order."""
    rows = await conn.fetch(
        "SELECT publications.id, address, address_key, display_name, favorite, coalesce(favorites, 0)"
        " FROM saved_servers"
        " JOIN publications ON publications.id = saved_servers.server_id"
        " LEFT JOIN server_favorites ON server_favorites.server_id = publications.id"
        " WHERE user_id = $1 ORDER BY position, publications.id",
        user_id,
    )
    return [Saved(*row) for row in rows]


async def is_saved(conn: Connection, user_id: str, server_id: str) -> bool:
    """Whether a server is in a user's list."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM saved_servers WHERE user_id = $1 AND server_id = $2)", user_id, server_id
    )
    return found


async def is_known(conn: Connection, server_id: str) -> bool:
    """Whether there is a public server with this id that moderators have not suppressed."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM publications WHERE id = $1 AND discovery_state <> 'SUPPRESSED')",
        server_id,
    )
    return found


async def hold_known(conn: Connection, server_id: str) -> bool:
    """Whether there is a public server with this id that moderators have not suppressed and that has not lost its
    address; it stays as it is until the transaction ends.
    """
    found = await conn.fetchval(
        "SELECT true FROM publications WHERE id = $1 AND discovery_state <> 'SUPPRESSED'"
        " AND ownership_state <> 'LOST' FOR SHARE",
        server_id,
    )
    return found is not None


async def count_favorites(conn: Connection, server_id: str) -> int:
    """How many users have a server among their favourites."""
    return await conn.fetchval("SELECT favorites FROM server_favorites WHERE server_id = $1", server_id) or 0


async def add(conn: Connection, user_id: str, server_id: str, now_ms: int) -> None:
    """Append a server to a user's list."""
    await conn.execute(
        "INSERT INTO saved_servers (user_id, server_id, position, created_at_ms) SELECT $1, $2,"
        " coalesce((SELECT max(position) + 1 FROM saved_servers WHERE user_id = $1), 0), $3",
        user_id,
        server_id,
        now_ms,
    )


async def remove(conn: Connection, user_id: str, server_id: str) -> None:
    """Delete a server from a user's list."""
    await conn.execute("DELETE FROM saved_servers WHERE user_id = $1 AND server_id = $2", user_id, server_id)


async def set_favorite(conn: Connection, user_id: str, server_id: str, favorite: bool) -> None:
    """Set whether a saved server is among the user's favourites.

    Args:
        favorite: whether it is to be among them.
    """
    await conn.execute(
        "UPDATE saved_servers SET favorite = $3 WHERE user_id = $1 AND server_id = $2 AND favorite <> $3",
        user_id,
        server_id,
        favorite,
    )


async def arrange(conn: Connection, user_id: str, server_ids: Sequence[str]) -> None:
    """Reorder a user's list.

    Args:
        server_ids: the whole list, in the new order.
    """
    await conn.execute(
        "UPDATE saved_servers SET position = place FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, place)"
        " WHERE user_id = $1 AND server_id = wanted.id AND position <> place",
        user_id,
        list(server_ids),
    )
