"""Invitations to belong to a game server: pure (contract §7, Invite).

| command       | by                  | pending                 | accepted      | revoked, or after 7 days |
|---------------|---------------------|-------------------------|---------------|--------------------------|
| AcceptInvite  | who is invited      | a member; or the owner  | INVALID_STATE | INVITE_EXPIRED           |
| DeclineInvite | who is invited      | revoked                 | INVALID_STATE | nothing                  |
| RevokeInvite  | members.write       | revoked                 | INVALID_STATE | nothing                  |
| CreateInvite  | members.write, within what they hold | INVALID_STATE | an invite | an invite           |

An invite with the role `owner` passes the server on: the user who accepts it becomes the owner, and the former owner
an admin. A server may act with its owner's rights, so no user becomes an owner without having agreed.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

from msgspec.structs import replace

from actors.connect import commands, events
from actors.connect.capabilities import OWNER, WRITE_MEMBERS, may_grant, require, require_grant
from actors.connect.consent import consent_ended
from actors.connect.events import MemberEvent, OwnEvent, ServerChanged, SessionEvent
from actors.connect.rules_members import changed, joined, overreaching, with_members
from actors.connect.state import Relation, State
from actors.errors import Blocked, Conflict, Forbidden, Invalid, InviteExpired, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from persistence.connect.rows import InviteRow, MemberRow

Status: TypeAlias = Literal["pending", "accepted", "revoked", "expired"]

INVITE_MS = 7 * 24 * 3_600_000
"""How long an invite can be accepted (contract §7)."""

MAX_INVITES = 100
"""The most invites kept for one server; finished ones are deleted to make room."""


def decide(
    state: State,
    command: commands.CreateInvite | commands.RevokeInvite | commands.AcceptInvite | commands.DeclineInvite,
    now_ms: int,
) -> Sequence[MemberEvent | OwnEvent | SessionEvent]:
    """Decide on a command: the events that it makes; raises `Refused`, and then nothing has changed."""
    match command:
        case commands.CreateInvite():
            return _create(state, command, now_ms)
        case commands.RevokeInvite():
            return _revoke(state, command, now_ms)
        case commands.AcceptInvite():
            return _accept(state, command, now_ms)
        case commands.DeclineInvite():
            return _revoke_if_open(_invite_to(state, command.user_id, command.invite_id), now_ms)


def status_at(invite: InviteRow, now_ms: int) -> Status:
    """The invite's status at that time; rows never say `expired`."""
    if invite.status == "pending" and invite.expires_at_ms <= now_ms:
        return "expired"
    return cast("Status", invite.status)


def with_invite(state: State, event: events.InviteCreated | events.InviteEnded) -> State:
    """The state after an invite was created or ended."""
    invites = {**state.invites, event.invite.id: event.invite}
    if isinstance(event, events.InviteCreated) and event.dropped is not None:
        invites.pop(event.dropped, None)
    return replace(state, invites=invites, relation=None)


def _create(state: State, command: commands.CreateInvite, now_ms: int) -> Sequence[MemberEvent]:
    """Invite a user, and notify them."""
    require_grant(state, command.actor_id, command.role, command.capabilities)
    _check_invitee(state, command, now_ms)
    if command.role == OWNER:
        _check_passable(state)
    invite = InviteRow(
        id=command.invite_id,
        server_id=state.id,
        inviter_id=command.actor_id,
        invitee_user_id=command.invitee_user_id,
        role=command.role,
        capabilities=tuple(sorted(set(command.capabilities))),
        note=command.note,
        status="pending",
        created_at_ms=now_ms,
        expires_at_ms=now_ms + INVITE_MS,
    )
    dropped = _dropped(state, now_ms)
    return (events.InviteCreated(invite, state.row.name, command.notice_id, dropped),)


def _revoke(state: State, command: commands.RevokeInvite, now_ms: int) -> Sequence[MemberEvent]:
    """Revoke an invite; allowed to the user who sent it, and to those who could have sent it."""
    require(state, command.actor_id, WRITE_MEMBERS)
    invite = _invite(state, command.invite_id)
    if invite.inviter_id != command.actor_id:
        require_grant(state, command.actor_id, invite.role, invite.capabilities)
    return _revoke_if_open(invite, now_ms)


def _revoke_if_open(invite: InviteRow, now_ms: int) -> Sequence[MemberEvent]:
    if invite.status == "accepted":
        raise Conflict("this invite was accepted")
    if status_at(invite, now_ms) != "pending":
        return ()
    return (events.InviteEnded(replace(invite, status="revoked")),)


def _accept(
    state: State, command: commands.AcceptInvite, now_ms: int
) -> Sequence[MemberEvent | OwnEvent | SessionEvent]:
    """Make the invited user a member, or the owner."""
    invite = _invite_to(state, command.user_id, command.invite_id)
    if invite.status == "accepted":
        raise Conflict("this invite was accepted")
    granted = may_grant(state, invite.inviter_id, invite.role, invite.capabilities)
    if status_at(invite, now_ms) != "pending" or not granted:
        raise InviteExpired
    accepted = events.InviteEnded(replace(invite, status="accepted"))
    wish = commands.PutMember(
        actor_id=invite.inviter_id,
        user_id=command.user_id,
        role=invite.role,
        capabilities=invite.capabilities,
    )
    if invite.role == OWNER:
        return _passed_on(state, accepted, now_ms)
    return changed(put=(joined(state, wish, now_ms),)), accepted


def _passed_on(
    state: State, accepted: events.InviteEnded, now_ms: int
) -> Sequence[MemberEvent | OwnEvent | SessionEvent]:
    """Make the invited user the owner, and the former owner an admin."""
    user, row = _require_known(state.relation, accepted.invite.invitee_user_id), state.row
    if row.owner_id is None:
        raise NotFound
    if user.barred:
        raise Blocked
    _check_passable(state)
    admin = MemberRow(
        server_id=state.id,
        user_id=row.owner_id,
        name=row.owner_name or "",
        role="admin",
        capabilities=(),
        added_by=user.user_id,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
    )
    moved = changed(put=(admin,), gone=(user.user_id,))
    passed = with_members(state, moved.put, moved.gone)
    row = replace(row, owner_id=user.user_id, owner_name=user.name, updated_at_ms=now_ms)
    after = replace(with_invite(passed, accepted), row=row)
    taken = ServerChanged(row, taken=True)
    return (*consent_ended(state, now_ms), moved, taken, accepted, *overreaching(after, now_ms))


def _check_passable(state: State) -> None:
    if state.row.network_id is not None:
        raise Conflict("take the server out of its network before it is passed on")


def _check_invitee(state: State, command: commands.CreateInvite, now_ms: int) -> None:
    if command.invitee_user_id == command.actor_id:
        raise Invalid(FieldError("/inviteeUserId", "NOT_ALLOWED", "name a user other than yourself"))
    user = _require_known(state.relation, command.invitee_user_id)
    if user.barred:
        raise Blocked
    if state.row.invite_requires_direct_friend and not user.friends:
        raise Forbidden("this server's policy is to invite friends only")
    belongs = user.user_id == state.row.owner_id or user.user_id in state.members
    if belongs and (command.role != OWNER or user.user_id == state.row.owner_id):
        raise Conflict("they belong to this server already")
    if any(
        one.invitee_user_id == user.user_id and status_at(one, now_ms) == "pending"
        for one in state.invites.values()
    ):
        raise Conflict("they are invited already")


def _require_known(user: Relation | None, user_id: str) -> Relation:
    if user is None or user.user_id != user_id or user.name is None:
        raise NotFound("no such user")
    return user


def _invite(state: State, invite_id: str) -> InviteRow:
    invite = state.invites.get(invite_id)
    if invite is None:
        raise NotFound
    return invite


def _invite_to(state: State, user_id: str, invite_id: str) -> InviteRow:
    invite = _invite(state, invite_id)
    if invite.invitee_user_id != user_id or state.row.owner_id is None:
        raise NotFound
    return invite


def _dropped(state: State, now_ms: int) -> str | None:
    """The finished invite that is deleted to make room for another; None while there is room."""
    if len(state.invites) < MAX_INVITES:
        return None
    for invite in state.invites.values():
        if status_at(invite, now_ms) != "pending":
            return invite.id
    raise QuotaExceeded(message=f"a server has at most {MAX_INVITES} open invites", max=MAX_INVITES)
