"""What has happened to a game server. What is journaled takes an offset of the channel `server:`.

Commands, settings and extensions may be large, and have rows: the journal keeps of such an event which row it is about
(`…Noted`), and who was away is told what the rows say now (`recalling.py`).
"""

from typing import ClassVar, TypeAlias

import msgspec

from actors.kernel.kind import Event
from persistence.connect.rows import (
    CommandRow,
    InviteRow,
    MemberRow,
    RegistrationRow,
    ServerRow,
    SessionRow,
    SettingsRow,
    TicketRow,
)


class Unseen(Event, frozen=True):
    """The root of what has rows, and no offset; nearly all of it is shown to nobody."""

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False


class ClaimKeyIssued(Unseen, tag="claim_key_issued", frozen=True):
    """The server has one more claim key.

    Args:
        dropped: older ones that make room for it.
    """

    key: bytes
    expires_at_ms: int
    dropped: tuple[bytes, ...] = ()


class ServerChanged(Unseen, tag="server_changed", frozen=True):
    """Its own row is another: claimed, moved, with another secret.

    Args:
        row: as it is from now on.
    """

    row: ServerRow


class TicketIssued(Unseen, tag="ticket_issued", frozen=True):
    """A player has a new join ticket."""

    ticket: TicketRow
    at_ms: int


class TicketVoided(Unseen, tag="ticket_voided", frozen=True):
    """A player's join ticket is good for nothing any more."""

    ticket: TicketRow


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


class CommandReference(msgspec.Struct, frozen=True):
    """Which command."""

    id: str


class CommandNoted(Event, tag="command", frozen=True):
    """What the journal keeps of `CommandChanged`."""

    command: CommandReference


class CommandChanged(Event, tag="command_changed", frozen=True):
    """A command is new, or has another status."""

    reframes: ClassVar[bool] = False

    command: CommandRow

    def note(self) -> CommandNoted:
        """What the journal keeps: which command it was, not its row."""
        return CommandNoted(CommandReference(self.command.id))


class CommandTouched(Unseen, tag="command_touched", frozen=True):
    """A command has the same status as before: delivered once more, or further on. Shown, without an offset."""

    command: CommandRow


class LeaseEnded(Unseen, tag="lease_ended", frozen=True):
    """A delivered command was not answered: it may be delivered again."""

    durable: ClassVar[bool] = False

    command_id: str


class SettingsReference(msgspec.Struct, frozen=True):
    """Which settings."""

    source: str


class SettingsNoted(Event, tag="settings_updated", frozen=True):
    """What the journal keeps of `SettingsChanged`."""

    settings: SettingsReference


class SettingsChanged(Event, tag="settings_changed", frozen=True):
    """The settings of a source have a new version.

    Args:
        changed_keys: of their data, sorted.
    """

    settings: SettingsRow
    changed_keys: tuple[str, ...]

    def note(self) -> SettingsNoted:
        """What the journal keeps: which settings they were, not their data."""
        return SettingsNoted(SettingsReference(self.settings.source))


class ExtensionReference(msgspec.Struct, frozen=True):
    """Which extension."""

    extension_id: str


class ExtensionNoted(Event, tag="extensions", frozen=True):
    """What the journal keeps of `ExtensionRegistered`."""

    reframes: ClassVar[bool] = False

    registration: ExtensionReference


class ExtensionRegistered(Event, tag="extension_registered", frozen=True):
    """The server has another extension, or has one otherwise."""

    reframes: ClassVar[bool] = False

    registration: RegistrationRow

    def note(self) -> ExtensionNoted:
        """What the journal keeps: which extension it was, not what it registered."""
        return ExtensionNoted(ExtensionReference(self.registration.extension_id))


class ExtensionSeen(Unseen, tag="extension_seen", frozen=True):
    """The server has registered what it had registered."""

    registration: RegistrationRow


class MembersChanged(Event, tag="members", frozen=True):
    """Somebody belongs to the server, belongs otherwise, or belongs no longer.

    Args:
        put: members as they are now, without their names.
        gone: user ids of those who are none any more.
    """

    reframes: ClassVar[bool] = False
    moves_audience: ClassVar[bool] = True

    put: tuple[MemberRow, ...] = ()
    gone: tuple[str, ...] = ()


class PolicyChanged(Event, tag="access_policy", frozen=True):
    """Others may play, or be invited, than before; the server's row comes with `ServerChanged`."""

    reframes: ClassVar[bool] = False

    access_mode: str
    invite_requires_direct_friend: bool


class InviteCreated(Unseen, tag="invite_created", frozen=True):
    """Somebody is invited.

    Args:
        server_name: for the notification.
        notice_id: of the notification.
        dropped: a finished invite that is kept no longer, or None.
    """

    invite: InviteRow
    server_name: str
    notice_id: str
    dropped: str | None


class InviteEnded(Unseen, tag="invite_ended", frozen=True):
    """An invite was accepted or revoked."""

    invite: InviteRow


OwnEvent: TypeAlias = (
    ClaimKeyIssued
    | ServerChanged
    | TicketIssued
    | TicketVoided
    | SessionStarted
    | SessionEnded
    | ServerRemoved
)
"""Of the server itself, and of who plays on it."""

MemberEvent: TypeAlias = MembersChanged | PolicyChanged | InviteCreated | InviteEnded
"""Of who belongs to the server, and who may come."""

AnyEvent: TypeAlias = (
    OwnEvent
    | MemberEvent
    | CommandChanged
    | CommandNoted
    | CommandTouched
    | LeaseEnded
    | SettingsChanged
    | SettingsNoted
    | ExtensionRegistered
    | ExtensionNoted
    | ExtensionSeen
)
