"""The nodes that live, a row each: a node whose row is gone is dead, whatever it thinks of itself.

A node has a name, which outlives it, and at each start a new life, a number that only rises. It renews its row; whoever
finds a row that has run out may delete it. Only the database's clock counts, and where that was set back, rows of
before count as renewed just now. What a node may write is decided by the fences of its leases (`leases.py`) and not by
this row, so that no delay makes a stale write land.

Invariant: who adds or deletes a row holds the advisory lock, as everybody does who judges by these rows which leases
are free. So no lease is taken from a node that comes back under its name at that moment.
"""

from persistence.connection import Connection
from persistence.nodes.leases import take_leases
from persistence.nodes.shards import ALL_SHARDS

_LOCK = 0x6E6F646573  # any number that nobody else uses for an advisory lock in this database


async def lock_nodes(conn: Connection) -> None:
    """Wait until nobody else adds or deletes a row, or judges which leases are free, until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)


AHEAD_SECONDS = 120.0
"""No row lasts this long: one that seems to was renewed before the database's clock was set back."""

SHORTENED_SECONDS = 15.0
"""How long such a row lasts from then on; a living node renews it before."""


async def shorten(conn: Connection) -> None:
    """Have rows run out that were renewed before the database's clock was set back, unless they are renewed again.

    Otherwise a node that died meanwhile would count as living for as long as the clock was set back by. Rows that
    another transaction has locked are left to the next call.
    """
    await conn.execute(
        """
        UPDATE nodes SET expires_at = clock_timestamp() + make_interval(secs => $2)
        WHERE node IN (
            SELECT node FROM nodes WHERE expires_at > clock_timestamp() + make_interval(secs => $1)
            FOR UPDATE SKIP LOCKED
        )
        """,
        AHEAD_SECONDS, SHORTENED_SECONDS,
    )  # fmt: skip


async def hold_alone(
    conn: Connection, node: str, ttl_seconds: float, former_life: int = 0
) -> tuple[int, dict[int, int]] | None:
    """Begin a life of a node that serves alone, and take every shard.

    A process that starts takes the leases of its node back at once. A process that already runs does so only if no
    other process lives under its name, as one from a copy of its data folder would: the two would take everything from
    each other without end.

    Rows of nodes that have run out are deleted. Waits for commits in flight under the leases that are taken. Run in a
    transaction.

    Args:
        node: the name of this process, unique among those that share the database.
        ttl_seconds: how long the row lasts, by the database's clock; to be renewed well before.
        former_life: the number of the life that this process had; 0 for a process that starts.

    Returns: (life, {shard: fence}), or None when another node lives.
    """
    await lock_nodes(conn)
    await shorten(conn)
    await conn.execute("DELETE FROM nodes WHERE expires_at < clock_timestamp()")
    if await conn.fetchval(
        "SELECT EXISTS (SELECT FROM nodes WHERE node <> $1 OR $2 > 0 AND life > $2)", node, former_life
    ):
        return None
    life: int = await conn.fetchval(
        """
        INSERT INTO nodes (node, life, expires_at)
        VALUES ($1, nextval('node_lives'), clock_timestamp() + make_interval(secs => $2))
        ON CONFLICT (node) DO UPDATE
        SET life = excluded.life, expires_at = excluded.expires_at, state = excluded.state
        RETURNING life
        """,
        node, ttl_seconds,
    )  # fmt: skip
    return life, await take_leases(conn, node, ALL_SHARDS)


async def renew(conn: Connection, node: str, life: int, ttl_seconds: float) -> bool:
    """Extend the row of a node, also one that has run out but was not deleted.

    Args:
        life: the number of the life that the node began.
        ttl_seconds: how long the row lasts from now on, by the database's clock.

    Returns: False when the node is dead, or lives another life.
    """
    found = await conn.fetchval(
        """
        UPDATE nodes SET expires_at = clock_timestamp() + make_interval(secs => $3)
        WHERE node = $1 AND life = $2 RETURNING true
        """,
        node, life, ttl_seconds,
    )  # fmt: skip
    return found is not None


async def leave(conn: Connection, node: str, life: int) -> None:
    """End a life, so that others need not wait for the row to run out; its leases are free from then on.

    Args:
        node: the node's name.
        life: the number of the life to end; a later life under this name is left alone.
    """
    await lock_nodes(conn)
    await conn.execute("DELETE FROM nodes WHERE node = $1 AND life = $2", node, life)
