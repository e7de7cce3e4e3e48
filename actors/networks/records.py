"""Which DNS records a network's provider is to hold (service-api §4, DNS automation). Pure."""

from collections.abc import Iterable

from actors.hostnames import inside
from persistence.networks.rows import DnsTask, DomainRow


def txt_name(domain: str) -> str:
    """The name of a claim's TXT record (service-api §4)."""
    return f"_svc.{domain}"


def txt_value(token: str) -> str:
    """The content of a claim's TXT record (service-api §4)."""
    return f"svc-network={token}"


def records_of_claim(
    claim: DomainRow, zone: str | None, gateway_host: str | None, due_at_ms: int
) -> list[DnsTask]:
    """The TXT record of a claim and the CNAME of its domain; none when the domain is not in the zone.

    Args:
        zone: the zone of the network's provider; None without a provider.
        gateway_host: the host that the CNAME points to; None for no CNAME.
        due_at_ms: when they are to be written, epoch milliseconds.
    """
    if zone is None or not inside(claim.domain, zone):
        return []
    network_id, domain = claim.network_id, claim.domain
    tasks = [DnsTask(network_id, "TXT", txt_name(domain), txt_value(claim.token), due_at_ms)]
    if gateway_host is not None:
        tasks.append(DnsTask(network_id, "CNAME", domain, gateway_host, due_at_ms))
    return tasks


def record_of_route(
    network_id: str,
    route_host: str,
    content: str | None,
    *,
    claimed: Iterable[str],
    zone: str,
    due_at_ms: int,
) -> list[DnsTask]:
    """The task that writes or removes the A records of a route's host; none where the provider cannot hold them.

    That is so where the host is not in the zone, and where it is a claimed domain: it has a CNAME, and no other
    record may stand beside one (RFC 1034 §3.6.2).

    Args:
        route_host: the host by which players reach the route and the name of the records, in its normal form.
        content: the hosts whose addresses they get, with commas between; None to remove them.
        claimed: the network's claimed domains.
        zone: the zone of the network's provider.
        due_at_ms: when the task is due, epoch milliseconds.
    """
    if not inside(route_host, zone) or route_host in claimed:
        return []
    return [DnsTask(network_id, "A", route_host, content, due_at_ms)]
