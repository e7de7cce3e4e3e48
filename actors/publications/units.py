"""Publish servers and networks: units of work (contract §7).

Their managers change their own publications. Moderators may change every publication, and only they feature or
suppress one. The audit trail has what they change of others' publications, and each featuring or suppressing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.connect.capabilities import held_by
from actors.discord.posting import post
from actors.errors import Conflict, Forbidden, Invalid, NotFound, RevisionConflict
from actors.field_errors import FieldError
from actors.publications.suppressing import suppress_others, told_with
from actors.publications.units_ownership import has_parted, lasting, prove, verified
from actors.server_address import Address, is_internal
from persistence.connect import members
from persistence.connection import Connection
from persistence.discord.rows import Subject
from persistence.networks import networks
from persistence.networks.gateway_routes import lock_server
from persistence.publications import publications
from persistence.publications.rows import OwnershipProof, PublicationRow, Target
from persistence.saved_servers import addresses
from persistence.users.audit import Stamp, write_audit

ANY_OF = frozenset({"server.settings.write", "server.publication.write"})
"""Each of these capabilities lets a member of a server manage its publication."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be published.

    Args:
        social_links: the links, as encoded JSON.
        hidden: whether it is to be left out of the public list.
        motd_override: the text shown instead of the server's MOTD; None shows the server's.
        featured, suppressed: what only moderators may change; None leaves it as it is.
    """

    address: Address
    display_name: str
    category: str
    tags: tuple[str, ...]
    social_links: str
    hidden: bool
    motd_override: str | None
    featured: bool | None = None
    suppressed: bool | None = None


@dataclass(frozen=True, slots=True)
class Manager:
    """The user who makes the change.

    Args:
        user_id: the user's id.
        moderator: whether they may also change publications that are not theirs.
        stamp: identifies the user and their request in the audit trail.
    """

    user_id: str
    moderator: bool
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Further inputs of publishing, from outside its rows.

    Args:
        new_id: a fresh id: for the publication if there is none yet; else for its former address, which goes on alone
            in the lists of users who have saved it.
        gateway_domain: the domain below which gateways give out names, or None.
        called_from: the address that the server itself last called from, or None.
        now_ms: epoch milliseconds.
    """

    new_id: str
    gateway_domain: str | None
    called_from: str | None
    now_ms: int


async def authorise(conn: Connection, target: Target, by: Manager) -> bool:
    """Check that a user may manage a target's publication.

    Returns:
        True when the target is theirs; False for a moderator when it is not.

    Raises:
        NotFound: there is no such server or network, or it is a stranger's: both look the same.
        Forbidden: the user is a member of the server who lacks the capability.
    """
    if target.type == "network":
        network = await networks.read(conn, target.id)
        owner_id = None if network is None else network.owner_id
        return _pass(network is not None, owner_id == by.user_id, by)
    standing = await members.standing(conn, target.id, by.user_id)
    held = held_by(by.user_id, standing)
    if held and not by.moderator and not held & ANY_OF:
        raise Forbidden("missing server.settings.write", permission="server.settings.write")
    return _pass(standing is not None, bool(held & ANY_OF), by)


class Published(msgspec.Struct, frozen=True):
    """The publication of a target was created, changed or removed."""

    target: Target


async def put(
    conn: Connection,
    target: Target,
    wish: Wish,
    by: Manager,
    around: Surroundings,
    *,
    is_current: Callable[[PublicationRow | None], bool],
) -> Change[PublicationRow]:
    """Publish a server or network, in place of its former publication. What users have saved goes on as the former
    address where that is another, or is proven no longer. What a moderator suppresses is suppressed with whatever else
    is published at its address.

    Args:
        is_current: whether the stored publication, or None for none, is the one that the client has seen and changed.

    Raises:
        RevisionConflict: the publication has changed since the client saw it.
        NotFound: there is no such server or network, or it is a stranger's.
        Forbidden: the user lacks the capability, or only moderators may do this.
        Conflict: a moderator has suppressed the publication, and its owner may not take it elsewhere.
        Invalid: the address is internal, so that players elsewhere cannot reach it.
    """
    await publications.hold_address(conn, wish.address.key)
    within_id = await _hold(conn, target)
    own = await authorise(conn, target, by)
    before = await publications.of_target(conn, target, by.user_id)
    if not is_current(before):
        raise RevisionConflict
    _check_moderation(before, wish, by)
    around = await _called_from(conn, target, around)
    if is_internal(wish.address.host) and wish.address.host != around.called_from:
        raise Invalid(FieldError("/address", "NOT_ALLOWED", "players elsewhere cannot reach this address"))
    proof = await _proven(conn, target, within_id, wish.address.host, around)
    row = _published(target, within_id, wish, before, around)
    if proof is None and before is not None and before.address == row.address:
        proof = lasting(before)
    if before is None and proof is not None:
        row = await _adopted(conn, row, wish.address)
    if await _is_suppressed_there(conn, before, wish, by, proven=proof is not None):
        row = replace(row, suppressed=True)
    row = verified(row, proof, around.now_ms)
    if before is not None and has_parted(before, row):
        await addresses.release(conn, {row.id: around.new_id}, around.now_ms)
    words = (row.display_name, row.address, row.category, *row.tags)
    await publications.put(conn, row, words="\x1f".join(words).lower())
    if row.discovery_state == "CONNECT" and (before is None or before.discovery_state != "CONNECT"):
        about = Subject(network_id=within_id, server_id=row.server_id, publication_id=row.id)
        await post(conn, "publication_listed", about, around.now_ms)
    newly = wish.suppressed is True and not _moderated(before)[1]
    others = await suppress_others(conn, row, around.now_ms) if newly else []
    if not own or _moderated(before) != _moderated(row):
        await _audit(conn, by, "publication.changed", row, others)
    shown = await publications.of_target(conn, target, by.user_id)  # with those who have saved the address
    return Change(shown or row, (Published(target), *(Published(one.target) for one in others if one.target)))


async def remove(conn: Connection, target: Target, by: Manager) -> Change[int]:
    """Remove a target's publication; its value is how many there were, 0 or 1. What users have saved goes on as the
    address alone.

    Raises:
        NotFound: there is no such server or network, or it is a stranger's.
        Forbidden: the user lacks the capability.
        Conflict: a moderator has suppressed the publication; its owner may not undo that by publishing it afresh.
    """
    await _hold(conn, target)
    own = await authorise(conn, target, by)
    row = await publications.of_target(conn, target, by.user_id)
    if row is None:
        return Change(0)
    if row.suppressed and not by.moderator:
        raise Conflict("a moderator has suppressed this publication")
    await publications.remove(conn, row.id)
    if not own:
        await _audit(conn, by, "publication.removed", row)
    return Change(1, (Published(target),))


def _pass(exists: bool, own: bool, by: Manager) -> bool:
    if not exists or not (own or by.moderator):
        raise NotFound
    return own


def _check_moderation(before: PublicationRow | None, wish: Wish, by: Manager) -> None:
    """Refuse changes that only moderators may make; sending back the stored values is no change. What is suppressed
    keeps its address, by which the same one is known on another server.
    """
    if by.moderator:
        return
    featured, suppressed = _moderated(before)
    if wish.featured not in {None, featured} or wish.suppressed not in {None, suppressed}:
        raise Forbidden("only moderators feature or suppress a publication")
    if before is not None and before.suppressed and before.address != wish.address.text:
        raise Conflict("a moderator has suppressed this publication")


async def _is_suppressed_there(
    conn: Connection, before: PublicationRow | None, wish: Wish, by: Manager, *, proven: bool
) -> bool:
    """Whether an address at which a target was not published before is suppressed, or the owner of a suppressed server
    would list it again by another one. A moderator who says whether it is to be suppressed decides.
    """
    if before is not None and before.address == wish.address.text:
        return False
    if by.moderator and wish.suppressed is not None:
        return False
    return await publications.is_suppressed_at(conn, wish.address.key, proven=proven)


def _moderated(row: PublicationRow | None) -> tuple[bool, bool]:
    return (False, False) if row is None else (row.featured, row.suppressed)


async def _hold(conn: Connection, target: Target) -> str | None:
    """Serialise changes of the target's publication, and keep a server's owner as it is, until the transaction ends;
    returns the target's network.
    """
    await publications.hold(conn, target)
    if target.type == "network":
        return target.id
    server = await lock_server(conn, target.id)
    return None if server is None else server[1]


async def _called_from(conn: Connection, target: Target, around: Surroundings) -> Surroundings:
    if target.type == "network" or around.called_from is not None:
        return around
    return Surroundings(
        around.new_id,
        around.gateway_domain,
        await publications.calling_address(conn, target.id),
        around.now_ms,
    )


async def _proven(
    conn: Connection, target: Target, within_id: str | None, host: str, around: Surroundings
) -> OwnershipProof | None:
    zone, called_from = around.gateway_domain, around.called_from
    return await prove(conn, target, within_id, host, gateway_domain=zone, called_from=called_from)


def _published(
    target: Target,
    within_id: str | None,
    wish: Wish,
    before: PublicationRow | None,
    around: Surroundings,
) -> PublicationRow:
    same = before is not None and before.address == wish.address.text
    return PublicationRow(
        id=around.new_id if before is None else before.id,
        server_id=target.id if target.type == "server" else None,
        network_id=target.id if target.type == "network" else None,
        within_id=within_id,
        address=wish.address.text,
        host=wish.address.host,
        display_name=wish.display_name,
        category=wish.category,
        tags=wish.tags,
        social_links=wish.social_links,
        motd_override=wish.motd_override,
        hidden=wish.hidden,
        featured=_chosen(wish.featured, None if before is None else before.featured),
        suppressed=_chosen(wish.suppressed, None if before is None else before.suppressed),
        discovery_source="CONNECT",
        discovery_state="UNLISTED",
        ownership_state=before.ownership_state if before is not None and same else "UNCLAIMED",
        ownership_proof=None,
        ownership_verified_at_ms=before.ownership_verified_at_ms if before is not None and same else None,
        created_at_ms=around.now_ms if before is None else before.created_at_ms,
        updated_at_ms=around.now_ms,
        seen_at_ms=around.now_ms,
    )


def _chosen(wished: bool | None, before: bool | None) -> bool:
    return bool(before) if wished is None else wished


async def _adopted(conn: Connection, row: PublicationRow, address: Address) -> PublicationRow:
    """Reuse the public server that users created by saving the address, so that they have saved this publication."""
    found = await publications.address_alone(conn, address.key)
    return row if found is None else replace(row, id=found[0], created_at_ms=found[1])


async def _audit(
    conn: Connection, by: Manager, action: str, row: PublicationRow, others: Sequence[PublicationRow] = ()
) -> None:
    detail = {"publicationId": row.id, "featured": row.featured, "suppressed": row.suppressed} | told_with(
        others
    )
    await write_audit(conn, by.stamp, action, target_id=row.id, detail=msgspec.json.encode(detail))
