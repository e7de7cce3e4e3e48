"""A party as one user sees it: how members appear is looked up when the frame is made."""

from collections.abc import Callable, Iterable

import msgspec

from actors.friends.public import Appearance, Player, Status
from actors.party.public import (
    LaunchSignal,
    Party,
    PartyInvite,
    PartyLobby,
    PartyMember,
    PartyReady,
    PartySnapshot,
)
from actors.party.state import MAX_MEMBERS, Invite, Lobby, Member, Ready, Signal, State, pending
from actors.time import iso, iso_or_none

Seen = Callable[[str, str], Appearance]
"""Returns how the user with the first id appears to the user with the second."""

_encode = msgspec.json.Encoder().encode


def snapshot(
    seen: Seen, party: State | None, incoming: Iterable[Invite], user_id: str, *, now_ms: int
) -> PartySnapshot:
    """The live frame of one user.

    Args:
        seen: looks up how members appear to the user.
        party: the party that the user is in; None for none.
        incoming: the invites that the user has received.
        user_id: the user.
        now_ms: epoch milliseconds; expired invites are left out.
    """
    shown = None if party is None else party_of(seen, party, user_id)
    return PartySnapshot(shown, invites(party, incoming, user_id, now_ms=now_ms))


def encoded(
    seen: Seen, party: State | None, incoming: Iterable[Invite], user_id: str, *, now_ms: int
) -> bytes:
    """The PartySnapshot as JSON."""
    return _encode(snapshot(seen, party, incoming, user_id, now_ms=now_ms))


def invites(
    party: State | None, incoming: Iterable[Invite], user_id: str, *, now_ms: int
) -> tuple[PartyInvite, ...]:
    """The invites that a user sees: those that they have received, then those into their party."""
    outgoing = () if party is None else party.invites.values()
    return tuple(_invite(one, user_id) for some in (incoming, outgoing) for one in pending(some, now_ms))


def party_of(seen: Seen, state: State, viewer_id: str) -> Party:
    """The party as one viewer sees it.

    Args:
        seen: looks up how members appear to the viewer.
        viewer_id: the id of a member, or of the owner of a game server that looks; "" for a viewer who is no user.
    """
    return Party(
        id=state.id,
        leader_id=state.leader_id,
        revision=state.revision,
        max_size=MAX_MEMBERS,
        created_at=iso(state.created_at_ms),
        updated_at=iso(state.updated_at_ms),
        members=tuple(
            _member(state, member, seen(member.user_id, viewer_id)) for member in state.members.values()
        ),
        lobby=_lobby(state.leader_id, state.lobby),
    )


def _member(state: State, member: Member, shown: Appearance) -> PartyMember:
    return PartyMember(
        player_id=member.user_id,
        name=member.name,
        online=shown.online,
        status=shown.status,
        leader=member.user_id == state.leader_id,
        selector=state.is_selector(member.user_id),
        joined_at=iso(member.joined_at_ms),
        ready=_ready(member.ready),
    )


def _ready(said: Ready) -> PartyReady:
    return PartyReady(
        said.ready,
        said.profile_prepared,
        said.profile_id,
        said.temporary_profile,
        said.requirement_hash,
        iso_or_none(said.updated_at_ms),
    )


def _lobby(leader_id: str, lobby: Lobby) -> PartyLobby:
    return PartyLobby(
        revision=lobby.revision,
        selection=lobby.selection,
        selector_ids=(leader_id, *lobby.selector_ids),
        requirement_hash=lobby.requirement_hash,
        launch_signal=None if lobby.signal is None else _signal(lobby.signal),
    )


def _signal(signal: Signal) -> LaunchSignal:
    return LaunchSignal(
        id=signal.id,
        revision=signal.revision,
        created_at=iso(signal.created_at_ms),
        created_at_ms=signal.created_at_ms,
        target_kind=signal.target_kind,
        target_id=signal.target_id,
        server_address=signal.server_address,
        member_ids=signal.member_ids,
    )


def _invite(invite: Invite, user_id: str) -> PartyInvite:
    incoming = invite.target_id == user_id
    other_id, name = (
        (invite.sender_id, invite.sender_name) if incoming else (invite.target_id, invite.target_name)
    )
    created_at = iso(invite.created_at_ms)
    return PartyInvite(
        party_id=invite.party_id,
        sender_id=invite.sender_id,
        sender_name=invite.sender_name,
        recipient_id=invite.target_id,
        direction="incoming" if incoming else "outgoing",
        created_at=created_at,
        expires_at=iso(invite.expires_at_ms),
        player=Player(other_id, name, False, Status("OFFLINE", created_at), None),
    )
