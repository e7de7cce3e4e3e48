"""What clients see of parties, as structs (service-api §2 Party, contract §6)."""

from typing import Literal

from actors.friends.public import Player, Shown, Status
from actors.party.selection import Selection


class PartyReady(Shown, frozen=True):
    """What a member has said of being ready; `updatedAt` is null while they have said nothing.

    Args:
        ready: whether they are ready.
        profile_prepared: whether their profile meets the requirement.
        requirement_hash: the requirement that they have said so of; null without one.
    """

    ready: bool
    profile_prepared: bool
    profile_id: str | None
    temporary_profile: bool
    requirement_hash: str | None
    updated_at: str | None


class PartyMember(Shown, frozen=True):
    """A member of the party, as the viewer sees them.

    Args:
        online: whether they show as online to the viewer.
        status: whether they are online, and since when.
        leader: whether they lead the party.
        selector: whether they may choose what is played, beside the leader.
        ready: what they have said of being ready.
    """

    player_id: str
    name: str
    online: bool
    status: Status
    leader: bool
    selector: bool
    joined_at: str
    ready: PartyReady


class LaunchSignal(Shown, frozen=True):
    """All were ready for a round-based target: these start, now.

    Args:
        revision: the revision of the lobby.
        created_at_ms: when it was given, epoch milliseconds.
        target_id: the target that was chosen.
        server_address: where to connect; null where the target says so itself.
        member_ids: the members who start.
    """

    id: str
    revision: int
    created_at: str
    created_at_ms: int
    target_kind: str
    target_id: str
    server_address: str | None
    member_ids: tuple[str, ...]


class PartyLobby(Shown, frozen=True):
    """What the party is going to play.

    Args:
        revision: incremented by every selection.
        selection: what the party has chosen; null while nothing is.
        selector_ids: the members who may select, the leader first.
        requirement_hash: the hash of the selection's `profileRequirement`.
        launch_signal: the start that was given last; null before.
    """

    revision: int
    selection: Selection | None
    selector_ids: tuple[str, ...]
    requirement_hash: str | None
    launch_signal: LaunchSignal | None


class Party(Shown, frozen=True):
    """A party; `revision` is incremented by every change.

    Args:
        leader_id: the member who leads it.
        revision: rises with each change.
        max_size: how many members it may have.
        members: its members, the leader among them.
        lobby: what is being prepared.
    """

    id: str
    leader_id: str
    revision: int
    max_size: int
    created_at: str
    updated_at: str
    members: tuple[PartyMember, ...]
    lobby: PartyLobby


class PartyInvite(Shown, frozen=True):
    """An invite; `player` is the other of the two users, of whom nothing but the name is shown.

    Args:
        player: the other of the two.
    """

    party_id: str
    sender_id: str
    sender_name: str
    recipient_id: str
    direction: Literal["incoming", "outgoing"]
    created_at: str
    expires_at: str
    player: Player


class PartySnapshot(Shown, frozen=True):
    """A user's party, or null, and the pending invites: those that the user has received, and those into their
    party.

    Args:
        party: the user's party; null without one.
        invites: invites that wait, received and sent.
    """

    party: Party | None
    invites: tuple[PartyInvite, ...]


class PartyMembership(Shown, frozen=True):
    """The party that a player is in.

    Args:
        leader: whether they lead it.
    """

    player_id: str
    party_id: str
    leader: bool


class PartyLookup(Shown, frozen=True):
    """The parties of some players.

    Args:
        memberships: which of the players are in a party, and in which.
        parties: these parties, once each.
    """

    memberships: tuple[PartyMembership, ...]
    parties: tuple[Party, ...]
