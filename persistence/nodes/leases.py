"""The leases of the shards: which node owns one, and under which fence it writes.

A lease has no end of its own: it is free when its node has no row (`nodes.py`). The fence rises with each owner and
each life of an owner, and the writer checks it in every transaction (`persistence/journal/commit.py`).
"""

from collections.abc import Collection

from persistence.connection import Connection


async def take_leases(conn: Connection, node: str, shards: Collection[int]) -> dict[int, int]:
    """Take the leases of those shards that have no owner, that a dead node owns, or that this node owns already.

    Waits for commits in flight under the old lease; later ones are refused (`Fenced`). This node's own leases get a new
    fence as well, so that commits still in flight from an earlier life are refused.

    Args:
        conn: inside a transaction that holds the lock of `nodes.py`, unless the caller is alone with the database.
        node: the name of this process.
        shards: the shards whose leases are wanted.

    Returns: {shard: new fence} of the leases taken.
    """
    rows = await conn.fetch(
        """
        INSERT INTO leases (shard, node, fence)
        SELECT shard, $1, 1 FROM unnest($2::integer[]) AS wanted (shard) ORDER BY shard
        ON CONFLICT (shard) DO UPDATE SET node = excluded.node, fence = leases.fence + 1
        WHERE leases.node = excluded.node OR NOT EXISTS (SELECT FROM nodes WHERE nodes.node = leases.node)
        RETURNING shard, fence
        """,
        node, list(shards),
    )  # fmt: skip
    return {row["shard"]: row["fence"] for row in rows}
