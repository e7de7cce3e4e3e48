"""Who is in the party, who leads it, and what time does to both (contract §6)."""

from collections.abc import Callable, Collection, Sequence

from actors.errors import Conflict, NotFound, NotLeader
from actors.party.apply import apply
from actors.party.commands import (
    Disband,
    HandOver,
    Kick,
    Leave,
    MeetDeadlines,
    TellErased,
    TellPresence,
    TellRename,
)
from actors.party.events import (
    AnyEvent,
    InvitesGone,
    InvitesLapsed,
    LeaderChanged,
    MemberRenamed,
    MembersLeft,
    PresenceChanged,
    UserErased,
)
from actors.party.launch import launch
from actors.party.state import ABSENCE_MS, Member, State

IsOnline = Callable[[str], bool]
"""Whether the user with this id is online at this moment."""


def leave(state: State, command: Leave, now_ms: int, is_online: IsOnline) -> Sequence[AnyEvent]:
    """Decide on a member's leaving; no event if the user is not in the party.

    Raises:
        Conflict: the last member would leave it for another party while somebody is leaving their own party for it:
            users who join each other in a circle would all end up without a party.
    """
    if command.actor_id not in state.members:
        return ()
    if command.for_another and len(state.members) == 1 and _expects(state, now_ms):
        raise Conflict("somebody is just joining your party; look who it is, or try again")
    return (_left(state, (command.actor_id,), now_ms, is_online),)


def disband(state: State, command: Disband, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on the end of the party.

    Raises:
        NotFound: the actor is no member.
        NotLeader: the actor does not lead.
    """
    leader_of(state, command.actor_id)
    return (MembersLeft(tuple(state.members), None, now_ms),)


def kick(state: State, command: Kick, now_ms: int, is_online: IsOnline) -> Sequence[AnyEvent]:
    """Decide on taking a member out; a leader who takes themselves out leaves.

    Raises:
        NotFound: the actor is no member, or the target is none.
        NotLeader: the actor does not lead.
    """
    leader_of(state, command.actor_id)
    _other(state, command.target_id)
    return (_left(state, (command.target_id,), now_ms, is_online),)


def hand_over(state: State, command: HandOver, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on another leader; no events for the member who leads already.

    Raises:
        NotFound: the actor is no member, or the target is none.
        NotLeader: the actor does not lead.
    """
    leader_of(state, command.actor_id)
    _other(state, command.target_id)
    if command.target_id == state.leader_id:
        return ()
    return (LeaderChanged(command.target_id, now_ms),)


def take_erased(state: State, command: TellErased, now_ms: int, is_online: IsOnline) -> Sequence[AnyEvent]:
    """Decide on the report that a user was erased, and their rows with them: their invite goes, they leave the party,
    and another member leads it if they did. `UserErased` follows even where the party holds no name of theirs any more,
    because viewers may still be shown one.
    """
    if state.ended:
        return ()
    user_id = command.user_id
    events: list[AnyEvent] = []
    if user_id in state.invites:
        events.append(InvitesGone((user_id,), now_ms))
    if user_id in state.members or user_id == state.leader_id:
        events.append(_left(state, (user_id,), now_ms, is_online))
    if state.members.keys() - {user_id}:  # else the party has ended
        events.append(UserErased(user_id))
    return events


def take_presence(state: State, command: TellPresence) -> Sequence[AnyEvent]:
    """Decide on the report that a member has come online or gone offline."""
    member = state.members.get(command.user_id)
    if member is None or member.offline_since_ms == command.offline_since_ms:
        return ()
    return (PresenceChanged(command.user_id, command.offline_since_ms),)


def take_rename(state: State, command: TellRename) -> Sequence[AnyEvent]:
    """Decide on the report that somebody whom the party shows has another name."""
    renamed = MemberRenamed(command.user_id, command.name)
    return () if apply(state, renamed) == state else (renamed,)


def meet_deadlines(
    state: State, _command: MeetDeadlines, now_ms: int, is_online: IsOnline, *, since_ms: int
) -> Sequence[AnyEvent]:
    """Decide on deadlines that have passed: invites lapse, and members who were away for ten minutes are removed.

    Args:
        since_ms: the service's start, epoch milliseconds: absence counts from there at the earliest, since no user
            could come back before.
    """
    if state.ended:
        return ()
    events: list[AnyEvent] = []
    lapsed = [one for one in state.invites.values() if not one.lapsed and one.expires_at_ms <= now_ms]
    if lapsed:
        events.append(InvitesLapsed(tuple(one.target_id for one in lapsed), now_ms))
    overdue = [id for id, at_ms in _absences(state, since_ms) if at_ms <= now_ms]
    events += [PresenceChanged(id, None) for id in overdue if is_online(id)]
    gone = tuple(id for id in overdue if not is_online(id))
    if gone:
        events.append(_left(state, gone, now_ms, is_online))
    return events


def due(state: State, *, since_ms: int) -> int | None:
    """The next deadline, epoch milliseconds; None without one.

    Args:
        since_ms: the service's start, from which absence counts at the earliest.
    """
    if state.ended:
        return None
    ends = [one.expires_at_ms for one in state.invites.values() if not one.lapsed]
    ends += [at_ms for _, at_ms in _absences(state, since_ms)]
    return min(ends, default=None)


def member_of(state: State, user_id: str) -> Member:
    """The member with this id; to anybody else there is no such party.

    Raises:
        NotFound: the user is no member.
    """
    member = state.members.get(user_id)
    if member is None:
        raise NotFound("you are in no such party")
    return member


def leader_of(state: State, user_id: str) -> Member:
    """The member, who must lead.

    Raises:
        NotFound: the user is no member.
        NotLeader: the member does not lead.
    """
    member = member_of(state, user_id)
    if user_id != state.leader_id:
        raise NotLeader
    return member


def _expects(state: State, now_ms: int) -> bool:
    return any(until_ms > now_ms for until_ms in state.expected.values())


def _other(state: State, user_id: str) -> None:
    if user_id not in state.members:
        raise NotFound("no such member")


def _left(state: State, gone: Collection[str], now_ms: int, is_online: IsOnline) -> MembersLeft:
    """The event that these members leave. If the leader is among them, the longest-standing member who is online leads,
    or the longest-standing if none is. If everybody who stays is ready, they start."""
    left = [id for id in state.members if id not in gone]
    leader_id: str | None = state.leader_id
    if leader_id in gone:
        leader_id = next((id for id in left if is_online(id)), left[0] if left else None)
    waited = state.lobby.signal is None and all(state.members[id].ready.ready for id in left)
    return MembersLeft(tuple(gone), leader_id, now_ms, launch(state, left, now_ms) if waited else None)


def _absences(state: State, since_ms: int) -> list[tuple[str, int]]:
    """(user id, epoch milliseconds at which they are removed) of each member who is offline.

    Who comes without a live socket, by requests alone or by a game server, may have been offline for hours, but not as
    a member.
    """
    return [
        (member.user_id, max(member.offline_since_ms, member.joined_at_ms, since_ms) + ABSENCE_MS)
        for member in state.members.values()
        if member.offline_since_ms is not None
    ]
