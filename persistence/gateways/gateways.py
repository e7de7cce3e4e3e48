"""Gateways, in rows."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from persistence.connection import Connection, Row


class GatewayRow(msgspec.Struct, frozen=True, kw_only=True):
    """A gateway.

    Args:
        public_host: the host that players connect to; a name in its normal form, or an IP address.
        secret: the SHA-256 of the secret that it authenticates with.
        online: whether its heartbeats arrive.
        draining: an admin has decided that it gets no routes.
        since_revision: a `confirmed_revision` below this does not count as confirmed any more.
        confirmed_revision: the newest revision of the routes that it says it has.
        connections, last_heartbeat_at_ms: as last written; the process that hears the gateway knows newer values.
    """

    gateway_id: str
    region: str
    public_host: str
    port: int
    capacity: int
    secret: bytes
    online: bool = True
    draining: bool = False
    since_revision: int = 0
    confirmed_revision: int = 0
    connections: int = 0
    last_heartbeat_at_ms: int
    created_at_ms: int
    updated_at_ms: int


async def read_all(conn: Connection) -> list[GatewayRow]:
    """All gateways, oldest first."""
    return _rows(await conn.fetch("SELECT * FROM gateways ORDER BY gateway_id"))


async def read(conn: Connection, gateway_id: str) -> GatewayRow | None:
    """A gateway, or None."""
    row = await conn.fetchrow("SELECT * FROM gateways WHERE gateway_id = $1", gateway_id)
    return None if row is None else GatewayRow(**dict(row))


async def public_hosts(conn: Connection, gateway_id: str | None, limit: int) -> list[str]:
    """The hosts of gateways that are online and do not drain, sorted.

    Args:
        gateway_id: only this gateway's host; None for the hosts of all.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT DISTINCT public_host FROM gateways
        WHERE online AND NOT draining AND ($1::text IS NULL OR gateway_id = $1) ORDER BY public_host LIMIT $2
        """,
        gateway_id,
        limit,
    )
    return [row["public_host"] for row in rows]


async def lock(conn: Connection, gateway_id: str) -> GatewayRow | None:
    """A gateway, its row locked until the transaction ends; None when there is none."""
    row = await conn.fetchrow("SELECT * FROM gateways WHERE gateway_id = $1 FOR UPDATE", gateway_id)
    return None if row is None else GatewayRow(**dict(row))


async def lock_all(conn: Connection) -> None:
    """Serialise transactions that change several gateways until this one ends, because each locks rows in an order of
    its own.
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('gateways', 0))")


async def count_others(conn: Connection, public_host: str, port: int) -> int:
    """How many gateways there are beside the one with this `public_host` and port."""
    counted = await conn.fetchval(
        "SELECT count(*) FROM gateways WHERE (public_host, port) <> ($1, $2)", public_host, port
    )
    return int(counted)


async def register(conn: Connection, row: GatewayRow) -> GatewayRow:
    """Store a gateway. One with the same host and port keeps its id, and whether it is draining."""
    made = await conn.fetch(
        """
        INSERT INTO gateways (gateway_id, region, public_host, port, capacity, secret, online, last_heartbeat_at_ms,
               created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, true, $7, $8, $9)
        ON CONFLICT (public_host, port) DO UPDATE SET region = excluded.region, capacity = excluded.capacity,
               secret = excluded.secret, online = true, confirmed_revision = 0, connections = 0,
               last_heartbeat_at_ms = excluded.last_heartbeat_at_ms, updated_at_ms = excluded.updated_at_ms
        RETURNING *
        """,
        row.gateway_id, row.region, row.public_host, row.port, row.capacity, row.secret, row.last_heartbeat_at_ms,
        row.created_at_ms, row.updated_at_ms,
    )  # fmt: skip
    (stored,) = _rows(made)
    return stored


async def hear(
    conn: Connection, gateway_id: str, secret: bytes, confirmed_revision: int
) -> GatewayRow | None:
    """Store that a gateway is online and has the routes of a revision; None, without effect, when the gateway is gone
    or has another secret by now.

    Args:
        secret: the SHA-256 of the secret with which the gateway has authenticated.
        confirmed_revision: the revision that it says it has; one beyond the present revision is stored as 0.
    """
    rows = await conn.fetch(
        """
        UPDATE gateways SET online = true, confirmed_revision = CASE
               WHEN $3 <= (SELECT revision FROM gateway_revision) THEN $3 ELSE 0 END
        WHERE gateway_id = $1 AND secret = $2 RETURNING *
        """,
        gateway_id,
        secret,
        confirmed_revision,
    )
    return next(iter(_rows(rows)), None)


async def set_online(conn: Connection, gateway_ids: Collection[str], online: bool) -> list[GatewayRow]:
    """Write whether gateways are online; returns those that were not so before. The caller has called `lock_all`."""
    return _rows(
        await conn.fetch(
            "UPDATE gateways SET online = $2 WHERE gateway_id = ANY($1::text[]) AND online <> $2 RETURNING *",
            sorted(gateway_ids),
            online,
        )
    )


async def change(conn: Connection, row: GatewayRow) -> None:
    """Write what an admin has changed of a gateway, whose row is locked."""
    await conn.execute(
        """
        UPDATE gateways SET region = $2, capacity = $3, draining = $4, since_revision = $5, updated_at_ms = $6
        WHERE gateway_id = $1
        """,
        row.gateway_id, row.region, row.capacity, row.draining, row.since_revision, row.updated_at_ms,
    )  # fmt: skip


async def save_heartbeats(conn: Connection, heard: Mapping[str, tuple[int, int]]) -> None:
    """Write the last heartbeats of gateways.

    Args:
        heard: {gateway id: (time of its last heartbeat in epoch milliseconds, its connections)}.
    """
    await lock_all(conn)
    await conn.executemany(
        "UPDATE gateways SET last_heartbeat_at_ms = $2, connections = $3 WHERE gateway_id = $1",
        [(gateway_id, at_ms, connections) for gateway_id, (at_ms, connections) in sorted(heard.items())],
    )


async def forget(conn: Connection, limit: int, before_ms: int) -> list[str]:
    """Delete gateways that are offline and were heard last before a moment; returns their ids.

    Args:
        limit: at most so many.
        before_ms: epoch milliseconds.
    """
    await lock_all(conn)
    rows = await conn.fetch(
        """
        DELETE FROM gateways WHERE gateway_id = ANY(ARRAY(
            SELECT gateway_id FROM gateways WHERE NOT online AND last_heartbeat_at_ms < $1
            ORDER BY last_heartbeat_at_ms LIMIT $2 FOR UPDATE))
        RETURNING gateway_id
        """,
        before_ms,
        limit,
    )
    return [row["gateway_id"] for row in rows]


def _rows(rows: Sequence[Row]) -> list[GatewayRow]:
    return [GatewayRow(**dict(row)) for row in rows]
