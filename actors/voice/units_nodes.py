"""Registering and removing voice nodes: units of work."""

import msgspec

from actors.change import Change
from actors.errors import NotFound, QuotaExceeded
from persistence.connection import Connection
from persistence.voice import nodes
from persistence.voice.nodes import NodeRow

MOST_NODES = 50
"""Most voice nodes of one game server."""


class NodeKnown(msgspec.Struct, frozen=True):
    """A node has registered, or was found in rows where memory may not have it yet."""

    row: NodeRow


class NodeGone(msgspec.Struct, frozen=True):
    """A node is no more."""

    node_id: str


async def register(conn: Connection, row: NodeRow) -> Change[NodeRow]:
    """Add a node.

    Raises:
        NotFound: its game server is no more.
        QuotaExceeded: the server has `MOST_NODES` nodes.
    """
    # Whoever registers another of the same server's at the same time waits here.
    if not await nodes.lock_server(conn, row.server_id):
        raise NotFound("no such server")
    if await nodes.count_of_server(conn, row.server_id) >= MOST_NODES:
        raise QuotaExceeded(max=MOST_NODES, message="a server has so many voice nodes at most")
    await nodes.insert(conn, row)
    return Change(row, (NodeKnown(row),))


async def remove(conn: Connection, node_id: str) -> Change[None]:
    """Remove a node, if it is there."""
    await nodes.remove(conn, node_id)
    return Change(None, (NodeGone(node_id),))


async def forget(conn: Connection, node_id: str, before_ms: int) -> Change[int | None]:
    """Remove a node that has not been heard since `before_ms`; returns when it was heard last where it has been, by
    whoever minded voice before, in epoch milliseconds.
    """
    heard_at_ms = await nodes.remove_silent(conn, node_id, before_ms)
    return Change(heard_at_ms, (NodeGone(node_id),) if heard_at_ms is None else ())
