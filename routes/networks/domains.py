"""Claims of domains, and their verification by DNS (service-api §4, contract §7)."""

from typing import Annotated

import msgspec

from actors.errors import DomainNotVerified, Invalid, NotFound, QuotaExceeded
from actors.gateways.events import RoutesChanged
from actors.ids import ObjectId, Uuid
from actors.networks import units_claims
from actors.networks.public import Domain, domain_of
from actors.networks.records import record_type, txt_name, txt_value
from actors.networks.units_claims import HELD_ELSEWHERE, WRONG_VALUE, Claimed, Lookup, claimable
from persistence.networks import domains
from persistence.networks.rows import DomainRow
from routes.call import Call
from routes.changes import change, change_by_itself
from routes.edge.declare.endpoint import endpoint
from routes.edge.identity.base64url import to_base64url
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.networks.automation import INLINE_SECONDS
from routes.networks.guards import owner_of_network
from routes.networks.name_service import NAME_SERVICE
from routes.networks.resolver import SECONDS
from routes.rates import DOMAIN_VERIFY

TOKEN_BYTES = 24

_DOMAINS = "/v1/connect/networks/{networkId}/domains"


class DomainBody(Wire, frozen=True):
    """The domain to claim, in Unicode or A-labels."""

    domain: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


class DomainList(Wire, frozen=True):
    """The network's claims, oldest first."""

    items: tuple[Domain, ...]


class TxtRecord(Wire, frozen=True):
    """The record that verifies the claim.

    Args:
        value: the record's text.
    """

    name: str
    value: str


class GatewayRecord(Wire, frozen=True):
    """The record that directs players to a gateway.

    Args:
        type: `CNAME`; `A` if the gateway's host is an address.
        value: the gateway's host; null if the service has none.
        auto_managed: whether the service writes both records at the network's DNS provider.
    """

    type: str
    name: str
    value: str | None
    auto_managed: bool


class ClaimedDomain(Wire, frozen=True):
    """A claim, and the DNS records to be made for it.

    Args:
        txt: the record that proves it.
        gateway: the record that leads players to the gateways.
    """

    domain: Domain
    txt: TxtRecord
    gateway: GatewayRecord


class DomainReply(Wire, frozen=True):
    """The claim."""

    domain: Domain


async def claim_of(call: Call, network_id: Uuid, domain_id: ObjectId) -> DomainRow:
    """Guard: requires that the caller owns the network, and that it has made the claim.

    Raises:
        NotFound: there is no such claim, or the network is another user's: both are answered alike.
    """
    await owner_of_network(call, network_id)
    row = await call.service.database.read(domains.read, domain_id, network_id)
    if row is None:
        raise NotFound
    return row


@endpoint("GET", _DOMAINS, needs=AUTHENTICATED, refusals=(NotFound,), guard=owner_of_network)
async def list_domains(call: Call, network_id: Uuid) -> DomainList:
    """The domains that the network has claimed. For its owner."""
    rows = await call.service.database.read(domains.of_network, network_id)
    return DomainList(tuple(domain_of(row) for row in rows))


@endpoint(
    "POST",
    _DOMAINS,
    needs=AUTHENTICATED,
    status=201,
    found_status=200,
    refusals=(NotFound, Invalid, QuotaExceeded),
    guard=owner_of_network,
)
async def claim_domain(call: Call, network_id: Uuid, body: DomainBody) -> Reply[ClaimedDomain]:
    """Claims a domain, and answers the DNS records that verify and direct it.

    For the network's owner. If the zone of the network's DNS provider holds the domain, the service makes both records.
    A domain that the network has claimed before is answered with 200. Addresses, wildcards, public suffixes and the
    service's own zones are a 422.
    """
    service, here = call.service, call.service.of(NAME_SERVICE)
    host = here.record_hosts.gateway_host
    row = DomainRow(
        id=call.new_id(),
        network_id=network_id,
        domain=claimable(body.domain, here.zones),
        token=to_base64url(service.random_bytes(TOKEN_BYTES)),
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
    )

    def shape(claimed: Claimed) -> Reply[ClaimedDomain]:
        domain = claimed.row.domain
        txt = TxtRecord(txt_name(domain), txt_value(claimed.row.token))
        gateway = GatewayRecord(record_type(host), domain, host, claimed.is_managed)
        return Reply(
            ClaimedDomain(domain_of(claimed.row), txt, gateway), status=None if claimed.is_new else 200
        )

    made = await change(call, units_claims.claim, row, host, about=None, shape=shape)
    call.wait_longer(INLINE_SECONDS)
    await here.automation.push_soon(network_id)
    return made


@endpoint(
    "POST",
    _DOMAINS + "/{domainId}/verify",
    needs=AUTHENTICATED,
    rate=DOMAIN_VERIFY,
    refusals=(NotFound, DomainNotVerified),
    guard=claim_of,
)
async def verify_domain(call: Call, network_id: Uuid, domain_id: ObjectId) -> DomainReply:  # noqa: ARG001 - the guard's
    """Looks up the claim's TXT record, and verifies the domain if it is there.

    For the network's owner. If it is not there, the answer is a 409 with `status`, `verificationErrors`, `observed` and
    `lastCheckedAt` in `meta`; the claim may be checked again. Only one network can have a domain verified. What the
    network and its servers have published inside the domain is OWNED with the answer.
    """
    claim: DomainRow = call.subject
    call.wait_longer(SECONDS)
    lookup = await call.service.of(NAME_SERVICE).resolver.txt(txt_name(claim.domain))
    if lookup.error is None and units_claims.seen(claim, lookup):
        try:
            return await change(
                call,
                units_claims.decide,
                claim,
                lookup,
                call.service.of(NAME_SERVICE).gateway_domain,
                call.now_ms,
                about=RoutesChanged(),
                shape=_domain_reply,
            )
        except DomainNotVerified:
            raise await _refused(call, claim, lookup, HELD_ELSEWHERE) from None
    raise await _refused(call, claim, lookup, lookup.error or WRONG_VALUE)


def _domain_reply(row: DomainRow) -> DomainReply:
    return DomainReply(domain_of(row))


async def _refused(call: Call, claim: DomainRow, lookup: Lookup, error: str) -> DomainNotVerified:
    """Store what was found, which the claim shows until the next check, and return the refusal that reports it."""
    note = units_claims.note_failure
    row = await change_by_itself(call.service, note, claim, lookup, error, call.now_ms, about=None)
    shown = domain_of(row)
    return DomainNotVerified(
        status=shown.status,
        verificationErrors=shown.verification_errors,
        observed=shown.observed,
        lastCheckedAt=shown.last_checked_at,
    )
