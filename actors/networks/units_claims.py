"""Claims of domains: which domains may be claimed, and what a check of the TXT record leads to (contract §7).

| status   | record seen           | record missing or wrong | resolver silent         |
|----------|-----------------------|-------------------------|-------------------------|
| pending  | verified              | failed                  | failed                  |
| failed   | verified              | failed                  | failed                  |
| verified | verified, confirmed   | verified, with errors   | verified, with errors   |

A domain is verified by one network at a time. It passes to another network only when that network's record is
there, the holder's record is not, and has not been seen for a week: a domain that was sold does not stay with
its former owner.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import NamedTuple

from msgspec.structs import replace

from actors.change import Change
from actors.errors import DomainNotVerified, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.gateways.events import RoutesChanged
from actors.hostnames import is_address, is_ours, is_public_suffix, normal_host
from actors.networks.record_hosts import queue_records
from actors.networks.records import records_of_claim, txt_value
from actors.publications.units_ownership import prove_addresses
from persistence.connection import Connection
from persistence.networks import dns, domains, gateway_routes, networks
from persistence.networks.rows import DomainRow

MAX_DOMAINS = 100
"""The most claims of one network."""

LAPSED_MS = 7 * 24 * 3_600_000
"""How long a verified claim holds against another network's after its record was last seen."""

HELD_ELSEWHERE = "HELD_ELSEWHERE"
WRONG_VALUE = "WRONG_VALUE"

MAX_OBSERVED = 16
"""The most TXT records that are shown."""

MAX_OBSERVED_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of a TXT lookup.

    Args:
        values: the values of the TXT records.
        error: the code of the error that kept them from being read, or None.
    """

    values: Sequence[str] = ()
    error: str | None = None


def claimable(text: str, zones: Collection[str]) -> str:
    """Check that a domain may be claimed, and return it in its normal form; pure.

    Args:
        text: the domain as the client sent it.
        zones: the service's own zones, in their normal form.

    Raises:
        Invalid: the text is no domain name or is an IP address, or the domain is a public suffix or one of the
            service's own zones.
    """
    name = normal_host(text)
    bare = text.strip("[]")
    if name is None or is_address(bare):
        raise Invalid(FieldError("/domain", "BAD_FORMAT", "not a domain name"))
    if is_public_suffix(name):
        raise Invalid(FieldError("/domain", "NOT_ALLOWED", "strangers have names below this one"))
    if is_ours(name, zones):
        raise Invalid(FieldError("/domain", "NOT_ALLOWED", "this is a zone of the service"))
    return name


class Claimed(NamedTuple):
    """What has come of a claim.

    Args:
        row: the claim.
        is_new: whether the network had not claimed the domain before.
        is_managed: whether the network's provider keeps its records.
    """

    row: DomainRow
    is_new: bool
    is_managed: bool


async def claim(conn: Connection, row: DomainRow, gateway_host: str | None) -> Claimed:
    """Claim a domain; a unit of work for one transaction. An existing claim of the network is returned unchanged.

    Args:
        row: the claim, which is stored if the network has not claimed the domain yet.
        gateway_host: the host that the domain is to lead to, a name or an address; None for no such record.

    Raises:
        NotFound: there is no such network.
        QuotaExceeded: the network has too many claims.
    """
    if await networks.lock(conn, row.network_id) is None:
        raise NotFound
    claims = await domains.of_network(conn, row.network_id)
    known = next((one for one in claims if one.domain == row.domain), None)
    if known is None:
        if len(claims) >= MAX_DOMAINS:
            raise QuotaExceeded(message=f"a network claims at most {MAX_DOMAINS} domains", max=MAX_DOMAINS)
        await domains.add(conn, row)
    claimed = known or row
    provider = await dns.read(conn, row.network_id)
    zone = None if provider is None else provider.zone_name
    tasks = records_of_claim(claimed, zone, gateway_host, row.created_at_ms)
    await dns.add_tasks(conn, tasks)
    return Claimed(claimed, known is None, any(task.type != "TXT" for task in tasks))


def seen(claim: DomainRow, lookup: Lookup) -> bool:
    """Whether the claim's record is among those found; compared in constant time per record."""
    wanted = txt_value(claim.token).encode()
    return sum(compare_digest(value.encode("utf-8", "replace"), wanted) for value in lookup.values) > 0


def failed(claim: DomainRow, lookup: Lookup, error: str, now_ms: int) -> DomainRow:
    """The claim after a check that did not verify it; a verified one stays verified, with an error.

    Args:
        error: the code that is shown as the claim's only verification error.
    """
    return replace(
        claim,
        status="verified" if claim.status == "verified" else "failed",
        last_checked_at_ms=now_ms,
        verification_errors=[error],
        observed=_shown(lookup),
        updated_at_ms=now_ms,
    )


def verified(claim: DomainRow, lookup: Lookup, now_ms: int) -> DomainRow:
    """The claim after a check that verified it."""
    return replace(
        claim,
        status="verified",
        verified_at_ms=claim.verified_at_ms if claim.status == "verified" else now_ms,
        confirmed_at_ms=now_ms,
        last_checked_at_ms=now_ms,
        verification_errors=[],
        observed=_shown(lookup),
        updated_at_ms=now_ms,
    )


def holds(holder: DomainRow, lookup: Lookup, now_ms: int) -> bool:
    """Whether a verified claim keeps the domain against another network that shows its record."""
    return seen(holder, lookup) or now_ms - (holder.confirmed_at_ms or 0) < LAPSED_MS


async def decide(
    conn: Connection, claim: DomainRow, lookup: Lookup, gateway_domain: str | None, now_ms: int
) -> Change[DomainRow]:
    """Verify a claim whose record was seen; a unit of work for one transaction. What the network and its servers have
    published inside the domain is theirs from then on. A lapsed holder loses the domain; and a route inside it ends if
    its server is in no network that has verified this domain, or one between it and the route's host.

    Args:
        gateway_domain: the domain below which routes stay in any case; None without one.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: the claim is gone.
        DomainNotVerified: another network holds the domain.
    """
    found = await domains.lock_claims(conn, claim.domain, claim.id)
    own = next((one for one in found if one.id == claim.id), None)
    if own is None:
        raise NotFound
    holder = next((one for one in found if one.status == "verified" and one.id != own.id), None)
    if holder is not None:
        if holds(holder, lookup, now_ms):
            raise DomainNotVerified("another network has verified this domain")
        lapsed = replace(holder, status="failed", verification_errors=[HELD_ELSEWHERE], updated_at_ms=now_ms)
        await domains.change(conn, lapsed)
    changed = verified(own, lookup, now_ms)
    await domains.change(conn, changed)
    await prove_addresses(conn, own.network_id, gateway_domain=gateway_domain, now_ms=now_ms)
    if holder is None:
        return Change(changed)
    hosts = await gateway_routes.remove_uncovered(conn, holder.domain, gateway_domain)
    await queue_records(conn, holder.network_id, [(host, None) for host in hosts], now_ms)
    return Change(changed, (RoutesChanged(),))


async def note_failure(
    conn: Connection, claim: DomainRow, lookup: Lookup, error: str, now_ms: int
) -> DomainRow:
    """Store that a check failed; a unit of work for one transaction.

    Args:
        error: the code that is shown as the claim's only verification error.

    Raises:
        NotFound: the claim is gone.
    """
    found = await domains.lock_claims(conn, claim.domain, claim.id)
    own = next((one for one in found if one.id == claim.id), None)
    if own is None:
        raise NotFound
    changed = failed(own, lookup, error, now_ms)
    await domains.change(conn, changed)
    return changed


def _shown(lookup: Lookup) -> list[str]:
    return [value[:MAX_OBSERVED_CHARACTERS].replace("\0", "\ufffd") for value in lookup.values[:MAX_OBSERVED]]
