"""A voice channel in memory: immutable, one object a revision."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

MAX_PRIVATE = 2
"""Most participants of a private channel, unless a moderator decides otherwise."""

MAX_PARTY = 16
"""Most participants of a party's channel, unless a moderator decides otherwise."""

MAX_PARTICIPANTS = 64
"""The highest bound that a moderator may set."""

SESSION_MS = 10 * 60 * 1000
"""How long a token is valid. It concerns joining only: media nodes keep who is connected."""

RENEWED_MS = 5 * 60 * 1000
"""A token is replaced when it ends within this time."""

SILENCE_MS = 45_000
"""A session that has not synced for this long ends."""

REMOVED_MS = 10 * 60 * 1000
"""How long a removed user is given no token for the channel."""

EMPTY_MS = 60_000
"""A channel that has been empty for this long ends."""

MOST_REMOVALS = 256
"""Most removals that a channel remembers; beyond it the oldest is forgotten."""

Reason: TypeAlias = Literal["REPLACED", "REMOVED", "EXPIRED"]
"""Why a session has ended."""


class Session(msgspec.Struct, frozen=True):
    """A user in the channel.

    Args:
        issued_at_ms: when its newest token was given, epoch milliseconds.
        name: the user's name; in memory only.
    """

    session_id: str
    user_id: str
    self_mute: bool
    self_deaf: bool
    joined_at_ms: int
    issued_at_ms: int
    name: str = ""


class Removal(msgspec.Struct, frozen=True):
    """What is remembered of a session that has ended.

    Args:
        until_ms: when it is forgotten, epoch milliseconds.
        not_before_s: the user's tokens with an older `nbf` are void, epoch seconds.
        barred: whether the user is given no token until it is forgotten.
    """

    until_ms: int
    not_before_s: int
    barred: bool


class Control(msgspec.Struct, frozen=True):
    """What moderators have decided.

    Args:
        locked: whether nobody may join.
        muted_ids: ids of users who are not heard, whether they are in the channel or not, sorted.
        max_participants: how many users may be in the channel.
    """

    locked: bool
    muted_ids: tuple[str, ...]
    max_participants: int


class LookedUp(msgspec.Struct, frozen=True):
    """What the rows say of a user who is about to join.

    Args:
        name: their name; None when there is no such user.
        barred: whether a block stands between them and the other user of a private channel.
        elsewhere: (channel id, session id) of the session that they have; None for none.
    """

    user_id: str
    name: str | None
    barred: bool
    elsewhere: tuple[str, str] | None


class State(msgspec.Struct, frozen=True):
    """A channel.

    Args:
        revision: counts the journaled events, from 1.
        low_id, high_id: ids of the two users of a private channel, in order; None for the channel of a party.
        party_id: the party; None for a private channel.
        node_id: the node that carries it; None while there is none.
        sessions: {user id: session}, the longest there first.
        removals: {user id: what is remembered of their ended session}, the oldest first.
        empty_since_ms: since when there is no session, epoch milliseconds; None while there is one.
        looked_up: the rows that were read for the command under consideration; None without any.
    """

    id: str
    revision: int
    low_id: str | None
    high_id: str | None
    party_id: str | None
    created_at_ms: int
    node_id: str | None
    control: Control
    empty_since_ms: int | None
    sessions: dict[str, Session] = {}
    removals: dict[str, Removal] = {}
    ended: bool = False
    looked_up: LookedUp | None = None

    @property
    def pair(self) -> tuple[str, ...]:
        """The ids of the two users of a private channel; empty for the channel of a party."""
        return () if self.low_id is None or self.high_id is None else (self.low_id, self.high_id)

    def other_of(self, user_id: str) -> str | None:
        """The id of the other user of a private channel; None for the channel of a party."""
        return next((id for id in self.pair if id != user_id), None)


def in_order(sessions: Iterable[Session]) -> dict[str, Session]:
    """{user id: session}, the longest there first."""
    return {one.user_id: one for one in sorted(sessions, key=lambda one: (one.joined_at_ms, one.user_id))}


class Summary(msgspec.Struct, frozen=True):
    """The part of a channel that is kept in its head row, because it has no rows of its own."""

    node_id: str | None
    control: Control
    removals: dict[str, Removal]
    empty_since_ms: int | None
