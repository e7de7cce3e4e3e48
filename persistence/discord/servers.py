"""The game servers that were last announced as online to their network's Discord."""

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
    """All networks that want posts when their servers go online or offline."""
    return [WatchedRow(row["network_id"], tuple(row["online"])) for row in await conn.fetch(_WATCHED)]


async def watched_one(conn: Connection, network_id: str) -> WatchedRow | None:
    """A network, if it wants posts when its servers go online or offline, else None."""
    row = await conn.fetchrow(_WATCHED_ONE, network_id)
    return None if row is None else WatchedRow(row["network_id"], tuple(row["online"]))


async def replace(conn: Connection, network_id: str, online: Sequence[str]) -> None:
    """Store which servers of a network count as announced online, in place of those stored before.

    Args:
        online: server ids; servers of other networks are left out.
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
    """Store that these servers are announced as online; returns those that were not before."""
    rows = await conn.fetch(
        "INSERT INTO discord_servers_online"
        " SELECT server_id FROM connect_servers WHERE server_id = ANY ($1::text[])"
        " ON CONFLICT DO NOTHING RETURNING server_id",
        list(server_ids),
    )
    return [row["server_id"] for row in rows]


async def note_offline(conn: Connection, server_ids: Collection[str]) -> list[str]:
    """Store that these servers are announced as offline; returns those that were announced as online before."""
    rows = await conn.fetch(
        "DELETE FROM discord_servers_online WHERE server_id = ANY ($1::text[]) RETURNING server_id",
        list(server_ids),
    )
    return [row["server_id"] for row in rows]
