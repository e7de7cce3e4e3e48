"""The commands of a game server's actor, as structs; `rules.py` decides on them.

The caller makes ids and secrets; of secrets, the command has the SHA-256 digest. The time is that of the turn.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.connect.extensions import NO_SCHEMA, Action
from actors.connect.schemas import Schema


class Command(msgspec.Struct, frozen=True, gc=False):
    """The base class of a server's commands."""


class IssueClaimKey(Command, frozen=True):
    """The server adds a claim key; answered with when it expires, or None once the server is claimed."""

    key: bytes


class Claim(Command, frozen=True):
    """A user claims the server with one of its keys; answered with the server.

    Args:
        name: the user's name; None if the caller does not know it.
    """

    user_id: str
    key: bytes
    name: str | None = None


class RotateSecret(Command, frozen=True):
    """The owner replaces the secret; answered with when the former one expires."""

    user_id: str
    secret: bytes


class ChangeServer(Command, frozen=True):
    """The owner changes the server; what is left out stays. Answered with the server."""

    user_id: str
    network_id: str | UnsetType | None = UNSET
    is_template: bool | UnsetType = UNSET


class RemoveServer(Command, frozen=True):
    """The owner removes the server."""

    user_id: str


class RemoveSilent(Command, frozen=True):
    """Remove the server if it is unclaimed or temporary. Sent by a job when the server has not called for a day."""


class IssueTicket(Command, frozen=True):
    """A player asks for a join ticket; answered with when it expires."""

    user_id: str
    name: str
    ticket: bytes


class RedeemTicket(Command, frozen=True):
    """The server exchanges a ticket for a session; answered with the session."""

    ticket: bytes
    session_id: str


class EndSession(Command, frozen=True):
    """The server reports that a player has left, or the player withdraws their consent.

    Args:
        user_id: the player; None for the server itself.
    """

    session_id: str
    user_id: str | None = None


class EndConsent(Command, frozen=True):
    """End the player's session and void their ticket, if there are any: a block stands between player and owner, or
    the player is erased.
    """

    user_id: str


class EndExpired(Command, frozen=True):
    """End sessions, commands and leases whose time is over; posted by the kernel."""


class CreateCommand(Command, frozen=True, kw_only=True):
    """A user creates a command for the server; answered with its row as it was created.

    Args:
        payload: JSON text of an object, with the defaults of the action's schema (`rules_commands.payload_texts`).
        masked: the payload as all but the server see it; None where that is the payload itself.
        extension_id: the extension that brings the action, as the caller has found it; None for an action of none.
        schema_text: the JSON text of the action's schema that the payload was fitted to; `NO_SCHEMA` without one.
        ttl_ms: after how many milliseconds it expires.
        heard: whether the server has a stream open, on any node, over which it is delivered the command in the same
            turn.
    """

    user_id: str
    command_id: str
    action: str
    payload: bytes
    masked: bytes | None = None
    extension_id: str | None
    schema_text: Raw = NO_SCHEMA
    ttl_ms: int
    heard: bool = False


class TakeCommands(Command, frozen=True):
    """The server fetches its commands; answered with the rows, oldest first. Hashable, so that the kernel can drop
    one that is told twice.
    """

    limit: int


class AckCommand(Command, frozen=True, kw_only=True):
    """The server reports a command's progress or end; answered with the command's row.

    Args:
        status: `running`, `success`, `failed` or `rejected`.
        result: JSON text, or None.
        progress: 0 to 100, or None.
    """

    command_id: str
    status: str
    result: bytes | None = None
    error: str | None = None
    progress: float | None = None


class CancelCommand(Command, frozen=True):
    """A user cancels a command; answered with its row."""

    user_id: str
    command_id: str


class PutSettings(Command, frozen=True, kw_only=True):
    """Store the settings of one source; answered with their row.

    Args:
        user_id: None for the server itself.
        source: an extension's id, or `connect`.
        data: secret values in plain text; the mask in place of one keeps the stored value.
        schema: the new schema; None keeps the stored one.
        schema_version: the version of the schema; None keeps the stored one, or takes that of a new schema.
        expected: the version of the settings that the caller has worked on, or several, one of which must be the
            present one; None for any.
        nonce: 12 random bytes with which secret values are sealed.
    """

    user_id: str | None
    source: str
    data: Mapping[str, Any]
    schema: Schema | None
    schema_version: str | None
    expected: int | tuple[int, ...] | None
    nonce: bytes


class RegisterExtension(Command, frozen=True, kw_only=True):
    """Register an extension of the catalog as this server has it; answered with the row.

    Args:
        user_id: None for the server itself.
    """

    user_id: str | None
    extension_id: str
    name: str
    description: str
    actions: tuple[Action, ...]


class Moved(msgspec.Struct, frozen=True, gc=False):
    """How much of an extension has moved from a server's former one; each is 0 or 1."""

    settings: int
    registrations: int


class MigrateExtension(Command, frozen=True, kw_only=True):
    """Move settings and registration of an extension to another one; answered with how many of each were moved.

    Args:
        user_id: the owner; a server of another user's stays as it is.
        former_id, extension_id: the extension that is left, and the one that takes its place.
        nonce: 12 random bytes with which secret values are sealed anew.
    """

    user_id: str
    former_id: str
    extension_id: str
    nonce: bytes


class DropExtension(Command, frozen=True, kw_only=True):
    """Remove the registration of an extension; answered with how many were removed, 0 or 1.

    Args:
        user_id: the owner; a server of another user's stays as it is.
    """

    user_id: str
    extension_id: str


class PutMember(Command, frozen=True, kw_only=True):
    """Make a user a member of the server, or change one; answered with the member's row.

    Args:
        actor_id: the user who does it.
        user_id: the member.
        role: `admin`, `operator` or `viewer`.
        capabilities: further capabilities, beside those of the role.
    """

    actor_id: str
    user_id: str
    role: str
    capabilities: tuple[str, ...]


class RemoveMember(Command, frozen=True):
    """Remove a member from the server; a member leaves when both ids are the same."""

    actor_id: str
    user_id: str


class ForgetUser(Command, frozen=True):
    """End a user's membership and invites, before the user is erased."""

    user_id: str


class TellRename(Command, frozen=True):
    """The owner or a member has another name now."""

    user_id: str
    name: str


class ChangePolicy(Command, frozen=True):
    """Change who may play, and who may be invited; what is left out stays. Answered with the server's row."""

    user_id: str
    access_mode: str | UnsetType = UNSET
    invite_requires_direct_friend: bool | UnsetType = UNSET


class CreateInvite(Command, frozen=True, kw_only=True):
    """Invite a user to belong to the server; answered with the invite's row.

    Args:
        actor_id: the user who invites.
        invite_id, notice_id: fresh object ids, of the invite and of the notification.
        role: `owner` passes the server on.
        capabilities: further capabilities, beside those of the role.
        note: a text for the invited user.
    """

    actor_id: str
    invite_id: str
    notice_id: str
    invitee_user_id: str
    role: str
    capabilities: tuple[str, ...]
    note: str


class RevokeInvite(Command, frozen=True):
    """Revoke an invite."""

    actor_id: str
    invite_id: str


class AcceptInvite(Command, frozen=True):
    """The invited user accepts an invite; answered with the invite's row."""

    user_id: str
    invite_id: str


class DeclineInvite(Command, frozen=True):
    """The invited user declines an invite."""

    user_id: str
    invite_id: str


OwnCommand: TypeAlias = (
    IssueClaimKey | Claim | RotateSecret | ChangeServer | RemoveServer | RemoveSilent | EndExpired
)
"""Commands about the server itself."""

SessionCommand: TypeAlias = IssueTicket | RedeemTicket | EndSession | EndConsent
"""Commands about its players: their tickets and sessions."""

MemberCommand: TypeAlias = (
    PutMember
    | RemoveMember
    | ForgetUser
    | TellRename
    | ChangePolicy
    | CreateInvite
    | RevokeInvite
    | AcceptInvite
    | DeclineInvite
)
"""Commands about the server's members, invites and access policy."""

AnyCommand: TypeAlias = (
    OwnCommand
    | SessionCommand
    | MemberCommand
    | CreateCommand
    | TakeCommands
    | AckCommand
    | CancelCommand
    | PutSettings
    | RegisterExtension
    | MigrateExtension
    | DropExtension
)
