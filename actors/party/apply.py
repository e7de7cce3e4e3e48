"""The party after an event: defined for every event in every state."""

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from actors.party import events
from actors.party.events import AnyEvent
from actors.party.state import DELETED, NOT_READY, TRAIL, TRAIL_BYTES, Invite, Lobby, Member, State

_encode = msgspec.json.Encoder().encode


def apply(state: State, event: AnyEvent) -> State:
    """The state after the event. A journaled event makes a new revision, and the one before is kept on the trail."""
    match event:
        case events.PresenceChanged():
            return _changed(state, event.user_id, offline_since_ms=event.offline_since_ms)
        case events.MemberExpected():
            return replace(state, expected={**state.expected, event.user_id: event.until_ms})
        case events.NotExpected():
            return replace(state, expected=_but(state.expected, event.user_id))
        case events.MemberRenamed():
            return _called(state, event.user_id, event.name)
        case events.UserErased():
            return replace(_unnamed(state, event.user_id), erased=state.erased + 1)
    after = _applied(state, event)
    before = replace(state, trail=(), looked_up=None)
    return replace(
        after,
        revision=state.revision + 1,
        updated_at_ms=max(event.at_ms, state.updated_at_ms),
        trail=_bounded((*state.trail[1 - TRAIL :], before)),
        looked_up=None,
    )


def _bounded(trail: tuple[State, ...]) -> tuple[State, ...]:
    """The newest states of a trail whose selections are within `TRAIL_BYTES` together."""
    kept_bytes = sum(one.lobby.selection_bytes for one in trail)
    oldest = 0
    while kept_bytes > TRAIL_BYTES:
        kept_bytes -= trail[oldest].lobby.selection_bytes
        oldest += 1
    return trail[oldest:]


def _unnamed(state: State, user_id: str) -> State:
    trail = tuple(_unnamed(one, user_id) for one in state.trail)
    return replace(_called(state, user_id, DELETED), trail=trail)


def _called(state: State, user_id: str, name: str) -> State:
    invites = {id: invite_calling(one, user_id, name) for id, one in state.invites.items()}
    return replace(_changed(state, user_id, name=name), invites=invites)


def invite_calling(invite: Invite, user_id: str, name: str) -> Invite:
    """The invite with another name for a user, whether the user is its sender or the invitee."""
    if invite.sender_id == user_id:
        invite = replace(invite, sender_name=name)
    return replace(invite, target_name=name) if invite.target_id == user_id else invite


def _applied(state: State, event: events.Journaled) -> State:  # noqa: PLR0911 - a table
    match event:
        case events.InviteSent(invite=invite):
            kept = _without(state.invites, (*event.dropped, invite.target_id))
            return replace(state, invites={**kept, invite.target_id: invite})
        case events.InvitesGone():
            return replace(state, invites=_without(state.invites, event.target_ids))
        case events.InvitesLapsed():
            return replace(state, invites=_lapsed(state.invites, event.target_ids))
        case events.MemberJoined(member=member):
            return replace(
                state,
                members={**state.members, member.user_id: member},
                invites=_without(state.invites, (member.user_id,)),
                expected=_but(state.expected, member.user_id),
                lobby=replace(state.lobby, signal=None),
            )
        case events.MembersLeft():
            return _left(state, event)
        case events.LeaderChanged():
            return _led_by(state, event.leader_id)
        case events.SelectorsChanged():
            return replace(state, lobby=replace(state.lobby, selector_ids=event.selector_ids))
        case events.SelectionChanged():
            lobby = Lobby(
                revision=state.lobby.revision + 1,
                selection=event.selection,
                selection_bytes=len(_encode(event.selection)),
                selector_ids=state.lobby.selector_ids,
                requirement_hash=event.requirement_hash,
            )
            members = {id: replace(member, ready=NOT_READY) for id, member in state.members.items()}
            return replace(state, members=members, lobby=lobby)
        case events.ReadyChanged():
            lobby = replace(state.lobby, signal=event.signal)
            return replace(_changed(state, event.user_id, ready=event.ready), lobby=lobby)


def _left(state: State, event: events.MembersLeft) -> State:
    members = {id: member for id, member in state.members.items() if id not in event.user_ids}
    selectors = tuple(id for id in state.lobby.selector_ids if id in members)
    lobby = replace(state.lobby, selector_ids=selectors, signal=event.signal)
    left = replace(state, members=members, lobby=lobby)
    return left if event.leader_id is None else _led_by(left, event.leader_id)


def _led_by(state: State, leader_id: str) -> State:
    others = tuple(id for id in state.lobby.selector_ids if id != leader_id)
    return replace(state, leader_id=leader_id, lobby=replace(state.lobby, selector_ids=others))


def _changed(state: State, user_id: str, **fields: object) -> State:
    member: Member | None = state.members.get(user_id)
    if member is None:
        return state
    return replace(state, members={**state.members, user_id: replace(member, **fields)})


def _without(invites: dict[str, Invite], target_ids: Collection[str]) -> dict[str, Invite]:
    return {id: invite for id, invite in invites.items() if id not in target_ids}


def _but(expected: dict[str, int], user_id: str) -> dict[str, int]:
    return {id: until_ms for id, until_ms in expected.items() if id != user_id}


def _lapsed(invites: dict[str, Invite], target_ids: Collection[str]) -> dict[str, Invite]:
    return {id: replace(one, lapsed=True) if id in target_ids else one for id, one in invites.items()}
