"""The statuses that servers have sent, written once a second in one statement."""

from collections.abc import Sequence

from persistence.connection import Connection
from persistence.publications.rows import Rank, StatusRow

_WRITE = """
WITH told AS (
    INSERT INTO server_statuses AS old (server_id, online, motd, players, capacity, at_ms)
    SELECT n.server_id, n.online, n.motd, n.players, n.capacity, n.at_ms
    FROM unnest($1::text[], $2::bool[], $3::text[], $4::int[], $5::int[], $6::bigint[])
         AS n (server_id, online, motd, players, capacity, at_ms)
    JOIN connect_servers USING (server_id)
    ON CONFLICT (server_id) DO UPDATE SET online = excluded.online, motd = excluded.motd, players = excluded.players,
        capacity = excluded.capacity, at_ms = excluded.at_ms
    WHERE old.at_ms <= excluded.at_ms
), ranked AS (
    SELECT p.id, n.players, n.seen_at_ms
    FROM unnest($7::text[], $8::bigint[], $9::bigint[]) AS n (target_id, players, seen_at_ms)
    JOIN publications p USING (target_id)
), moved AS (
    UPDATE publication_statuses s SET players = r.players, seen_at_ms = greatest(s.seen_at_ms, r.seen_at_ms)
    FROM ranked r WHERE s.publication_id = r.id
), back AS MATERIALIZED (
    SELECT p.id FROM ranked r JOIN publications p USING (id)
    WHERE p.discovery_state = 'STALE' AND r.seen_at_ms >= $10 ORDER BY p.id FOR NO KEY UPDATE OF p
)
UPDATE publications p SET discovery_state = 'CONNECT' FROM back
WHERE p.id = back.id AND p.discovery_state = 'STALE'
"""


async def write(
    conn: Connection, told: Sequence[StatusRow], ranks: Sequence[Rank], stale_before_ms: int
) -> None:
    """Store statuses of servers and sort keys of publications; a stale publication with a newer status
    is listed again. Those that come back are locked in the order of their ids.

    Args:
        told: at most one for each server.
        ranks: at most one for each target.
        stale_before_ms: epoch milliseconds; older statuses do not bring a publication back into the list.
    """
    await conn.execute(
        _WRITE,
        [row.server_id for row in told],
        [row.online for row in told],
        [row.motd for row in told],
        [row.players for row in told],
        [row.capacity for row in told],
        [row.at_ms for row in told],
        [rank.target_id for rank in ranks],
        [rank.players for rank in ranks],
        [rank.seen_at_ms for rank in ranks],
        stale_before_ms,
    )


async def bring_back(conn: Connection, now_ms: int) -> None:
    """Let what was seen later than now count as seen now: it was written while the clock was ahead, and every newer
    status would seem to be older.

    Args:
        now_ms: epoch milliseconds.
    """
    await conn.execute("UPDATE server_statuses SET at_ms = $1 WHERE at_ms > $1", now_ms)
    await conn.execute("UPDATE publication_statuses SET seen_at_ms = $1 WHERE seen_at_ms > $1", now_ms)


async def since(conn: Connection, after_ms: int) -> list[StatusRow]:
    """The statuses of servers after a time in epoch milliseconds, oldest first."""
    rows = await conn.fetch(
        """
        SELECT s.server_id, c.network_id, s.online, s.motd, s.players, s.capacity, s.at_ms
        FROM server_statuses s JOIN connect_servers c USING (server_id)
        WHERE s.at_ms > $1 ORDER BY s.at_ms, s.server_id
        """,
        after_ms,
    )
    return [StatusRow(*row) for row in rows]


async def forget(conn: Connection, after: str | None, limit: int, *, before_ms: int) -> str | None:
    """Delete those statuses of the next servers that are older than a time.

    Args:
        after: the last server of the page before; None from the start.
        limit: how many servers are looked at.
        before_ms: epoch milliseconds.

    Returns:
        Where the next page starts; None after the last.
    """
    page = await conn.fetch(
        "SELECT server_id, at_ms < $2 AS old FROM server_statuses WHERE server_id > $1 ORDER BY server_id LIMIT $3",
        after or "",
        before_ms,
        limit,
    )
    await conn.execute(
        "DELETE FROM server_statuses WHERE server_id = ANY ($1::text[]) AND at_ms < $2",
        [row["server_id"] for row in page if row["old"]],
        before_ms,
    )
    return page[-1]["server_id"] if len(page) >= limit else None
