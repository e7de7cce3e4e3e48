"""A game server's members and its access policy: pure (contract §2, reliability "Members").

| command      | by                                     | outcome |
|--------------|----------------------------------------|---------|
| PutMember    | members.write, within what they hold   | a member; never the owner, never `owner` |
| RemoveMember | the same, or the member themselves     | none any more; the owner cannot leave |
| ForgetUser   | the service, before a user is erased   | neither member nor invited |
| TellRename   | the service, about a renamed user      | the owner or member has that name |
| ChangePolicy | members.write                          | another access policy |

Users grant at most what they hold, and change only members who hold no more than they do. Open invites are revoked as
soon as the user who sent them could no longer grant what they offer.
"""

from collections.abc import Iterable, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from actors.connect import commands, events
from actors.connect.capabilities import (
    OWNER,
    WRITE_MEMBERS,
    capabilities_of,
    may_grant,
    require,
    require_grant,
)
from actors.connect.events import MemberEvent
from actors.connect.state import State
from actors.errors import Blocked, Conflict, Forbidden, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from persistence.connect.rows import MemberRow, ServerRow

MAX_MEMBERS = 200
"""The most members of one server."""

NO_OWNERS = FieldError("/role", "NOT_ALLOWED", "invite who is to own the server: they have to agree")


def decide(
    state: State,
    command: commands.PutMember
    | commands.RemoveMember
    | commands.ForgetUser
    | commands.TellRename
    | commands.ChangePolicy,
    now_ms: int,
) -> Sequence[MemberEvent | events.ServerChanged]:
    """Decide on a command: the events that it makes; raises `Refused`, and then nothing has changed."""
    match command:
        case commands.PutMember():
            return _put(state, command, now_ms)
        case commands.RemoveMember():
            return _remove(state, command, now_ms)
        case commands.ForgetUser():
            return _forget(state, command, now_ms)
        case commands.TellRename():
            renamed = events.MemberRenamed(command.user_id, command.name)
            return () if with_name(state, command.user_id, command.name) == state else (renamed,)
        case commands.ChangePolicy():
            return _change_policy(state, command, now_ms)


def joined(state: State, command: commands.PutMember, now_ms: int) -> MemberRow:
    """The row of a new member, whose name is in `state.relation`.

    Raises:
        NotFound: there is no such user.
        Blocked: a block stands between them and the user who adds them.
        QuotaExceeded: the server has too many members.
    """
    user = state.relation
    if user is None or user.user_id != command.user_id or user.name is None:
        raise NotFound("no such user")
    if user.barred:
        raise Blocked
    if len(state.members) >= MAX_MEMBERS:
        raise QuotaExceeded(message=f"a server has at most {MAX_MEMBERS} members", max=MAX_MEMBERS)
    return MemberRow(
        server_id=state.id,
        user_id=command.user_id,
        name=user.name,
        role=command.role,
        capabilities=tuple(sorted(set(command.capabilities))),
        added_by=command.actor_id,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
    )


def forget_all(state: State) -> Sequence[MemberEvent]:
    """Remove all members and revoke all open invites: the server gets an owner who has chosen none of them."""
    ended = _revoke_invites(state, None)
    return (*ended, changed(gone=state.members)) if state.members else ended


def policy_of(row: ServerRow) -> events.PolicyChanged:
    """The event that tells viewers of a server's access policy."""
    return events.PolicyChanged(row.access_mode, row.invite_requires_direct_friend)


def overreaching(after: State, now_ms: int) -> list[events.InviteEnded]:
    """Revoke the open invites whose senders could no longer grant what they offer.

    Args:
        after: the state as it will be after the change.
        now_ms: epoch milliseconds.
    """
    return [
        events.InviteEnded(replace(invite, status="revoked"))
        for invite in after.invites.values()
        if invite.status == "pending"
        and invite.expires_at_ms > now_ms
        and not may_grant(after, invite.inviter_id, invite.role, invite.capabilities)
    ]


def changed(put: Iterable[MemberRow] = (), gone: Iterable[str] = ()) -> events.MembersChanged:
    """The event of changed members. It has no names, because the journal would keep them after a user is erased."""
    return events.MembersChanged(tuple(replace(member, name="") for member in put), tuple(gone))


def with_members(state: State, put: Iterable[MemberRow] = (), gone: Iterable[str] = ()) -> State:
    """The state with these members added or replaced, under the names that the state knows, and those removed.

    Args:
        put: the members to add or replace.
        gone: the user ids of the members to remove.
    """
    named = {member.user_id: replace(member, name=_name(state, member.user_id)) for member in put}
    members = {**state.members, **named}
    for user_id in gone:
        members.pop(user_id, None)
    return replace(state, members=members, relation=None)


def with_name(state: State, user_id: str, name: str) -> State:
    """The state with another name of a user, where they are its owner or a member."""
    if user_id == state.row.owner_id:
        return replace(state, row=replace(state.row, owner_name=name))
    if user_id in state.members:
        return replace(state, members={**state.members, user_id: replace(state.members[user_id], name=name)})
    return state


def new_names(before: State, after: State) -> Sequence[events.MemberRenamed]:
    """The new names of those who are the owner or a member in both of two states."""
    known = _names(before)
    return [
        events.MemberRenamed(user_id, name)
        for user_id, name in _names(after).items()
        if known.get(user_id, name) != name
    ]


def _names(state: State) -> dict[str, str]:
    """{user id: name} of the members and the owner."""
    names = {user_id: member.name for user_id, member in state.members.items()}
    if state.row.owner_id is not None:
        names[state.row.owner_id] = state.row.owner_name or ""
    return names


def _name(state: State, user_id: str) -> str:
    """The user's name: as a member, as the owner, or as looked up for this turn."""
    if user_id in state.members:
        return state.members[user_id].name
    if user_id == state.row.owner_id:
        return state.row.owner_name or ""
    return (state.relation.name or "") if state.relation is not None else ""


def _put(state: State, command: commands.PutMember, now_ms: int) -> Sequence[MemberEvent]:
    """Add a member, or change one."""
    require(state, command.actor_id, WRITE_MEMBERS)
    if command.role == OWNER:
        raise Invalid(NO_OWNERS)
    _check_above(state, command.actor_id, command.user_id)
    require_grant(state, command.actor_id, command.role, command.capabilities)
    former = state.members.get(command.user_id)
    if former is None:
        member = joined(state, command, now_ms)
    else:
        member = replace(former, role=command.role, capabilities=tuple(sorted(set(command.capabilities))))
        if member == former:
            return ()
        member = replace(member, updated_at_ms=now_ms)
    # An older open invite must not change later what was just decided.
    answered = _revoke_invites(state, command.user_id) if former is None else []
    after = with_members(_without(state, answered), put=(member,))
    return (changed(put=(member,)), *answered, *overreaching(after, now_ms))


def _remove(state: State, command: commands.RemoveMember, now_ms: int) -> Sequence[MemberEvent]:
    """A member leaves, or is removed."""
    if command.actor_id != command.user_id:
        require(state, command.actor_id, WRITE_MEMBERS)
        _check_above(state, command.actor_id, command.user_id)
    elif command.user_id == state.row.owner_id:
        raise Conflict("the owner cannot leave: pass the server on, or give it up")
    if command.user_id not in state.members:
        raise NotFound
    return _remove_members(state, (command.user_id,), now_ms)


def _forget(state: State, command: commands.ForgetUser, now_ms: int) -> Sequence[MemberEvent]:
    """End a user's membership and invites before the user is erased."""
    invites = _revoke_invites(state, command.user_id)
    if command.user_id not in state.members:
        return invites
    return (*invites, *_remove_members(_without(state, invites), (command.user_id,), now_ms))


def _change_policy(
    state: State, command: commands.ChangePolicy, now_ms: int
) -> Sequence[MemberEvent | events.ServerChanged]:
    """Change the access policy."""
    require(state, command.user_id, WRITE_MEMBERS)
    row = state.row
    if command.access_mode is not UNSET:
        row = replace(row, access_mode=command.access_mode)
    if command.invite_requires_direct_friend is not UNSET:
        row = replace(row, invite_requires_direct_friend=command.invite_requires_direct_friend)
    if row == state.row:
        return ()
    return (events.ServerChanged(replace(row, updated_at_ms=now_ms)), policy_of(row))


def _remove_members(state: State, user_ids: tuple[str, ...], now_ms: int) -> Sequence[MemberEvent]:
    after = with_members(state, gone=user_ids)
    return (changed(gone=user_ids), *overreaching(after, now_ms))


def _revoke_invites(state: State, invitee_user_id: str | None) -> list[events.InviteEnded]:
    """Revoke the open invites of one user, or of all."""
    return [
        events.InviteEnded(replace(invite, status="revoked"))
        for invite in state.invites.values()
        if invite.status == "pending" and invitee_user_id in (None, invite.invitee_user_id)
    ]


def _without(state: State, ended: Iterable[events.InviteEnded]) -> State:
    return replace(state, invites={**state.invites, **{one.invite.id: one.invite for one in ended}})


def _check_above(state: State, actor_id: str, user_id: str) -> None:
    """Refuse changes of the owner, and of members who hold more than the actor."""
    if user_id == state.row.owner_id:
        if actor_id == user_id:
            raise Conflict("the owner stays the owner: invite who is to own the server")
        raise Forbidden("the owner's membership cannot be changed")
    if not capabilities_of(state, user_id) <= capabilities_of(state, actor_id):
        raise Forbidden("they may do more than you", permission=WRITE_MEMBERS)
