"""What clients see of parties, as structs (service-api §2 Party, contract §6)."""

from typing import Literal

from actors.friends.public import Player, Shown, Status
from actors.party.selection import Selection


class PartyReady(Shown, frozen=True):
    """What a member has said of being ready; `updatedAt` is null while they have said nothing."""

    ready: bool
    profile_prepared: bool
    profile_id: str | None
    temporary_profile: bool
    requirement_hash: str | None
    updated_at: str | None


class PartyMember(Shown, frozen=True):
    """A member of the party, as the viewer sees them."""

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
        selector_ids: the members who may select, the leader first.
        requirement_hash: the hash of the selection's `profileRequirement`.
    """

    revision: int
    selection: Selection | None
    selector_ids: tuple[str, ...]
    requirement_hash: str | None
    launch_signal: LaunchSignal | None


class Party(Shown, frozen=True):
    """A party; `revision` is incremented by every change."""

    id: str
    leader_id: str
    revision: int
    max_size: int
    created_at: str
    updated_at: str
    members: tuple[PartyMember, ...]
    lobby: PartyLobby


class PartyInvite(Shown, frozen=True):
    """An invite; `player` is the other of the two users, of whom nothing but the name is shown."""

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
    party."""

    party: Party | None
    invites: tuple[PartyInvite, ...]


class PartyMembership(Shown, frozen=True):
    """The party that a player is in."""

    player_id: str
    party_id: str
    leader: bool


class PartyLookup(Shown, frozen=True):
    """The parties of some players."""

    memberships: tuple[PartyMembership, ...]
    parties: tuple[Party, ...]
