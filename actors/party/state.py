"""A party in memory: immutable, one object a revision, so that views may keep a reference to it."""

from collections.abc import Iterable

import msgspec

from actors.party.selection import Selection

MAX_MEMBERS = 16
"""Most members of a party (contract §6)."""

MAX_INVITES = 32
"""Most pending invites of a party."""

INVITE_MS = 10 * 60 * 1000
"""How long an invite stands (contract §6)."""

ABSENCE_MS = 10 * 60 * 1000
"""A member who is offline for so long is removed (contract §6)."""

EXPECTED_MS = 15 * 1000
"""How long a party waits for an invitee who is about to leave another party for it. The two turns that bring them take
less; and an invitee who cannot come says so, unless their node has died."""

LAPSED_KEPT_MS = 60 * 60 * 1000
"""How long after an invite's end an invitee who comes too late is told that it has expired."""

TRAIL = 32
"""Most earlier states that a live party remembers, for viewers who show every revision."""

TRAIL_BYTES = 256 * 1024
"""Most bytes of the selections in these states together, as JSON: three bytes of `requiredMods`, which may be any JSON,
can be a list of 64 bytes, so that this is 6 MB at worst. Who has missed more is told from the journal."""


class Ready(msgspec.Struct, frozen=True):
    """What a member has said of being ready.

    Args:
        requirement_hash: the hash of the requirement that they have prepared for; None if they have not said.
        updated_at_ms: when they said it, epoch milliseconds; None while they have said nothing since the last
            selection.
    """

    ready: bool = False
    profile_prepared: bool = False
    profile_id: str | None = None
    temporary_profile: bool = False
    requirement_hash: str | None = None
    updated_at_ms: int | None = None


NOT_READY = Ready()
"""The value of members who have just joined, and of all members after each selection."""


class Member(msgspec.Struct, frozen=True):
    """A member of the party.

    Args:
        offline_since_ms: since when they are offline, epoch milliseconds; None while they are online, or not known to
            be offline.
    """

    user_id: str
    name: str
    joined_at_ms: int
    ready: Ready = NOT_READY
    offline_since_ms: int | None = None


DELETED = "deleted"
"""Shown in place of the name of an erased user (contract §8)."""


class Invite(msgspec.Struct, frozen=True):
    """An invite into a party.

    Args:
        lapsed: whether it has expired and everybody was told.
    """

    party_id: str
    target_id: str
    target_name: str
    sender_id: str
    sender_name: str
    created_at_ms: int
    expires_at_ms: int
    lapsed: bool = False


class Signal(msgspec.Struct, frozen=True):
    """The launch signal: all members were ready, and start.

    Args:
        revision: the revision of the lobby.
        member_ids: the members who start.
    """

    id: str
    revision: int
    created_at_ms: int
    target_kind: str
    target_id: str
    server_address: str | None
    member_ids: tuple[str, ...]


class Lobby(msgspec.Struct, frozen=True):
    """What the party is going to play.

    Args:
        revision: how often something was selected.
        selection_bytes: the size of the selection as JSON; 0 without one, or if it was made before sizes were noted.
        selector_ids: the members who may select beside the leader.
    """

    revision: int = 0
    selection: Selection | None = None
    selection_bytes: int = 0
    selector_ids: tuple[str, ...] = ()
    requirement_hash: str | None = None
    signal: Signal | None = None


class LookedUp(msgspec.Struct, frozen=True):
    """What the rows say of a user who is about to be invited, or to join.

    Args:
        user_id: the user.
        name: their name; None when there is no such user.
        barred: whether a block stands between them and the other user of the invite.
        party_id: the party that they are in; None for none.
    """

    user_id: str
    name: str | None
    barred: bool
    party_id: str | None


class State(msgspec.Struct, frozen=True):
    """A party.

    Args:
        epoch: the name of its history.
        revision: counts the journaled events, from 1.
        members: {user id: member}, the longest-standing first; empty once the party has ended.
        invites: {invitee's id: invite}, in the order of sending; lapsed ones too.
        erased: how many users were erased whom the party has named.
        expected: {invitee who is about to leave another party for this one: until when, epoch milliseconds}; in memory
            only.
        trail: the states before this one, up to 32 and `TRAIL_BYTES`, the oldest first; in memory only.
        looked_up: the rows that were read for the command under consideration; None without any.
    """

    id: str
    epoch: str
    revision: int
    founder_id: str
    leader_id: str
    created_at_ms: int
    updated_at_ms: int
    members: dict[str, Member]
    invites: dict[str, Invite]
    lobby: Lobby = Lobby()
    erased: int = 0
    expected: dict[str, int] = {}
    trail: "tuple[State, ...]" = ()
    looked_up: LookedUp | None = None

    @property
    def ended(self) -> bool:
        """Whether no member is left."""
        return not self.members

    def is_selector(self, user_id: str) -> bool:
        """Whether this member may select."""
        return user_id == self.leader_id or user_id in self.lobby.selector_ids


class Summary(msgspec.Struct, frozen=True):
    """The part of a party that is kept in its head row, because it has no rows of its own.

    Args:
        ready: {user id: what they have said of being ready}, of members who have said something.
        absent: {user id: since when they are offline, epoch milliseconds}.
    """

    leader_id: str
    updated_at_ms: int
    lobby: Lobby
    ready: dict[str, Ready]
    absent: dict[str, int]


def invites_between(state: State, one_id: str, other_id: str) -> list[Invite]:
    """The invites that one of two users has sent to the other, in either direction; lapsed ones too."""
    pair = {one_id, other_id}
    return [invite for invite in state.invites.values() if {invite.sender_id, invite.target_id} == pair]


def pending(invites: Iterable[Invite], now_ms: int) -> list[Invite]:
    """The invites that can still be accepted at `now_ms`: neither lapsed nor past their expiry."""
    return [invite for invite in invites if not invite.lapsed and invite.expires_at_ms > now_ms]
