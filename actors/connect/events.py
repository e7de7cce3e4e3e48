"""What has happened to a game server. None of it takes an offset of the channel `server:` or is shown there."""

from typing import ClassVar, TypeAlias

from actors.kernel.kind import Event
from persistence.connect.rows import ServerRow, SessionRow, TicketRow


class Unseen(Event, frozen=True):
    """The root of what has rows, and is shown to nobody."""

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False


class ClaimKeyIssued(Unseen, tag="claim_key_issued", frozen=True):
    """The server has one more claim key."""

    key: bytes
    expires_at_ms: int


class ServerChanged(Unseen, tag="server_changed", frozen=True):
    """Its own row is another: claimed, moved, with another secret.

    Args:
        row: as it is from now on.
    """

    reframes: ClassVar[bool] = True

    row: ServerRow


class TicketIssued(Unseen, tag="ticket_issued", frozen=True):
    """A player has a new join ticket."""

    ticket: TicketRow
    at_ms: int


class SessionStarted(Unseen, tag="session_started", frozen=True):
    """A ticket was used, and its player is on the server.

    Args:
        ticket: as it is now, used.
    """

    session: SessionRow
    ticket: TicketRow


class SessionEnded(Unseen, tag="session_ended", frozen=True):
    """A player is no longer on the server."""

    session: SessionRow


class ServerRemoved(Unseen, tag="server_removed", frozen=True):
    """The server is gone."""

    moves_audience: ClassVar[bool] = True

    at_ms: int


AnyEvent: TypeAlias = (
    ClaimKeyIssued | ServerChanged | TicketIssued | SessionStarted | SessionEnded | ServerRemoved
)
