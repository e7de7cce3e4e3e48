"""The events of a game server. Those that are journaled have an offset in the channel `server:`.

Commands, settings and extensions may be large, and have rows: the journal keeps a reference to the row (`…Noted`),
and a client that was away is told the row as it is now (`missed.py`).
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
    """The base class of events with rows and without an offset; few of them are shown to clients."""

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False


class ClaimKeyIssued(Unseen, tag="claim_key_issued", frozen=True):
    """The server has a new claim key.

    Args:
        key: the SHA-256 digest of the key.
        dropped: the digests of older keys that it replaces.
    """

    key: bytes
    expires_at_ms: int
    dropped: tuple[bytes, ...] = ()


class ServerChanged(Unseen, tag="server_changed", frozen=True):
    """The server's own row has changed: claimed, moved to another network, given another secret.

    Args:
        row: the server's row from now on.
        left: the network that the server has left, or None.
        taken: whether the server has just got its owner; refused if that user was erased meanwhile.
        entered: whether the server has just come into its network.
    """

    row: ServerRow
    left: str | None = None
    taken: bool = False
    entered: bool = False


class TicketIssued(Unseen, tag="ticket_issued", frozen=True):
    """A player has a new join ticket."""

    ticket: TicketRow
    at_ms: int


class TicketVoided(Unseen, tag="ticket_voided", frozen=True):
    """A player's join ticket can no longer be used."""

    ticket: TicketRow


class SessionStarted(Unseen, tag="session_started", frozen=True):
    """A ticket was used, and its player is on the server.

    Args:
        ticket: the ticket, marked as used.
    """

    session: SessionRow
    ticket: TicketRow


class SessionEnded(Unseen, tag="session_ended", frozen=True):
    """A player's session on the server has ended.

    Args:
        at_ms: when, epoch milliseconds; 0 from a node of before that does not tell.
        own: the server was the player's own.
    """

    session: SessionRow
    at_ms: int = 0
    own: bool = False


class ServerRemoved(Unseen, tag="server_removed", frozen=True):
    """The server was removed."""

    moves_audience: ClassVar[bool] = True

    at_ms: int


class CommandReference(msgspec.Struct, frozen=True):
    """A command by its id."""

    id: str


class CommandNoted(Event, tag="command", frozen=True):
    """The journal's entry for `CommandChanged`."""

    command: CommandReference


class CommandChanged(Event, tag="command_changed", frozen=True):
    """A command was created, or has another status.

    Args:
        result_kept: whether the command's result is unchanged, so that its row has it already.
    """

    reframes: ClassVar[bool] = False

    command: CommandRow
    result_kept: bool = False

    def note(self) -> CommandNoted:
        """The journal entry: a reference to the command's row."""
        return CommandNoted(CommandReference(self.command.id))


class CommandTouched(Unseen, tag="command_touched", frozen=True):
    """A command has changed, but not its status: it was delivered again, or progressed. Clients are shown the event,
    without an offset.

    Args:
        result_kept: whether the command's result is unchanged, so that its row has it already.
    """

    command: CommandRow
    result_kept: bool = False


class LeaseEnded(Unseen, tag="lease_ended", frozen=True):
    """The server has not acknowledged a delivered command in time, so it may be delivered again."""

    durable: ClassVar[bool] = False

    command_id: str


class SettingsReference(msgspec.Struct, frozen=True):
    """Settings by their source."""

    source: str


class SettingsNoted(Event, tag="settings_updated", frozen=True):
    """The journal's entry for `SettingsChanged`."""

    settings: SettingsReference


class SettingsChanged(Event, tag="settings_changed", frozen=True):
    """The settings of a source have a new version.

    Args:
        changed_keys: keys of their data whose values have changed, sorted.
    """

    settings: SettingsRow
    changed_keys: tuple[str, ...]

    def note(self) -> SettingsNoted:
        """The journal entry: a reference to the settings' row."""
        return SettingsNoted(SettingsReference(self.settings.source))


class SettingsRemoved(Event, tag="settings_removed", frozen=True):
    """The settings of a source are gone; their versions stay in the history."""

    source: str

    def note(self) -> SettingsNoted:
        """The journal entry: a reference to the settings' row, which is gone."""
        return SettingsNoted(SettingsReference(self.source))


class ExtensionReference(msgspec.Struct, frozen=True):
    """An extension by its id."""

    extension_id: str


class ExtensionNoted(Event, tag="extensions", frozen=True):
    """The journal's entry for `ExtensionRegistered`."""

    reframes: ClassVar[bool] = False

    registration: ExtensionReference


class ExtensionRegistered(Event, tag="extension_registered", frozen=True):
    """The server has registered an extension for the first time, or with changes."""

    reframes: ClassVar[bool] = False

    registration: RegistrationRow

    def note(self) -> ExtensionNoted:
        """The journal entry: a reference to the registration's row."""
        return ExtensionNoted(ExtensionReference(self.registration.extension_id))


class ExtensionRemoved(Event, tag="extension_removed", frozen=True):
    """The server no longer has an extension."""

    reframes: ClassVar[bool] = False

    extension_id: str

    def note(self) -> ExtensionNoted:
        """The journal entry: a reference to the registration's row, which is gone."""
        return ExtensionNoted(ExtensionReference(self.extension_id))


class ExtensionSeen(Unseen, tag="extension_seen", frozen=True):
    """The server has registered an extension again, without changes."""

    registration: RegistrationRow


class MembersChanged(Event, tag="members", frozen=True):
    """Members were added, changed or removed.

    Args:
        put: members as they are now, without their names.
        gone: user ids of the removed ones.
    """

    reframes: ClassVar[bool] = False
    moves_audience: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True

    put: tuple[MemberRow, ...] = ()
    gone: tuple[str, ...] = ()


class MemberRenamed(Unseen, tag="member_renamed", frozen=True):
    """The owner or a member has another name. Shown to clients, without an offset: the name is in the user's row."""

    durable: ClassVar[bool] = False
    is_in_state: ClassVar[bool] = True

    user_id: str
    name: str


class PolicyChanged(Event, tag="access_policy", frozen=True):
    """The access policy has changed; the server's row comes with `ServerChanged`."""

    reframes: ClassVar[bool] = False

    access_mode: str
    invite_requires_direct_friend: bool


class InviteCreated(Unseen, tag="invite_created", frozen=True):
    """A user was invited.

    Args:
        server_name: the server's name, for the notification.
        notice_id: the object id of the notification.
        dropped: the finished invite that is deleted to make room, or None.
    """

    invite: InviteRow
    server_name: str
    notice_id: str
    dropped: str | None


class InviteEnded(Unseen, tag="invite_ended", frozen=True):
    """An invite was accepted, declined or revoked."""

    invite: InviteRow


OwnEvent: TypeAlias = ClaimKeyIssued | ServerChanged | ServerRemoved
"""Events of the server itself."""

SessionEvent: TypeAlias = TicketIssued | TicketVoided | SessionStarted | SessionEnded
"""Events of its players' tickets and sessions."""

MemberEvent: TypeAlias = MembersChanged | MemberRenamed | PolicyChanged | InviteCreated | InviteEnded
"""Events of the server's members, invites and access policy."""

AnyEvent: TypeAlias = (
    OwnEvent
    | SessionEvent
    | MemberEvent
    | CommandChanged
    | CommandNoted
    | CommandTouched
    | LeaseEnded
    | SettingsChanged
    | SettingsNoted
    | SettingsRemoved
    | ExtensionRemoved
    | ExtensionRegistered
    | ExtensionNoted
    | ExtensionSeen
)

ServerNews: TypeAlias = ServerChanged | ServerRemoved | SessionStarted | SessionEnded | MembersChanged
"""The events that memory on every node follows: of rows that verify servers, of who plays where, and of what becomes of
a server."""
