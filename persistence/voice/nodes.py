"""Voice nodes in rows: the machines through which voice flows, and the secrets that sign tokens for them."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection


class NodeRow(msgspec.Struct, frozen=True):
    """A voice node.

    Args:
        server_id: the game server with whose credentials it was registered.
        public_url: the `ws` or `wss` URL where clients connect.
        capacity: how many users it can serve at the same time.
        protocol: `livekit` or `partyline`.
        sealed_secret: the node's own secret, sealed.
        livekit_key: the API key under which tokens are signed, where its LiveKit cluster has one already; else None.
        sealed_livekit: the secret of that API key, sealed, or None.
        draining: whether it takes no new channels.
        heard_at_ms: the time of its last heartbeat as stored, epoch milliseconds; up to a minute behind the real one.
    """

    node_id: str
    server_id: str
    region: str
    public_url: str
    capacity: int
    protocol: str
    sealed_secret: bytes
    livekit_key: str | None
    sealed_livekit: bytes | None
    draining: bool
    heard_at_ms: int
    created_at_ms: int


_READ = """
SELECT node_id, server_id, region, public_url, capacity, protocol, sealed_secret, livekit_key, sealed_livekit,
       draining, heard_at_ms, created_at_ms
FROM voice_nodes
"""

_INSERT = """
INSERT INTO voice_nodes (node_id, server_id, region, public_url, capacity, protocol, sealed_secret, livekit_key,
                         sealed_livekit, draining, heard_at_ms, created_at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""


async def read_all(conn: Connection) -> list[NodeRow]:
    """All nodes."""
    return [NodeRow(*row) for row in await conn.fetch(f"{_READ} ORDER BY node_id")]


async def read(conn: Connection, node_id: str) -> NodeRow | None:
    """One node, or None."""
    row = await conn.fetchrow(f"{_READ} WHERE node_id = $1", node_id)
    return None if row is None else NodeRow(*row)


async def lock_server(conn: Connection, server_id: str) -> bool:
    """Lock the row of a game server until the transaction ends; returns whether there is one."""
    found = await conn.fetchval(
        "SELECT 1 FROM connect_servers WHERE server_id = $1 FOR NO KEY UPDATE", server_id
    )
    return found is not None


async def count_of_server(conn: Connection, server_id: str) -> int:
    """How many nodes a game server has registered."""
    count: int = await conn.fetchval("SELECT count(*) FROM voice_nodes WHERE server_id = $1", server_id)
    return count


async def insert(conn: Connection, row: NodeRow) -> None:
    """Add a node."""
    await conn.execute(_INSERT, *msgspec.structs.astuple(row))


async def remove(conn: Connection, node_id: str) -> None:
    """Delete a node, if it is there."""
    await conn.execute("DELETE FROM voice_nodes WHERE node_id = $1", node_id)


async def remove_silent(conn: Connection, node_id: str, before_ms: int) -> int | None:
    """Delete a node unless it was heard after `before_ms`; then its last heartbeat is returned (epoch milliseconds)."""
    await conn.execute("DELETE FROM voice_nodes WHERE node_id = $1 AND heard_at_ms <= $2", node_id, before_ms)
    heard_at_ms: int | None = await conn.fetchval(
        "SELECT heard_at_ms FROM voice_nodes WHERE node_id = $1", node_id
    )
    return heard_at_ms


async def save_heard(conn: Connection, heard: Sequence[tuple[str, int, bool]]) -> None:
    """Write (node id, epoch milliseconds of the last heartbeat, draining) of nodes, locked in the order of their ids.

    A process that has just taken over voice may know only an older heartbeat of a node that is offline: the newest one
    stays.
    """
    await conn.execute(
        "WITH held AS MATERIALIZED ("
        " SELECT node_id FROM voice_nodes WHERE node_id = ANY ($1::text[]) ORDER BY node_id FOR NO KEY UPDATE"
        ") UPDATE voice_nodes n SET heard_at_ms = greatest(n.heard_at_ms, h.at_ms), draining = h.draining"
        " FROM unnest($1::text[], $2::bigint[], $3::boolean[]) AS h (node_id, at_ms, draining)"
        " JOIN held USING (node_id) WHERE n.node_id = h.node_id",
        [node_id for node_id, _, _ in heard],
        [at_ms for _, at_ms, _ in heard],
        [draining for _, _, draining in heard],
    )
