"""The catalog of games, and the categories of listed publications."""

from collections.abc import Collection, Sequence

import msgspec

from persistence.connection import Connection


class GameRow(msgspec.Struct, frozen=True):
    """A game of the catalog.

    Args:
        game_id: what publications name as their category.
        modes: encoded JSON of its modes.
    """

    game_id: str
    name: str
    modes: bytes


class Listed(msgspec.Struct, frozen=True):
    """The game that a server's or network's publication names.

    Args:
        target_id: the server's or network's id.
        category: the publication's category; None when the publication is not in the public list.
    """

    target_id: str
    category: str | None


# A publication that is stale counts as listed: its servers are silent, and their next status lists it again.
_OF_TARGETS = """
SELECT target_id, CASE WHEN discovery_state IN ('CONNECT', 'STALE') THEN category END AS category
FROM publications WHERE target_id = ANY ($1::text[])
"""

_PAGE = """
SELECT target_id, CASE WHEN discovery_state IN ('CONNECT', 'STALE') THEN category END AS category
FROM publications WHERE target_id > $1 ORDER BY target_id LIMIT $2
"""


async def read_all(conn: Connection) -> list[GameRow]:
    """The whole catalog, ordered by name, case ignored."""
    rows = [GameRow(*row) for row in await conn.fetch("SELECT game_id, name, modes FROM games")]
    # Here, and not in PostgreSQL, whose `lower` and whose order depend on the cluster's locale.
    return sorted(rows, key=lambda row: (row.name.lower(), row.game_id))


async def lock(conn: Connection) -> None:
    """Let no other import change the catalog until the transaction ends."""
    await conn.execute("LOCK TABLE games IN SHARE ROW EXCLUSIVE MODE")


async def put(conn: Connection, games: Sequence[GameRow]) -> None:
    """Add games to the catalog, in place of those with the same ids.

    Args:
        games: at most one for each id.
    """
    await conn.execute(
        """
        INSERT INTO games (game_id, name, modes) SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
        ON CONFLICT (game_id) DO UPDATE SET name = excluded.name, modes = excluded.modes
        """,
        [game.game_id for game in games],
        [game.name for game in games],
        [game.modes for game in games],
    )


async def remove(conn: Connection, game_id: str) -> bool:
    """Delete a game from the catalog; returns whether there was one."""
    return await conn.fetchval("DELETE FROM games WHERE game_id = $1 RETURNING game_id", game_id) is not None


async def listed(conn: Connection, target_ids: Collection[str]) -> list[Listed]:
    """The categories of these targets' publications; a target without one is left out."""
    return [Listed(*row) for row in await conn.fetch(_OF_TARGETS, list(target_ids))]


async def listed_page(conn: Connection, after: str, limit: int) -> list[Listed]:
    """The categories of the next publications that have a target, ordered by the target's id.

    Args:
        after: the last target of the page before; "" from the start.
        limit: publications on the page.
    """
    return [Listed(*row) for row in await conn.fetch(_PAGE, after, limit)]
