"""What has happened to a voice channel. Each journaled event is one revision.

| event          | journaled | in the head | rows               |
|----------------|-----------|-------------|--------------------|
| Joined         | yes       | yes         | session            |
| SessionsEnded  | yes       | yes         | sessions           |
| SessionChanged | yes       |             | session            |
| ControlChanged | yes       | yes         | sessions           |
| Moved          | yes       | yes         | sessions           |
| ChannelEnded   | yes       |             | channel            |
| ControlAudited |           |             | audit trail        |
| UserRenamed    |           |             |                    |
"""

from typing import ClassVar, TypeAlias

from msgspec.structs import replace

from actors.kernel.kind import Event
from actors.voice.state import Control, Reason, Session
from persistence.users.audit import Stamp


class Joined(Event, tag="joined", frozen=True):
    """A user has joined the channel, or joined it again.

    Args:
        elsewhere: (channel id, session id) of the session that ends by this; None for none.
    """

    session: Session
    elsewhere: tuple[str, str] | None
    at_ms: int

    def note(self) -> "Joined":
        """The event as the journal stores it: without the user's name."""
        return replace(self, session=replace(self.session, name=""))


class SessionsEnded(Event, tag="sessions_ended", frozen=True):
    """Sessions have ended.

    Args:
        sessions: {user id: session id} of the ended sessions.
        barred: ids of users who are given no token for a while; some of them may have had no session.
    """

    sessions: dict[str, str]
    barred: tuple[str, ...]
    reason: Reason
    at_ms: int


class SessionChanged(Event, tag="session_changed", frozen=True):
    """A user has muted or deafened themselves, or was given another token."""

    user_id: str
    session_id: str
    self_mute: bool
    self_deaf: bool
    issued_at_ms: int
    at_ms: int


class ControlChanged(Event, tag="control_changed", frozen=True):
    """A moderator has changed how the channel is controlled.

    Args:
        renewed: {user id: session id} of participants who were muted or unmuted by it, and have new tokens therefore.
    """

    control: Control
    renewed: dict[str, str]
    at_ms: int


class Moved(Event, tag="moved", frozen=True):
    """Another node carries the channel.

    Args:
        node_id: that node; None while there is none.
        renewed: {user id: session id} of all participants, who have new tokens therefore.
    """

    node_id: str | None
    renewed: dict[str, str]
    at_ms: int


class ChannelEnded(Event, tag="channel_ended", frozen=True):
    """The channel is no more."""

    at_ms: int


class ControlAudited(Event, tag="control_audited", frozen=True):
    """A moderator's decision, for the audit trail.

    Args:
        stamp: identifies the moderator and their request.
    """

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    stamp: Stamp
    control: Control
    removed_ids: tuple[str, ...]


class UserRenamed(Event, tag="user_renamed", frozen=True):
    """A user in the channel has another name."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    user_id: str
    name: str


Journaled: TypeAlias = Joined | SessionsEnded | SessionChanged | ControlChanged | Moved | ChannelEnded
"""The events that make a revision of the channel."""

AnyEvent: TypeAlias = Journaled | ControlAudited | UserRenamed
"""Any event of a voice channel."""
