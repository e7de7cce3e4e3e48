"""Who owns the address of a publication: how that is proven, and proven again (contract §7)."""

from collections.abc import Callable, Collection

from msgspec.structs import replace

from actors.hostnames import inside
from actors.publications.states import OWNERSHIP, discovery
from actors.publications.suppressing import key_of
from persistence.connection import Connection
from persistence.networks import domains
from persistence.publications import publications
from persistence.publications.rows import OwnershipProof, PublicationRow, Target
from persistence.saved_servers import addresses

PROVEN_AT_ONCE = 500
"""Most publications whose addresses are looked at when a domain is verified."""


async def prove(
    conn: Connection,
    target: Target,
    within_id: str | None,
    host: str,
    *,
    gateway_domain: str | None,
    called_from: str | None,
) -> OwnershipProof | None:
    """How a host is proven to be a target's; None if it is not.

    Args:
        within_id: the network that the target is, or is in; None for a server without one.
        host: the host of the address.
        gateway_domain: the domain below which gateways give out names, or None.
        called_from: the address that the server itself last called from, or None.
    """
    if called_from is not None and host == called_from:
        return "caller"
    if gateway_domain is not None and inside(host, gateway_domain):
        holders = await publications.route_holders(conn, host)
        if holders is None or target.id in holders:
            return "gateway"
    if within_id is not None and await domains.covers(conn, within_id, host):
        return "domain"
    return None


def lasting(before: PublicationRow) -> OwnershipProof | None:
    """The proof that outlasts a change of callers' addresses: a server that once called from the address may call
    from others later; pure.
    """
    return "caller" if before.ownership_proof == "caller" else None


async def verify_owners(
    conn: Connection,
    after: str | None,
    limit: int,
    *,
    gateway_domain: str | None,
    new_id: Callable[[], str],
    now_ms: int,
) -> str | None:
    """Recheck one page of publications against the verified domains and the gateway routes: which addresses are newly
    proven, or no longer.

    Args:
        after: what the call for the page before has returned; None from the start.
        limit: how many publications the page has.
        gateway_domain: the domain below which gateways give out names, or None.
        new_id: makes a fresh id for each address that is proven no longer and goes on alone in the lists of users who
            have saved it.
        now_ms: epoch milliseconds.

    Returns:
        Where the next page starts; None after the last.
    """
    rows, place = await publications.disputed(conn, after, limit, gateway_domain)
    parted: list[str] = []
    for row, proof in rows:
        after_check = verified(row, proof, now_ms)
        await publications.save_proof(conn, after_check)
        if has_parted(row, after_check):
            parted.append(row.id)
    if parted:
        await addresses.release(conn, {id: new_id() for id in parted}, now_ms)
    return place


async def prove_addresses(
    conn: Connection, network_id: str, *, gateway_domain: str | None, now_ms: int
) -> None:
    """Let a network, and its servers, own at once what they have published inside a domain that it has verified.

    Of more than 500 publications, `verify_owners` comes to the rest.

    Args:
        gateway_domain: the domain below which gateways give out names, or None.
        now_ms: epoch milliseconds.
    """
    for row, proof in await publications.unproven_of(conn, network_id, PROVEN_AT_ONCE, gateway_domain):
        await publications.save_proof(conn, verified(row, proof, now_ms))


async def prove_addresses_of_servers(
    conn: Connection, server_ids: Collection[str], *, gateway_domain: str | None, now_ms: int
) -> None:
    """Let servers that have come into a network own at once what they have published inside its verified domains.

    Args:
        gateway_domain: the domain below which gateways give out names, or None.
        now_ms: epoch milliseconds.
    """
    for row, proof in await publications.unproven_of_servers(conn, sorted(server_ids), gateway_domain):
        await publications.save_proof(conn, verified(row, proof, now_ms))


def verified(row: PublicationRow, proof: OwnershipProof | None, now_ms: int) -> PublicationRow:
    """The publication with the states that follow from whether its address is proven; pure.

    Args:
        proof: how the address is proven to be the target's; None if it is not.
        now_ms: epoch milliseconds.
    """
    ownership = OWNERSHIP[row.ownership_state, proof is not None]
    verified_at_ms = row.ownership_verified_at_ms
    if ownership == "OWNED" and row.ownership_state != "OWNED":
        verified_at_ms = now_ms
    listed = discovery(
        suppressed=row.suppressed,
        hidden=row.hidden,
        ownership=ownership,
        seen_at_ms=row.seen_at_ms,
        now_ms=now_ms,
    )
    return replace(
        row,
        ownership_state=ownership,
        ownership_proof=proof,
        ownership_verified_at_ms=verified_at_ms,
        discovery_state=listed,
    )


def has_parted(before: PublicationRow, after: PublicationRow) -> bool:
    """Whether a publication has another address now, or has lost the one it has; pure."""
    if key_of(before) != key_of(after):
        return True
    return before.ownership_state == "OWNED" and after.ownership_state != "OWNED"
