"""A network's DNS provider (service-api §4, DNS automation; contract §7)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.errors import Invalid, NotFound, RevisionConflict
from actors.field_errors import FieldError
from actors.ids import Uuid
from actors.networks import units_providers
from actors.networks.public import DnsConfig, dns_config_of
from persistence.networks import dns
from persistence.networks.rows import DnsRow
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.conditions import condition_of, etag_of
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Tagged
from routes.edge.wire import Wire
from routes.networks import cloudflare
from routes.networks.automation import INLINE_SECONDS
from routes.networks.cloudflare import CloudflareFault, TokenStatus
from routes.networks.guards import owner_of_network
from routes.networks.name_service import NAME_SERVICE

_CLOUDFLARE = "/v1/connect/networks/{networkId}/dns/cloudflare"

_SENTENCES: dict[TokenStatus | None, tuple[str, str]] = {
    "invalid": ("/apiToken", "Cloudflare does not take this token"),
    "insufficient_scope": ("/apiToken", "the token may not edit the zone's DNS records"),
    "zone_not_found": ("/zoneId", "the token has no such zone"),
    "unreachable": ("/apiToken", "Cloudflare could not be asked whether the token is good"),
}


class ProviderBody(Wire, frozen=True):
    """A Cloudflare token that may read and edit one zone.

    Args:
        api_token: never shown again.
        zone_id: 32 hexadecimal digits.
    """

    api_token: Annotated[str, msgspec.Meta(pattern=r"^[!-~]{1,256}$(?!\n)", max_length=256)]
    zone_id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}$(?!\n)", max_length=32)]


class ConfigReply(Wire, frozen=True):
    """The network's DNS provider, or null.

    Args:
        config: the provider; null while there is none.
    """

    config: DnsConfig | None


class RemovedDns(Wire, frozen=True):
    """Whether there was a provider to remove.

    Args:
        removed: false if there was none.
    """

    removed: bool


@endpoint("GET", _CLOUDFLARE, needs=AUTHENTICATED, refusals=(NotFound,), guard=owner_of_network)
async def read_dns_config(call: Call, network_id: Uuid) -> Tagged[ConfigReply]:
    """The network's DNS provider. For its owner; the token is not shown.

    Its `ETag` changes with zone and token, also from null to the first provider, and not with how the token stands.
    """
    row = await call.service.database.read(dns.read, network_id)
    shown = ConfigReply(None if row is None else _config(call, row))
    return Tagged(shown, _tag(row))


@endpoint(
    "PUT",
    _CLOUDFLARE,
    needs=AUTHENTICATED,
    refusals=(NotFound, Invalid, RevisionConflict),
    guard=owner_of_network,
)
async def put_dns_config(call: Call, network_id: Uuid, body: ProviderBody) -> Tagged[DnsConfig]:
    """Sets the zone in which the service maintains the network's records.

    For the network's owner. Token and zone are verified first: 422 with `meta.tokenStatus` if that fails. The
    token is stored encrypted. Records of domains claimed before, and of gateway routes, are made at once. `If-Match`
    names the `ETag` of the provider that the caller has changed; if that is not the current one, the answer is a 409
    `REVISION_CONFLICT`.
    """
    service, here = call.service, call.service.of(NAME_SERVICE)
    call.wait_longer(2 * cloudflare.SECONDS + INLINE_SECONDS)
    try:
        zone_name = await here.cloudflare.zone_name(body.api_token, body.zone_id)
    except CloudflareFault as fault:
        pointer, sentence = _SENTENCES[fault.status]
        raise Invalid(FieldError(pointer, "NOT_VERIFIED", sentence), tokenStatus=fault.status) from None
    row = DnsRow(
        network_id=network_id,
        zone_id=body.zone_id,
        zone_name=zone_name,
        sealed_token=here.tokens.seal(body.api_token, network_id, body.zone_id),
        token_status="active",  # noqa: S106 - a word
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
    )
    config = await change(
        call,
        partial(units_providers.adopt, is_current=condition_of(call, _writable)),
        row,
        here.record_hosts,
        service.clock.now_ms(),
        about=None,
        shape=lambda kept: Tagged(_config(call, kept), _tag(kept)),
    )
    await here.automation.push_soon(network_id)
    return config


@endpoint("DELETE", _CLOUDFLARE, needs=AUTHENTICATED, refusals=(NotFound,), guard=owner_of_network)
async def remove_dns_config(call: Call, network_id: Uuid) -> RemovedDns:
    """Deletes the provider and its token; existing DNS records stay.

    For the network's owner.
    """
    return await change(call, dns.remove, network_id, about=None, shape=RemovedDns)


def _tag(row: DnsRow | None) -> str:
    return etag_of(_writable(row))


def _writable(row: DnsRow | None) -> object:
    """The settings that a `ProviderBody` can change, for the ETag; a token in its sealed form, always unique."""
    return None if row is None else [row.zone_id, row.sealed_token.hex()]


def _config(call: Call, row: DnsRow) -> DnsConfig:
    return dns_config_of(row, call.service.of(NAME_SERVICE).gateway_domain)
