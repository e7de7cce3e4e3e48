"""Who is invited, and who comes (contract §6)."""

from collections.abc import Sequence

from actors.errors import Blocked, Conflict, Invalid, InviteExpired, NotFound, NotLeader, QuotaExceeded
from actors.field_errors import FieldError
from actors.party.commands import (
    AcceptInvite,
    DeclineInvite,
    Expect,
    ExpectNoMore,
    RevokeInvite,
    SendInvite,
    TellBlock,
)
from actors.party.events import (
    AnyEvent,
    InviteSent,
    InvitesGone,
    MemberExpected,
    MemberJoined,
    NotExpected,
)
from actors.party.rules_members import member_of
from actors.party.state import (
    EXPECTED_MS,
    INVITE_MS,
    LAPSED_KEPT_MS,
    MAX_INVITES,
    MAX_MEMBERS,
    Invite,
    LookedUp,
    Member,
    State,
    invites_between,
    pending,
)


def send(state: State, command: SendInvite, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on an invite; no events if the user has a pending one already.

    Raises:
        Invalid: the actor invites themselves.
        NotFound: the actor is no member, or there is no such user.
        Blocked: a block stands between the two.
        Conflict: the user is in the party.
        QuotaExceeded: the party is full, or has as many pending invites as it may.
    """
    sender = member_of(state, command.actor_id)
    if command.target_id == command.actor_id:
        raise Invalid(FieldError("/targetId", "NOT_ALLOWED", "name a user other than yourself"))
    if command.target_id in state.members:
        raise Conflict("this user is in the party already")
    found = _require_looked_up(state, command.target_id)
    if found.name is None:
        raise NotFound("no such user")
    if found.barred:
        raise Blocked
    standing = pending(state.invites.values(), now_ms)
    if any(invite.target_id == command.target_id for invite in standing):
        return ()
    _check_room(state)
    if len(standing) >= MAX_INVITES:
        raise QuotaExceeded(
            FieldError("", "TOO_MANY", f"a party has at most {MAX_INVITES} pending invites"), max=MAX_INVITES
        )
    invite = Invite(
        party_id=state.id,
        target_id=command.target_id,
        target_name=found.name,
        sender_id=sender.user_id,
        sender_name=sender.name,
        created_at_ms=now_ms,
        expires_at_ms=now_ms + INVITE_MS,
    )
    dropped = tuple(
        one.target_id
        for one in state.invites.values()
        if one.expires_at_ms + LAPSED_KEPT_MS <= now_ms and one.target_id != command.target_id
    )
    return (InviteSent(invite, dropped, command.notice_id, now_ms),)


def accept(state: State, command: AcceptInvite, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on joining; no event if the user is a member already.

    Raises:
        NotFound: there is no such invite.
        InviteExpired: the invite has expired.
        Blocked: a block stands between the actor and the sender of the invite.
        Conflict: the actor is in another party.
        QuotaExceeded: the party is full.
    """
    if command.actor_id in state.members:
        return ()
    check_invite(state, command.actor_id, now_ms)
    found = _require_looked_up(state, command.actor_id)
    if found.name is None:
        raise NotFound("no such invite")
    if found.barred:
        raise Blocked
    if found.party_id is not None:
        raise Conflict("you are in another party")
    newest_ms = max(member.joined_at_ms for member in state.members.values())
    # Later than anybody before: the order of joining is the order of members.
    member = Member(user_id=command.actor_id, name=found.name, joined_at_ms=max(now_ms, newest_ms + 1))
    return (MemberJoined(member, now_ms),)


def expect(state: State, command: Expect, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on waiting for an invitee who is about to leave another party for this one.

    It is decided in the party's turn, so it finds whatever has ended the party before, and whatever would end it
    afterwards finds it.

    Raises: NotFound, InviteExpired and QuotaExceeded, as `accept` does.
    """
    check_invite(state, command.actor_id, now_ms)
    return (MemberExpected(command.actor_id, now_ms + EXPECTED_MS),)


def expect_no_more(state: State, command: ExpectNoMore) -> Sequence[AnyEvent]:
    """Decide on not waiting for an invitee any more."""
    return (NotExpected(command.actor_id),) if command.actor_id in state.expected else ()


def check_invite(state: State, user_id: str, now_ms: int) -> Invite:
    """The invite that a user can accept, as far as the party alone can tell.

    Raises: NotFound, InviteExpired and QuotaExceeded, as `accept` does.
    """
    invite = state.invites.get(user_id)
    if invite is None or state.ended:
        raise NotFound("no such invite")
    if invite.lapsed or invite.expires_at_ms <= now_ms:
        raise InviteExpired
    _check_room(state)
    return invite


def decline(state: State, command: DeclineInvite, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on turning an invite down.

    Raises:
        NotFound: there is no such invite.
        InviteExpired: the invite has expired.
    """
    invite = state.invites.get(command.actor_id)
    if invite is None or state.ended:
        raise NotFound("no such invite")
    if invite.lapsed or invite.expires_at_ms <= now_ms:
        raise InviteExpired
    return (InvitesGone((command.actor_id,), now_ms),)


def revoke(state: State, command: RevokeInvite, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on taking an invite back.

    Raises:
        NotFound: the actor is no member, or there is no such invite.
        NotLeader: the actor neither leads the party nor has sent the invite.
    """
    member_of(state, command.actor_id)
    invite = state.invites.get(command.target_id)
    if invite is None or invite not in pending((invite,), now_ms):
        raise NotFound("no such invite")
    if command.actor_id not in (state.leader_id, invite.sender_id):
        raise NotLeader("only its sender or the leader takes an invite back")
    return (InvitesGone((command.target_id,), now_ms),)


def take_block(state: State, command: TellBlock, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on the report of a block: take back the pending invites between the two, if rows still hold the block."""
    between = invites_between(state, command.one_id, command.other_id)
    target_ids = tuple(invite.target_id for invite in pending(between, now_ms))
    if state.ended or not target_ids or not _require_looked_up(state, command.one_id).barred:
        return ()
    return (InvitesGone(target_ids, now_ms),)


def _check_room(state: State) -> None:
    if len(state.members) >= MAX_MEMBERS:
        raise QuotaExceeded(
            FieldError("", "TOO_MANY", f"a party has at most {MAX_MEMBERS} members"), max=MAX_MEMBERS
        )


def _require_looked_up(state: State, user_id: str) -> LookedUp:
    found = state.looked_up
    if found is None or found.user_id != user_id:
        raise ValueError("nothing was read for this user")
    return found
