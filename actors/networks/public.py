"""What clients see of networks (service-api §2, contract §7). The only secret shown is a new join token."""

import msgspec

from actors.time import iso
from persistence.networks.rows import (
    DnsRow,
    DomainRow,
    DomainStatus,
    HostRow,
    NetworkRow,
    ProfileMode,
    RouteRow,
    RouteStatus,
)


class Network(msgspec.Struct, frozen=True, rename="camel"):
    """A network of game servers.

    Args:
        id: an object id.
        network_id: a uuid, as in paths.
        slug: the network's name in addresses, or null.
        public_summary: what its public page says of it; null without a text.
        public_profile_mode: whether the network shows the profile behind `publicProfileShareCode`.
    """

    id: str
    network_id: str
    name: str
    owner_id: str
    slug: str | None
    public_summary: str | None
    public_profile_mode: ProfileMode
    public_profile_share_code: str | None
    created_at: str
    updated_at: str


class Host(msgspec.Struct, frozen=True, rename="camel"):
    """A server that has joined a network as its agent.

    Args:
        id: an object id.
        server_id: a uuid, as in X-Server-Id.
        server_type: always `agent`.
        last_seen_at, last_seen_ip: the time and IP address of its last call; the address is null if it has never
            called.
    """

    id: str
    server_id: str
    network_id: str
    server_type: str
    name: str
    owner_id: str
    last_seen_at: str
    last_seen_ip: str | None
    created_at: str
    updated_at: str


class Domain(msgspec.Struct, frozen=True, rename="camel"):
    """A network's claim of a domain.

    Args:
        id: an object id, as in paths.
        domain: the domain in lower-case A-labels.
        token: the token that the TXT record has to name.
        verified: whether the domain is proven to be the network's.
        verified_at: since when it is proven; null before.
        status: `failed` when the last check failed; it may be checked again.
        verification_errors: why the last check failed.
        observed: the TXT records that the last check found.
        last_checked_at: when the proof was last looked for; null before the first time.
    """

    id: str
    network_id: str
    domain: str
    token: str
    verified: bool
    verified_at: str | None
    status: DomainStatus
    verification_errors: list[str]
    observed: list[str]
    last_checked_at: str | None
    created_at: str
    updated_at: str


class DnsConfig(msgspec.Struct, frozen=True, rename="camel"):
    """A network's DNS provider; its token is never shown.

    Args:
        provider: always `cloudflare`.
        zone_id: the zone in which names are made, as the provider calls it.
        zone_name: the zone's domain.
        token_status: `active`, or what the provider last refused: `invalid`, `insufficient_scope`,
            `zone_not_found`, `unreachable`.
        gateway_base_domain: the domain below which gateways give out names, or null.
    """

    network_id: str
    provider: str
    zone_id: str
    zone_name: str
    token_status: str
    gateway_base_domain: str | None
    created_at: str
    updated_at: str


class GatewayRoute(msgspec.Struct, frozen=True, rename="camel"):
    """The host name under which gateways forward players to a server.

    Args:
        status: `active` when an online gateway that carries it has confirmed it, else `pending`.
    """

    server_id: str
    route_host: str
    backend_host: str
    backend_port: int
    proxy_protocol: bool
    gateway_id: str | None
    status: RouteStatus
    created_at: str
    updated_at: str


def network_of(row: NetworkRow) -> Network:
    """The network as its owner sees it."""
    return Network(
        id=row.id,
        network_id=row.network_id,
        name=row.name,
        owner_id=row.owner_id,
        slug=row.slug,
        public_summary=row.public_summary,
        public_profile_mode=row.public_profile_mode,
        public_profile_share_code=row.public_profile_share_code,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )


def host_of(row: HostRow, seen: tuple[int, str] | None) -> Host:
    """The host as its owner sees it.

    Args:
        seen: (epoch milliseconds, address) of a call that may not be written to the row yet.
    """
    at_ms, address = row.last_seen_at_ms, row.last_seen_ip
    if seen is not None and seen[0] >= at_ms:
        at_ms, address = seen
    return Host(
        id=row.id,
        server_id=row.server_id,
        network_id=row.network_id,
        server_type="agent",
        name=row.name,
        owner_id=row.owner_id,
        last_seen_at=iso(at_ms),
        last_seen_ip=address,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )


def domain_of(row: DomainRow) -> Domain:
    """The claim as its network's owner sees it."""
    return Domain(
        id=row.id,
        network_id=row.network_id,
        domain=row.domain,
        token=row.token,
        verified=row.status == "verified",
        verified_at=None if row.verified_at_ms is None else iso(row.verified_at_ms),
        status=row.status,
        verification_errors=row.verification_errors,
        observed=row.observed,
        last_checked_at=None if row.last_checked_at_ms is None else iso(row.last_checked_at_ms),
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )


def dns_config_of(row: DnsRow, gateway_base_domain: str | None) -> DnsConfig:
    """The provider as its network's owner sees it.

    Args:
        gateway_base_domain: the domain below which gateways give out names; None where they give out none.
    """
    return DnsConfig(
        network_id=row.network_id,
        provider="cloudflare",
        zone_id=row.zone_id,
        zone_name=row.zone_name,
        token_status=row.token_status,
        gateway_base_domain=gateway_base_domain,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )


def route_of(row: RouteRow) -> GatewayRoute:
    """The route as its server sees it."""
    return GatewayRoute(
        server_id=row.server_id,
        route_host=row.route_host,
        backend_host=row.backend_host,
        backend_port=row.backend_port,
        proxy_protocol=row.proxy_protocol,
        gateway_id=row.gateway_id,
        status=row.status,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )
