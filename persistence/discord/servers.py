"""The game servers that networks were last told to be online."""

from collections.abc import Collection, Sequence

from persistence.connection import Connection
from persistence.discord.rows import WatchedRow

_WATCHED = """
SELECT d.network_id, ARRAY(
    SELECT s.server_id FROM connect_servers s JOIN discord_servers_online USING (server_id)
    WHERE s.network_id = d.network_id
) AS online
FROM network_discord d WHERE d.events && ARRAY['server_online', 'server_offline']
"""
_WATCHED_ONE = _WATCHED + " AND d.network_id = $1"


async def watched(conn: Connection) -> list[WatchedRow]:
    """All networks that want to know of their servers."""
    return [WatchedRow(row["network_id"], tuple(row["online"])) for row in await conn.fetch(_WATCHED)]


async def watched_one(conn: Connection, network_id: str) -> WatchedRow | None:
    """A network, if it wants to know of its servers, else None."""
    row = await conn.fetchrow(_WATCHED_ONE, network_id)
    return None if row is None else WatchedRow(row["network_id"], tuple(row["online"]))


async def still_watched(conn: Connection, network_ids: Collection[str]) -> set[str]:
    """Those of the networks that are there, and want to know of their servers."""
    rows = await conn.fetch(
        "SELECT network_id FROM network_discord"
        " WHERE events && ARRAY['server_online', 'server_offline'] AND network_id = ANY ($1::text[])",
        list(network_ids),
    )
    return {row["network_id"] for row in rows}


async def replace(conn: Connection, network_id: str, online: Sequence[str]) -> None:
    """Take the servers of a network as said to be online, and no others of it.

    Args:
        online: servers of other networks among them are left out.
    """
    await conn.execute(
        "DELETE FROM discord_servers_online USING connect_servers s"
        " WHERE s.server_id = discord_servers_online.server_id AND s.network_id = $1",
        network_id,
    )
    await conn.execute(
        "INSERT INTO discord_servers_online"
        " SELECT server_id FROM connect_servers WHERE network_id = $1 AND server_id = ANY ($2::text[])"
        " ON CONFLICT DO NOTHING",
        network_id,
        list(online),
    )


async def note_online(conn: Connection, server_ids: Collection[str]) -> list[str]:
    """Note that these are said to be online; returns those that were not."""
    rows = await conn.fetch(
        "INSERT INTO discord_servers_online"
        " SELECT server_id FROM connect_servers WHERE server_id = ANY ($1::text[])"
        " ON CONFLICT DO NOTHING RETURNING server_id",
        list(server_ids),
    )
    return [row["server_id"] for row in rows]


async def note_offline(conn: Connection, server_ids: Collection[str]) -> list[str]:
    """Note that these are said to be offline; returns those that were not."""
    rows = await conn.fetch(
        "DELETE FROM discord_servers_online WHERE server_id = ANY ($1::text[]) RETURNING server_id",
        list(server_ids),
    )
    return [row["server_id"] for row in rows]
