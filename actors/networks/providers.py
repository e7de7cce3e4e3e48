"""A network's DNS provider: taking one, and everything that it is then to be given (service-api §4, DNS automation)."""

from actors.errors import NotFound
from actors.networks.records import record_of_route, records_of_claim
from persistence.connection import Connection
from persistence.networks import dns, domains, gateway_routes, networks
from persistence.networks.rows import DnsRow


async def adopt(conn: Connection, row: DnsRow, gateway_host: str | None, now_ms: int) -> DnsRow:
    """Take a verified provider, and let the records of all claims and routes be written; for one transaction.

    Args:
        gateway_host: where players reach the network; None while it has no gateway.

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
