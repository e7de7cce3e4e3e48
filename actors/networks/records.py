"""Which DNS records a network's provider is to hold (service-api §4, DNS automation). Pure."""

from collections.abc import Iterable

from msgspec.structs import replace

from actors.hostnames import inside, is_address
from persistence.networks.rows import DnsRow, DnsTask, DomainRow, RecordType


def txt_name(domain: str) -> str:
    """The name of a claim's TXT record (service-api §4)."""
    return f"_svc.{domain}"


def txt_value(token: str) -> str:
    """The content of a claim's TXT record (service-api §4)."""
    return f"svc-network={token}"


def record_type(gateway_host: str | None) -> RecordType:
    """The type of the record that leads a claimed domain to the service's gateway host: CNAME, but A where the host is
    an address, since a CNAME leads to names only (RFC 1035 §3.3.1).
    """
    return "A" if gateway_host is not None and is_address(gateway_host) else "CNAME"


def records_of_claim(
    claim: DomainRow, zone: str | None, gateway_host: str | None, due_at_ms: int
) -> list[DnsTask]:
    """The TXT record of a claim and the record that leads its domain to a gateway; none when the domain is not in the
    zone.

    Args:
        zone: the zone of the network's provider; None without a provider.
        gateway_host: the host that the domain leads to, a name or an address; None for no such record.
        due_at_ms: when they are to be written, epoch milliseconds.
    """
    if zone is None or not inside(claim.domain, zone):
        return []
    network_id, domain = claim.network_id, claim.domain
    tasks = [DnsTask(network_id, "TXT", txt_name(domain), txt_value(claim.token), due_at_ms)]
    if gateway_host is not None:
        tasks.append(DnsTask(network_id, record_type(gateway_host), domain, gateway_host, due_at_ms))
    return tasks


def record_of_route(
    network_id: str,
    route_host: str,
    content: str | None,
    *,
    aliases: Iterable[str],
    zone: str,
    due_at_ms: int,
) -> list[DnsTask]:
    """The task that writes or removes the A records of a route's host; none where the provider cannot hold them.

    That is so where the host is not in the zone, and where it has a CNAME: no other record may stand beside one
    (RFC 1034 §3.6.2).

    Args:
        route_host: the host by which players reach the route and the name of the records, in its normal form.
        content: the hosts whose addresses they get, with commas between; None to remove them.
        aliases: the network's claimed domains that have a CNAME.
        zone: the zone of the network's provider.
        due_at_ms: when the task is due, epoch milliseconds.
    """
    if not inside(route_host, zone) or (content is not None and route_host in aliases):
        return []
    return [DnsTask(network_id, "A", route_host, content, due_at_ms)]


def removals(provider: DnsRow, claims: Iterable[DomainRow], queued: Iterable[DnsTask]) -> tuple[DnsTask, ...]:
    """The tasks that remove what a network has at its provider, before the network goes: first the records that are
    queued, whatever they were to say, and then those of its claims.

    Args:
        provider: the network's provider.
        claims: all claims of the network.
        queued: all tasks of the network.
    """
    gone = {(task.type, task.name): replace(task, content=None) for task in queued}
    for domain in [claim.domain for claim in claims if inside(claim.domain, provider.zone_name)]:
        # CNAME and A also where the service has no gateway host now, or one of the other kind: it may have had one.
        records: tuple[tuple[RecordType, str], ...] = (
            ("CNAME", domain),
            ("A", domain),
            ("TXT", txt_name(domain)),
        )
        for type, name in records:
            gone[type, name] = DnsTask(provider.network_id, type, name, None, due_at_ms=0)
    return tuple(gone.values())
