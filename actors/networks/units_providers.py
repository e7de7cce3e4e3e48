"""Connect a network to its DNS provider, and queue the records that it is to hold (service-api §4, DNS automation)."""

from collections.abc import Callable

from actors.errors import NotFound, RevisionConflict
from actors.networks.record_hosts import RecordHosts, hosts_of, queue_records
from actors.networks.records import records_of_claim
from persistence.connection import Connection
from persistence.networks import dns, domains, gateway_routes, networks
from persistence.networks.rows import DnsRow


async def adopt(
    conn: Connection,
    row: DnsRow,
    record_hosts: RecordHosts,
    now_ms: int,
    *,
    is_current: Callable[[DnsRow | None], bool],
) -> DnsRow:
    """Store a verified provider and queue the records of all claims and routes; a unit of work for one transaction.

    Args:
        row: the provider, whose token was verified.
        record_hosts: decides where domains lead, and which hosts' addresses A records get.
        now_ms: epoch milliseconds, when the records are due.
        is_current: whether the stored provider, or None for none, is the one that the client has seen and changed.

    Raises:
        NotFound: there is no such network.
        RevisionConflict: the provider has changed since the client saw it.
    """
    network_id = row.network_id
    if await networks.lock(conn, network_id) is None:
        raise NotFound
    if not is_current(await dns.read(conn, network_id)):
        raise RevisionConflict
    # Routes are locked before records are queued, as where a route is put; one that is being put is waited for.
    await dns.close(conn, network_id)
    routes = await gateway_routes.lock_of_network(conn, network_id)
    hosts = {id: await hosts_of(conn, record_hosts, id) for id in {gateway_id for _, _, gateway_id in routes}}
    wanted = [(server_id, host, hosts[id]) for server_id, host, id in routes if hosts[id] is not None]
    await gateway_routes.save_record_hosts(conn, {server_id: content for server_id, _, content in wanted})
    await dns.put(conn, row)
    claims, gateway_host = await domains.of_network(conn, network_id), record_hosts.gateway_host
    await dns.add_tasks(
        conn,
        [task for claim in claims for task in records_of_claim(claim, row.zone_name, gateway_host, now_ms)],
    )
    records = [(host, content) for _, host, content in wanted]
    await queue_records(conn, network_id, records, now_ms, gateway_host=gateway_host)
    kept = await dns.read(conn, network_id)
    return kept or row
