"""Which hosts the A records of gateway routes name: one of the service's own, or the gateways that are online."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from actors.networks.records import record_of_route, record_type
from persistence.connection import Connection
from persistence.gateways import gateways
from persistence.networks import dns, domains, gateway_routes
from persistence.networks.rows import DnsTask

HOSTS_MAX = 20
"""The most gateways whose addresses one name has."""


@dataclass(frozen=True, slots=True)
class RecordHosts:
    """The hosts that the service's settings name for A records.

    Args:
        fixed: the host whose addresses the records of all routes have; None to use those of the gateways.
        spare: the host that is used while no gateway that could carry the route is online; None to leave records as
            they are then.
    """

    fixed: str | None
    spare: str | None

    @property
    def gateway_host(self) -> str | None:
        """The host that claimed domains lead to, a name or an address; None where routes alone lead to gateways."""
        return self.fixed or self.spare


async def hosts_of(conn: Connection, hosts: RecordHosts, gateway_id: str | None) -> str | None:
    """The hosts that a route's A records are to name now, with commas between; None to leave the records as they are.

    Args:
        gateway_id: the only gateway that may carry the route; None for any.
    """
    if hosts.fixed is not None:
        return hosts.fixed
    public = await gateways.public_hosts(conn, gateway_id, HOSTS_MAX)
    return ",".join(public) or hosts.spare


async def queue_records(
    conn: Connection,
    network_id: str,
    hosts_by_route: Iterable[tuple[str, str | None]],
    now_ms: int,
    *,
    gateway_host: str | None = None,
) -> None:
    """Queue the A records of a network's routes, where its DNS provider can hold them.

    Args:
        hosts_by_route: (host of a route, the hosts that its records are to name; None removes them).
        now_ms: epoch milliseconds, when they are due.
        gateway_host: the host that claimed domains lead to; None where there is none, or where records only go.
    """
    provider = await dns.read(conn, network_id)
    if provider is None:
        return
    aliases: set[str] = set()
    if gateway_host is not None and record_type(gateway_host) == "CNAME":
        aliases = {claim.domain for claim in await domains.of_network(conn, network_id)}
    tasks: list[DnsTask] = []
    for route_host, content in hosts_by_route:
        tasks += record_of_route(
            network_id, route_host, content, aliases=aliases, zone=provider.zone_name, due_at_ms=now_ms
        )
    await dns.add_tasks(conn, tasks)


async def follow(conn: Connection, hosts: RecordHosts, now_ms: int, limit: int) -> int:
    """Queue the records of routes that name other hosts than they should, because gateways have come or gone; a unit
    of work for one transaction. Where no gateway is online, the records stay.

    Args:
        now_ms: epoch milliseconds, when the records are due.
        limit: how many routes at most.

    Returns:
        For how many routes records were queued.
    """
    shared = await hosts_of(conn, RecordHosts(hosts.fixed, None), None)
    stale = await gateway_routes.lock_stale_records(conn, hosts.fixed, shared, limit)
    for network_id, routes in groupby(stale, lambda one: one.network_id):
        wanted = [(one.route_host, one.hosts) for one in routes]
        await queue_records(conn, network_id, wanted, now_ms, gateway_host=hosts.gateway_host)
    await gateway_routes.save_record_hosts(conn, {one.server_id: one.hosts for one in stale})
    return len(stale)
