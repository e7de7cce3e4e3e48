"""Gateway routes: the host names under which players reach a server (contract §7)."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from msgspec.structs import replace

from actors.change import Change
from actors.errors import Conflict, DomainNotVerified, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.gateways.events import RoutesChanged
from actors.hostnames import inside, is_address, normal_host
from actors.networks.record_hosts import RecordHosts, hosts_of, queue_records
from persistence.connection import Connection
from persistence.gateways.carried import ROUTES_MAX
from persistence.networks import dns, domains, gateway_routes
from persistence.networks.rows import RouteRow, RouteStatus

_CARRIED = ("route_host", "backend_host", "backend_port", "proxy_protocol", "gateway_id")
"""The fields of a route that gateways are told of."""


def checked(route_host: str, backend_host: str) -> tuple[str, str]:
    """Check both hosts of a route, and return them in their normal form; pure.

    Args:
        route_host: the host that players connect to, a name.
        backend_host: the host of the server, a name or an IP address with or without brackets.

    Raises:
        Invalid: one of the two is malformed.
    """
    route = normal_host(route_host)
    bare = backend_host.removeprefix("[").removesuffix("]")
    backend = bare.lower() if is_address(bare) else normal_host(backend_host)
    if route is None or backend is None:
        pointer = "/routeHost" if route is None else "/backendHost"
        raise Invalid(FieldError(pointer, "BAD_FORMAT", "not the name of a host"))
    return route, backend


async def put(
    conn: Connection, row: RouteRow, gateway_domain: str | None, record_hosts: RecordHosts, now_ms: int
) -> Change[tuple[RouteRow, str | None]]:
    """Store a server's route in place of its former one; a unit of work for one transaction.

    Args:
        gateway_domain: the domain below which every claimed server may have a host; None without one.
        record_hosts: decides which hosts' addresses the A records get.
        now_ms: epoch milliseconds.

    Returns:
        The route, and the server's network.

    Raises:
        NotFound: the server is gone.
        DomainNotVerified: the host is not inside a verified domain.
        Conflict: the server is not claimed, or the host is another server's.
        QuotaExceeded: there are `ROUTES_MAX` routes already.
    """
    server = await gateway_routes.lock_server(conn, row.server_id)
    if server is None:
        raise NotFound
    owner_id, network_id = server
    if owner_id is None:
        raise Conflict("this server has not been claimed")
    if network_id is not None:
        await dns.hold_provider(conn, network_id)
    below = gateway_domain is not None and row.route_host != gateway_domain
    if not (below and inside(row.route_host, gateway_domain or "")) and not (
        network_id is not None and await domains.covers(conn, network_id, row.route_host)
    ):
        raise DomainNotVerified("the host lies in no verified domain of the server's network")
    former = await gateway_routes.read(conn, row.server_id)
    if former is not None:
        row = replace(row, status=_status_after(former, row), created_at_ms=former.created_at_ms)
    elif await gateway_routes.count(conn) >= ROUTES_MAX:
        raise QuotaExceeded(message=f"gateways carry {ROUTES_MAX} routes", max=ROUTES_MAX)
    row = replace(row, record_hosts=await hosts_of(conn, record_hosts, row.gateway_id))
    if not await gateway_routes.put(conn, row):
        raise Conflict("another server has this host")
    if network_id is not None:
        records: list[tuple[str, str | None]] = []
        if former is not None and former.route_host != row.route_host:
            records.append((former.route_host, None))
        if row.record_hosts is not None:
            records.append((row.route_host, row.record_hosts))
        await queue_records(conn, network_id, records, now_ms, gateway_host=record_hosts.gateway_host)
    return Change((row, network_id), (RoutesChanged(),))


async def remove(conn: Connection, server_id: str, now_ms: int) -> Change[str | None]:
    """Remove a server's route and queue the removal of its records; a unit of work for one transaction.

    Returns:
        The server's network.

    Raises:
        NotFound: the server has no route.
    """
    server = await gateway_routes.lock_server(conn, server_id)
    host = await gateway_routes.remove(conn, server_id)
    if server is None or host is None:
        raise NotFound("there is no route")
    _, network_id = server
    if network_id is not None:
        await queue_records(conn, network_id, [(host, None)], now_ms)
    return Change(network_id, (RoutesChanged(),))


async def remove_left(
    conn: Connection, left: Mapping[str, str], gateway_domain: str | None, now_ms: int
) -> None:
    """Remove the routes of servers that have left their networks, and queue the removal of their records, inside the
    transaction that takes them out. Routes below the gateway domain stay: they stand on no network's domain.

    Args:
        left: {server: the network that it has left}.
        gateway_domain: the domain below which routes stay; None without one.
        now_ms: epoch milliseconds, when the records are due.
    """
    gone = sorted(await gateway_routes.remove_left(conn, left, gateway_domain))
    for network_id, routes in groupby(gone, itemgetter(0)):
        await queue_records(conn, network_id, [(host, None) for _, host in routes], now_ms)


async def remove_of_servers(
    conn: Connection, server_ids: Sequence[str], gateway_domain: str | None, now_ms: int
) -> None:
    """`remove_left` for servers that are about to be removed themselves, with what is left of their routes.

    Args:
        gateway_domain: the domain below which routes stay; None without one.
        now_ms: epoch milliseconds, when the records are due.
    """
    await remove_left(conn, await gateway_routes.lock_networks(conn, server_ids), gateway_domain, now_ms)


def _status_after(former: RouteRow, row: RouteRow) -> RouteStatus:
    """The status of a route that was put again: where nothing else was put, gateways have it already."""
    unchanged = all(getattr(former, name) == getattr(row, name) for name in _CARRIED)
    return former.status if unchanged else "pending"
