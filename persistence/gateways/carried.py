"""The routes that gateways carry, and their revision."""

from dataclasses import dataclass

from persistence.connection import Connection

ROUTES_MAX = 50_000
"""The most routes that a gateway is given: the oldest."""

_READ = """
SELECT now.revision, ARRAY(SELECT gateway_id FROM gateways WHERE draining) AS draining,
       carried.gateway_id, carried.routes
FROM gateway_revision now LEFT JOIN (
    SELECT gateway_id, string_agg(json_build_object('routeHost', route_host, 'backendHost', backend_host,
           'backendPort', backend_port, 'proxyProtocol', proxy_protocol, 'revision', revision)::text, ',') AS routes
    FROM (SELECT * FROM gateway_routes ORDER BY created_at_ms, server_id LIMIT $1) AS oldest
    GROUP BY gateway_id
) AS carried ON true
"""


@dataclass(frozen=True, slots=True)
class CarriedRows:
    """The routes of all gateways at one revision.

    Args:
        revision: the revision of the routes as they were read.
        draining: ids of the gateways that are draining, which get no routes.
        routes: {gateway id: JSON texts of the routes that it alone carries, with commas between}; under None those
            that any gateway carries.
    """

    revision: int
    draining: frozenset[str]
    routes: dict[str | None, str]


async def read(conn: Connection) -> CarriedRows:
    """All routes, in one statement: the JSON is made by the database, since 50,000 routes are 7 MB of it."""
    rows = await conn.fetch(_READ, ROUTES_MAX)
    routes = {row["gateway_id"]: row["routes"] for row in rows if row["routes"] is not None}
    return CarriedRows(rows[0]["revision"], frozenset(rows[0]["draining"]), routes)


async def read_revision(conn: Connection) -> int:
    """The present revision of the routes."""
    return int(await conn.fetchval("SELECT revision FROM gateway_revision"))


async def take_revision(conn: Connection) -> int:
    """Take the next revision. No other transaction gets one until this one ends, so call this last in a transaction."""
    return int(await conn.fetchval("UPDATE gateway_revision SET revision = revision + 1 RETURNING revision"))
