"""What can be asked of a voice channel. Ids are made by the caller, time is the turn's."""

from typing import TypeAlias

import msgspec

from actors.voice.state import Reason
from persistence.users.audit import Stamp


class Command(msgspec.Struct, frozen=True):
    """Base of all commands of a voice channel."""


class Join(Command, frozen=True):
    """A user joins the channel, or joins it again.

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
    """A user's client says that it is still there.

    Args:
        self_mute, self_deaf: whether the user has muted or deafened themselves; None leaves it as it is.
    """

    user_id: str
    session_id: str
    self_mute: bool | None
    self_deaf: bool | None


class EndSessions(Command, frozen=True):
    """End sessions; those that have ended already are passed over.

    Args:
        sessions: (user id, session id) of each.
    """

    sessions: tuple[tuple[str, str], ...]
    reason: Reason


class SetControl(Command, frozen=True):
    """A moderator changes how the channel is controlled; None leaves a field as it is.

    Args:
        muted_ids: ids of all users who are muted from now on.
        remove_ids: ids of users who are removed and given no token for a while, whether they are in the channel or not.
        stamp: identifies the moderator and their request in the audit trail.
    """

    locked: bool | None
    muted_ids: tuple[str, ...] | None
    max_participants: int | None
    remove_ids: tuple[str, ...]
    stamp: Stamp


class MoveTo(Command, frozen=True):
    """Move the channel to another node, if it is still on the given one and nobody else has joined meanwhile.

    Args:
        from_node_id: the node that it has to be on; None for no node.
        node_id: the node that carries it from now on; None while there is no node for it.
        user_ids: ids of the users for whom a seat is kept on that node.
    """

    from_node_id: str | None
    node_id: str | None
    user_ids: tuple[str, ...]


class EndIfEmpty(Command, frozen=True):
    """End the channel, if it has been empty for long enough."""


class Look(Command, frozen=True):
    """Change nothing; the answer is the state after all commands that were sent before."""


class TellRename(Command, frozen=True):
    """A user in the channel has another name."""

    user_id: str
    name: str


AnyCommand: TypeAlias = Join | Sync | EndSessions | SetControl | MoveTo | EndIfEmpty | Look | TellRename
"""Any command of a voice channel."""
