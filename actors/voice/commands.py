"""What can be asked of a voice channel. Ids are made by the caller, time is the turn's."""

from typing import TypeAlias

import msgspec

from actors.voice.state import Reason
from persistence.users.audit import Stamp


class Command(msgspec.Struct, frozen=True):
    """The root of what a channel takes."""


class Join(Command, frozen=True):
    """A user comes in, or again.

    Args:
        session_id: a fresh object id.
        node_id: the node on which a seat is kept for them.
    """

    user_id: str
    session_id: str
    node_id: str
    self_mute: bool
    self_deaf: bool


class Sync(Command, frozen=True):
    """A user says that they are there.

    Args:
        self_mute, self_deaf: None leaves it.
    """

    user_id: str
    session_id: str
    self_mute: bool | None
    self_deaf: bool | None


class EndSessions(Command, frozen=True):
    """Sessions end; those that have ended already stay so.

    Args:
        sessions: (user id, session id) of each.
    """

    sessions: tuple[tuple[str, str], ...]
    reason: Reason


class SetControl(Command, frozen=True):
    """A moderator decides; None leaves it.

    Args:
        muted_ids: the whole set.
        remove_ids: who goes, and is given no token for a while; in the channel or not.
        stamp: identifies the moderator and their request in the audit trail.
    """

    locked: bool | None
    muted_ids: tuple[str, ...] | None
    max_participants: int | None
    remove_ids: tuple[str, ...]
    stamp: Stamp


class MoveTo(Command, frozen=True):
    """Another node carries the channel, if it is carried by that one still, and nobody else has come in meanwhile.

    Args:
        node_id: None while there is none.
        user_ids: for whom a seat is kept on it.
    """

    from_node_id: str | None
    node_id: str | None
    user_ids: tuple[str, ...]


class EndIfEmpty(Command, frozen=True):
    """The channel ends, if it was empty for long enough."""


class Look(Command, frozen=True):
    """Changes nothing; its answer is the state after all that was asked before."""


class TellRename(Command, frozen=True):
    """A user in the channel is called otherwise."""

    user_id: str
    name: str


AnyCommand: TypeAlias = Join | Sync | EndSessions | SetControl | MoveTo | EndIfEmpty | Look | TellRename
"""Any of them."""
