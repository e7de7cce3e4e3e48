"""Connect a network to its DNS provider, and queue the records that it is to hold (service-api §4, DNS automation)."""

from actors.errors import NotFound
from actors.networks.records import record_of_route, records_of_claim
from persistence.connection import Connection
from persistence.networks import dns, domains, gateway_routes, networks
from persistence.networks.rows import DnsRow


async def adopt(conn: Connection, row: DnsRow, gateway_host: str | None, now_ms: int) -> DnsRow:
    """Store a verified provider and queue the records of all claims and routes; a unit of work for one transaction.

    Args:
        gateway_host: the host name that CNAMEs point to and whose addresses A records get; None queues neither.
        now_ms: epoch milliseconds, when the records are due.

    Raises:
        NotFound: there is no such network.
    """
    network_id = row.network_id
    if await networks.lock(conn, network_id) is None:
        raise NotFound
    await dns.put(conn, row)
    claims = await domains.of_network(conn, network_id)
    claimed = {claim.domain for claim in claims}
    tasks = [
        task for claim in claims for task in records_of_claim(claim, row.zone_name, gateway_host, now_ms)
    ]
    if gateway_host is not None:
        for host in await gateway_routes.hosts_of_network(conn, network_id):
            tasks += record_of_route(
                network_id, host, gateway_host, claimed=claimed, zone=row.zone_name, due_at_ms=now_ms
            )
    await dns.add_tasks(conn, tasks)
    kept = await dns.read(conn, network_id)
    return kept or row
