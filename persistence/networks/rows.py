"""The rows of the tables of networks, as structs."""

from typing import Literal

import msgspec

DomainStatus = Literal["pending", "verified", "failed"]
"""The state of a claim (contract §7)."""

ProfileMode = Literal["none", "share_code"]
"""Whether a network shows a shared profile (contract §7)."""

RecordType = Literal["TXT", "CNAME", "A"]
"""The types of DNS records that are written for a network."""


class NetworkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A network.

    Args:
        network_id: uuid, by which it is addressed.
        id: object id, for lists.
        slug: the network's name in URLs, unique among all networks; None where it has none.
    """

    network_id: str
    id: str
    name: str
    owner_id: str
    slug: str | None = None
    public_summary: str | None = None
    public_profile_mode: ProfileMode = "none"
    public_profile_share_code: str | None = None
    created_at_ms: int
    updated_at_ms: int


class TokenRow(msgspec.Struct, frozen=True):
    """A join token, as its SHA-256."""

    token: bytes
    network_id: str
    expires_at_ms: int
    used: bool = False


class HostRow(msgspec.Struct, frozen=True, kw_only=True):
    """A server that has joined a network as its agent."""

    id: str
    server_id: str
    network_id: str
    name: str
    owner_id: str
    last_seen_at_ms: int
    last_seen_ip: str | None
    created_at_ms: int
    updated_at_ms: int


class DomainRow(msgspec.Struct, frozen=True, kw_only=True):
    """A network's claim of a domain.

    Args:
        domain: the claimed domain in lower-case A-labels.
        token: the value that the domain's TXT record has to contain.
        confirmed_at_ms: when a check last found that record, epoch milliseconds; None before.
        verification_errors: why the last check failed; empty after a success.
        observed: the TXT records that the last check found.
    """

    id: str
    network_id: str
    domain: str
    token: str
    status: DomainStatus = "pending"
    verified_at_ms: int | None = None
    confirmed_at_ms: int | None = None
    last_checked_at_ms: int | None = None
    verification_errors: list[str] = []
    observed: list[str] = []
    created_at_ms: int
    updated_at_ms: int


class DnsRow(msgspec.Struct, frozen=True, kw_only=True):
    """A network's zone at its DNS provider.

    Args:
        sealed_token: the provider's token, sealed with the service's key.
        token_status: what the provider last said of the token.
    """

    network_id: str
    zone_id: str
    zone_name: str
    sealed_token: bytes
    token_status: str
    created_at_ms: int
    updated_at_ms: int


class DnsTask(msgspec.Struct, frozen=True):
    """A DNS record that is to be written at the provider.

    Args:
        content: the record's content, or None to remove the record; for type `A` host names, with commas between,
            whose addresses the records get.
        due_at_ms: when the record is to be written, epoch milliseconds.
        attempts: how often writing it has failed.
    """

    network_id: str
    type: RecordType
    name: str
    content: str | None
    due_at_ms: int
    attempts: int = 0


RouteStatus = Literal["pending", "active"]
"""Whether a gateway carries a route (contract §7)."""


class RouteRow(msgspec.Struct, frozen=True, kw_only=True):
    """The host name under which a gateway forwards players to a server.

    Args:
        gateway_id: the only gateway that may carry the route; None for any.
        status: `active` when an online gateway that carries it has confirmed its revision; not stored.
        revision: the revision of all routes at which this one was last changed.
        record_hosts: the hosts that its A records were last asked to name, with commas between, or None.
    """

    server_id: str
    route_host: str
    backend_host: str
    backend_port: int
    proxy_protocol: bool
    gateway_id: str | None = None
    status: RouteStatus = "pending"
    revision: int = 0
    record_hosts: str | None = None
    created_at_ms: int
    updated_at_ms: int
