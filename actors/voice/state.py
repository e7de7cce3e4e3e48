"""A voice channel in memory: immutable, one object a revision."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

MAX_PRIVATE = 2

MAX_PARTY = 16
"""Participants, unless a moderator says otherwise."""

MAX_PARTICIPANTS = 64

SESSION_MS = 10 * 60 * 1000
"""How long a token is valid. It concerns joining only: media nodes keep who is connected."""

RENEWED_MS = 5 * 60 * 1000
"""A token that ends so soon is replaced."""

SILENCE_MS = 45_000
"""A session that has not synced for so long has ended."""

REMOVED_MS = 10 * 60 * 1000
"""For so long a removed user is given no token for the channel."""

EMPTY_MS = 60_000
"""A channel that was empty for so long has ended."""

MOST_REMOVALS = 256
"""Remembered by a channel; beyond it the oldest is forgotten."""

Reason: TypeAlias = Literal["REPLACED", "REMOVED", "EXPIRED"]
"""Why a session has ended."""


class Session(msgspec.Struct, frozen=True):
    """A user in the channel.

    Args:
        name: of the user; in memory only.
        issued_at_ms: when the newest token was given.
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
        until_ms: when it is forgotten.
        not_before_s: epoch seconds: tokens whose `nbf` is older are void.
        barred: the user is given no token until then.
    """

    until_ms: int
    not_before_s: int
    barred: bool


class Control(msgspec.Struct, frozen=True):
    """What moderators have said.

    Args:
        locked: nobody comes in.
        muted_ids: who is not to be heard, in the channel or not, in order.
    """

    locked: bool
    muted_ids: tuple[str, ...]
    max_participants: int


class LookedUp(msgspec.Struct, frozen=True):
    """What the rows say of a user who is about to join.

    Args:
        name: None when there is no such user.
        barred: a block stands between them and the other of a private channel.
        elsewhere: channel and id of the session that they have.
    """

    user_id: str
    name: str | None
    barred: bool
    elsewhere: tuple[str, str] | None


class State(msgspec.Struct, frozen=True):
    """A channel.

    Args:
        revision: counts what is journaled, from 1.
        low_id, high_id: the two of a private channel, in order; None for one of a party.
        node_id: the node that carries it; None while there is none.
        sessions: {user id: session}, the longest there first.
        removals: {user id: …}, the oldest first.
        empty_since_ms: since when there is no session; None while there is one.
        looked_up: what was read for the command under consideration.
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
        """The two of a private channel; empty for one of a party."""
        return () if self.low_id is None or self.high_id is None else (self.low_id, self.high_id)

    def other_of(self, user_id: str) -> str | None:
        """The other of a private channel; None for one of a party."""
        return next((id for id in self.pair if id != user_id), None)


def in_order(sessions: Iterable[Session]) -> dict[str, Session]:
    """{user id: session}, the longest there first."""
    return {one.user_id: one for one in sorted(sessions, key=lambda one: (one.joined_at_ms, one.user_id))}


class Summary(msgspec.Struct, frozen=True):
    """What the head row keeps of a channel: all that changes without rows of its own."""

    node_id: str | None
    control: Control
    removals: dict[str, Removal]
    empty_since_ms: int | None
