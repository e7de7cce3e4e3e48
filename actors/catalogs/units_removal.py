"""Remove what was imported: a catalog of heads or banners with its items, or a game. Units of work."""

from actors.errors import NotFound
from persistence.catalogs import items
from persistence.connection import Connection
from persistence.games import games


async def remove_catalog(conn: Connection, slug: str) -> None:
    """Delete a catalog with all of its items.

    Raises:
        NotFound: there is no catalog with this slug.
    """
    await items.lock_catalogs(conn)
    if not await items.remove_catalog(conn, slug):
        raise NotFound(f"there is no catalog {slug}")


async def remove_game(conn: Connection, game_id: str) -> None:
    """Delete a game; players of servers that name it are no longer counted.

    Raises:
        NotFound: there is no game with this id.
    """
    await games.lock(conn)
    if not await games.remove(conn, game_id):
        raise NotFound(f"there is no game {game_id}")
