"""Gateway routes, in rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from persistence.connection import Connection
from persistence.networks.rows import RouteRow, RouteStatus

_ROUTES = """
WITH fit AS (
    SELECT gateway_id, confirmed_revision FROM gateways
    WHERE online AND NOT draining AND confirmed_revision >= since_revision
)
SELECT r.server_id, r.route_host, r.backend_host, r.backend_port, r.proxy_protocol, r.gateway_id,
       CASE WHEN r.revision <= CASE WHEN r.gateway_id IS NULL THEN (SELECT max(confirmed_revision) FROM fit)
            ELSE own.confirmed_revision END THEN 'active' ELSE 'pending' END AS status,
       r.revision, r.record_hosts, r.created_at_ms, r.updated_at_ms
FROM gateway_routes r LEFT JOIN fit own ON own.gateway_id = r.gateway_id
"""

_PAGE = f"""
SELECT routes.*, s.network_id FROM ({_ROUTES}) AS routes JOIN connect_servers s USING (server_id)
WHERE ($1::text IS NULL OR routes.status = $1) AND ($2::text IS NULL OR server_id = $2)
AND ($3::text IS NULL OR s.network_id = $3) AND ($4::text IS NULL OR routes.route_host > $4)
ORDER BY routes.route_host LIMIT $5
"""  # noqa: S608 - of constants

# Whether the host of `r` lies below the gateway domain, `{0}`.
_BELOW = "coalesce(right(r.route_host, length({0}) + 1) = '.' || {0}, false)"

# Both lock by network and server, as whoever follows the gateways' addresses does, so that none waits for another that
# waits for it.
_REMOVE_UNCOVERED = f"""
WITH gone AS (
    SELECT r.server_id FROM gateway_routes r JOIN connect_servers s USING (server_id)
    WHERE (r.route_host = $1 OR right(r.route_host, length($1) + 1) = '.' || $1)
    AND NOT {_BELOW.format("$2::text")}
    AND NOT EXISTS (
        SELECT FROM network_domains d WHERE d.network_id = s.network_id AND d.status = 'verified'
        AND d.domain = ANY (domains_of_host(r.route_host)))
    ORDER BY s.network_id, r.server_id FOR UPDATE OF r
)
DELETE FROM gateway_routes r USING gone WHERE r.server_id = gone.server_id RETURNING r.route_host
"""  # noqa: S608 - of constants

_REMOVE_LEFT = f"""
WITH gone AS (
    SELECT r.server_id, l.network_id FROM gateway_routes r
    JOIN unnest($1::text[], $2::text[]) AS l (server_id, network_id) USING (server_id)
    WHERE NOT {_BELOW.format("$3::text")} ORDER BY l.network_id, r.server_id FOR UPDATE OF r
)
DELETE FROM gateway_routes r USING gone WHERE r.server_id = gone.server_id
RETURNING gone.network_id, r.route_host
"""  # noqa: S608 - of constants


async def lock_server(conn: Connection, server_id: str) -> tuple[str | None, str | None] | None:
    """(owner, network) of a server, which cannot change until the transaction ends; None when there
    is no such server.
    """
    row = await conn.fetchrow(
        "SELECT owner_id, network_id FROM connect_servers WHERE server_id = $1 FOR SHARE", server_id
    )
    return None if row is None else (row["owner_id"], row["network_id"])


async def lock_networks(conn: Connection, server_ids: Sequence[str]) -> dict[str, str]:
    """{server id: network id} of those servers that are in a network; they get no routes until the transaction ends."""
    rows = await conn.fetch(
        "SELECT server_id, network_id FROM connect_servers WHERE server_id = ANY ($1::text[])"
        " ORDER BY server_id FOR UPDATE",
        list(server_ids),
    )
    return {row["server_id"]: row["network_id"] for row in rows if row["network_id"] is not None}


async def read(conn: Connection, server_id: str) -> RouteRow | None:
    """A server's route, or None."""
    row = await conn.fetchrow(f"{_ROUTES} WHERE r.server_id = $1", server_id)
    return None if row is None else RouteRow(**dict(row))


class WantedRoutes(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of a page of routes.

    Args:
        status, server_id, network_id: only routes with this status, server or network; None for any.
        after: the host after which the page begins; None for the first page.
        limit: at most so many.
    """

    status: RouteStatus | None
    server_id: str | None
    network_id: str | None
    after: str | None
    limit: int


class RouteOfNetwork(msgspec.Struct, frozen=True):
    """A route, and the id of its server's network, if any."""

    route: RouteRow
    network_id: str | None


async def page(conn: Connection, wanted: WantedRoutes) -> list[RouteOfNetwork]:
    """The wanted routes, ordered by their hosts."""
    rows = await conn.fetch(
        _PAGE, wanted.status, wanted.server_id, wanted.network_id, wanted.after, wanted.limit
    )
    return [_of_network(dict(row)) for row in rows]


async def count(conn: Connection) -> int:
    """How many routes there are; transactions that ask this wait for each other."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('routes of gateways', 0))")
    return int(await conn.fetchval("SELECT count(*) FROM gateway_routes"))


async def put(conn: Connection, row: RouteRow) -> bool:
    """Store a server's route in place of a former one; False, without effect, when its host is another server's."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('route ' || $1, 0))", row.route_host)
    taken = await conn.fetchval(
        "SELECT server_id FROM gateway_routes WHERE route_host = $1 AND server_id <> $2",
        row.route_host,
        row.server_id,
    )
    if taken is not None:
        return False
    await conn.execute(
        """
        INSERT INTO gateway_routes (server_id, route_host, backend_host, backend_port, proxy_protocol, gateway_id,
               record_hosts, created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (server_id) DO UPDATE SET route_host = excluded.route_host, backend_host = excluded.backend_host,
               backend_port = excluded.backend_port, proxy_protocol = excluded.proxy_protocol,
               gateway_id = excluded.gateway_id, record_hosts = excluded.record_hosts,
               updated_at_ms = excluded.updated_at_ms
        """,
        row.server_id, row.route_host, row.backend_host, row.backend_port, row.proxy_protocol, row.gateway_id,
        row.record_hosts, row.created_at_ms, row.updated_at_ms,
    )  # fmt: skip
    return True


async def remove(conn: Connection, server_id: str) -> str | None:
    """Delete a server's route; returns its host, or None when there was none."""
    host = await conn.fetchval(
        "DELETE FROM gateway_routes WHERE server_id = $1 RETURNING route_host", server_id
    )
    return None if host is None else str(host)


async def lock_of_network(conn: Connection, network_id: str) -> list[tuple[str, str, str | None]]:
    """(server, host, gateway) of all routes to servers of a network, locked until the transaction ends.

    The gateway is the only one that may carry the route, or None.
    """
    rows = await conn.fetch(
        """
        SELECT r.server_id, r.route_host, r.gateway_id FROM gateway_routes r JOIN connect_servers s USING (server_id)
        WHERE s.network_id = $1 ORDER BY r.server_id FOR UPDATE OF r
        """,
        network_id,
    )
    return [(row["server_id"], row["route_host"], row["gateway_id"]) for row in rows]


class StaleRecords(msgspec.Struct, frozen=True):
    """A route whose A records name other hosts than they should.

    Args:
        hosts: the hosts that they should name, with commas between.
    """

    network_id: str
    server_id: str
    route_host: str
    hosts: str


async def lock_stale_records(
    conn: Connection, fixed: str | None, shared: str | None, limit: int
) -> list[StaleRecords]:
    """Routes of networks with a DNS provider whose A records name other hosts than they should, by network, locked
    until the transaction ends. Where no gateway is online that could carry a route, its records are as they should be.

    Args:
        fixed: the hosts that all routes should have, with commas between; None where each gateway has its own.
        shared: the hosts of routes that any gateway may carry, with commas between; None leaves those as they are.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT s.network_id, r.server_id, r.route_host, wanted.hosts
        FROM network_dns d JOIN connect_servers s USING (network_id) JOIN gateway_routes r USING (server_id)
        LEFT JOIN gateways g ON g.gateway_id = r.gateway_id AND g.online AND NOT g.draining
        CROSS JOIN LATERAL (
            SELECT CASE WHEN $1::text IS NOT NULL THEN $1 WHEN r.gateway_id IS NULL THEN $2::text
                   ELSE g.public_host END AS hosts) AS wanted
        WHERE wanted.hosts IS NOT NULL AND r.record_hosts IS DISTINCT FROM wanted.hosts
        ORDER BY s.network_id, r.server_id LIMIT $3 FOR UPDATE OF r
        """,
        fixed,
        shared,
        limit,
    )
    return [StaleRecords(*row) for row in rows]


async def save_record_hosts(conn: Connection, hosts: Mapping[str, str | None]) -> None:
    """Note what the A records of routes were asked to name.

    Args:
        hosts: {server id: the hosts, with commas between}.
    """
    await conn.executemany(
        "UPDATE gateway_routes SET record_hosts = $2 WHERE server_id = $1", sorted(hosts.items())
    )


async def remove_uncovered(conn: Connection, domain: str, gateway_domain: str | None) -> list[str]:
    """Delete the routes inside a domain whose servers are in no network that has verified the host's domain, but for
    those below the gateway domain.

    Args:
        domain: lower-case A-labels, without a trailing dot.
        gateway_domain: the domain below which every server may have a route, in that form; None where there is none.

    Returns:
        The hosts of the routes deleted.
    """
    rows = await conn.fetch(_REMOVE_UNCOVERED, domain, gateway_domain)
    return [row["route_host"] for row in rows]


async def remove_left(
    conn: Connection, left: Mapping[str, str], gateway_domain: str | None
) -> list[tuple[str, str]]:
    """Delete the routes of servers that leave their networks, but for those below the gateway domain.

    Args:
        left: {server id: id of the network that it leaves}; the transaction has locked the servers' rows.
        gateway_domain: as for `remove_uncovered`.

    Returns:
        (network, host) of the routes deleted.
    """
    rows = await conn.fetch(_REMOVE_LEFT, list(left), list(left.values()), gateway_domain)
    return [(row["network_id"], row["route_host"]) for row in rows]


def _of_network(row: dict[str, Any]) -> RouteOfNetwork:
    network_id = row.pop("network_id")
    return RouteOfNetwork(RouteRow(**row), network_id)
