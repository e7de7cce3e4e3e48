"""What clients see of a game server's members, invites and access policy (contract §7)."""

from collections.abc import Iterable
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec.structs import asdict

from actors.connect.capabilities import Capability, Role
from actors.connect.rules_invites import Status, status_at
from actors.connect.state import State
from actors.time import iso
from persistence.connect.rows import InviteRow, MemberRow, OfferRow, ServerRow

AccessMode: TypeAlias = Literal["public", "network", "friends_only", "invite_only", "private"]


class Member(msgspec.Struct, frozen=True, rename="camel"):
    """A member of a game server, or its owner.

    Args:
        role: owner, admin, operator or viewer.
        capabilities: further capabilities, beside those of the role.
        added_by: the id of the user who has added them; for the owner, the owner's own.
        created_at: since when they belong to the server; for the owner, when the server was registered.
    """

    user_id: str
    name: str
    role: Role
    capabilities: tuple[Capability, ...]
    added_by: str
    created_at: str
    updated_at: str


class AccessPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """Which users may play on a game server, beside its owner and members, and which may be invited.

    Args:
        access_mode: `public` every user; `network` users who own, belong to or play on a server of the same network;
            `friends_only` the owner's friends; `invite_only` users with an open invite; `private` no one else.
        invite_requires_direct_friend: only friends of the inviting user can be invited.
    """

    access_mode: AccessMode
    invite_requires_direct_friend: bool


class Invite(msgspec.Struct, frozen=True, rename="camel"):
    """An invitation to belong to a game server.

    Args:
        role: the role that is offered; `owner` passes the server on.
        capabilities: further capabilities, beside those of the role.
        note: what the inviter wrote along.
        status: `pending` until it is accepted, revoked or expires.
        expires_at: seven days after it was made.
    """

    id: str
    server_id: str
    inviter_id: str
    invitee_user_id: str
    role: Role
    capabilities: tuple[Capability, ...]
    note: str
    status: Status
    created_at: str
    expires_at: str


class Offer(Invite, frozen=True, kw_only=True, rename="camel"):
    """An invitation as the invited user sees it.

    Args:
        server_name: the present name of the server.
        inviter_name: the present name of the user who has sent it, or null.
    """

    server_name: str
    inviter_name: str | None


class InviteNotice(msgspec.Struct, frozen=True, rename="camel"):
    """The data of a `server_invite` notification."""

    invite_id: str
    server_id: str
    server_name: str
    role: str
    note: str
    expires_at: str


def members_of(row: ServerRow, members: Iterable[MemberRow]) -> tuple[Member, ...]:
    """A server's owner, then its members, oldest first."""
    owner = () if row.owner_id is None else (_owner(row, row.owner_id),)
    others = sorted(members, key=lambda member: (member.created_at_ms, member.user_id))
    return (*owner, *(member_of(member) for member in others))


def members_in(state: State) -> tuple[Member, ...]:
    """The owner and members of a server, from its state; in the order of `members_of`."""
    return members_of(state.row, state.members.values())


def member_of(row: MemberRow) -> Member:
    """The member as clients see them."""
    return Member(
        user_id=row.user_id,
        name=row.name,
        role=cast("Role", row.role),
        capabilities=cast("tuple[Capability, ...]", row.capabilities),
        added_by=row.added_by,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )


def policy_of(row: ServerRow) -> AccessPolicy:
    """The access policy of a server."""
    return AccessPolicy(cast("AccessMode", row.access_mode), row.invite_requires_direct_friend)


def invite_of(row: InviteRow, now_ms: int) -> Invite:
    """The invite as clients see it."""
    return Invite(
        id=row.id,
        server_id=row.server_id,
        inviter_id=row.inviter_id,
        invitee_user_id=row.invitee_user_id,
        role=cast("Role", row.role),
        capabilities=cast("tuple[Capability, ...]", row.capabilities),
        note=row.note,
        status=status_at(row, now_ms),
        created_at=iso(row.created_at_ms),
        expires_at=iso(row.expires_at_ms),
    )


def offer_of(row: OfferRow, now_ms: int) -> Offer:
    """The invite as the invited user sees it."""
    return Offer(**asdict(invite_of(row, now_ms)), server_name=row.server_name, inviter_name=row.inviter_name)


def _owner(row: ServerRow, owner_id: str) -> Member:
    since = iso(row.created_at_ms)
    return Member(owner_id, row.owner_name or "", "owner", (), owner_id, since, since)
