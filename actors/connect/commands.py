"""What can be asked of a game server, as structs; `rules.py` decides on them.

Ids and secrets are made by the caller, secrets arrive as their SHA-256, time is the turn's.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from actors.connect.extensions import Action
from actors.connect.schemas import Schema


class Command(msgspec.Struct, frozen=True, gc=False):
    """The root of what a server takes."""


class IssueClaimKey(Command, frozen=True):
    """The server asks for a fresh claim key; answered with when it ends, or None once it is claimed."""

    key: bytes


class Claim(Command, frozen=True):
    """A user claims the server with one of its keys; answered with the server.

    Args:
        name: the user's.
    """

    user_id: str
    key: bytes
    name: str | None = None


class RotateSecret(Command, frozen=True):
    """The owner replaces the secret; answered with when the one before ends."""

    user_id: str
    secret: bytes


class ChangeServer(Command, frozen=True):
    """The owner changes the server; what is left out stays. Answered with the server."""

    user_id: str
    network_id: str | UnsetType | None = UNSET
    is_template: bool | UnsetType = UNSET


class RemoveServer(Command, frozen=True):
    """The owner gives the server up."""

    user_id: str


class RemoveSilent(Command, frozen=True):
    """Nobody has heard of the server for a day: it goes, if it is unclaimed or temporary."""


class IssueTicket(Command, frozen=True):
    """A player asks for a join ticket; answered with when it ends."""

    user_id: str
    name: str
    ticket: bytes


class RedeemTicket(Command, frozen=True):
    """The server turns a ticket into a session; answered with the session."""

    ticket: bytes
    session_id: str


class EndSession(Command, frozen=True):
    """The server says that a player has left, or the player takes their consent back.

    Args:
        user_id: the player; None for the server itself.
    """

    session_id: str
    user_id: str | None = None


class EndConsent(Command, frozen=True):
    """A block stands between a player and the owner: the player's session and ticket end, if there are any."""

    user_id: str


class EndExpired(Command, frozen=True):
    """The kernel's: sessions, commands or leases have come to their end."""


class CreateCommand(Command, frozen=True, kw_only=True):
    """A user gives the server something to do; answered with the command's row as it was made.

    Args:
        extension_id: the extension that the action is of, as the caller has found it; None for an action that is
            nobody's.
        ttl_ms: after so long it expires.
        heard: the server listens on a stream of its own, and is given the command there.
    """

    user_id: str
    command_id: str
    action: str
    payload: Mapping[str, Any]
    extension_id: str | None
    ttl_ms: int
    heard: bool = False


class TakeCommands(Command, frozen=True):
    """The server takes what it is to do; answered with the rows, oldest first. Hashable, so that it can be told."""

    limit: int


class AckCommand(Command, frozen=True, kw_only=True):
    """The server says how far it is; answered with the command's row.

    Args:
        status: `running`, `success`, `failed` or `rejected`.
        result: JSON text, or None.
    """

    command_id: str
    status: str
    result: bytes | None = None
    error: str | None = None
    progress: float | None = None


class CancelCommand(Command, frozen=True):
    """A user takes a command back; answered with its row."""

    user_id: str
    command_id: str


class PutSettings(Command, frozen=True, kw_only=True):
    """Settings of one source; answered with their row.

    Args:
        user_id: None for the server itself.
        data: secret values in the clear; the mask in place of one keeps the one that is there.
        schema: None keeps the one that is there.
        expected: the version that the caller has worked on; None = any.
        nonce: 12 random bytes.
    """

    user_id: str | None
    source: str
    data: Mapping[str, Any]
    schema: Schema | None
    schema_version: str | None
    expected: int | None
    nonce: bytes


class RegisterExtension(Command, frozen=True, kw_only=True):
    """An extension of the catalog, as the server has it; answered with the row.

    Args:
        user_id: None for the server itself.
    """

    user_id: str | None
    extension_id: str
    name: str
    description: str
    actions: tuple[Action, ...]


class PutMember(Command, frozen=True, kw_only=True):
    """Somebody is to belong to the server, or to belong otherwise; answered with the member's row.

    Args:
        actor_id: who wants it.
        user_id: who is to belong.
        capabilities: beside those of the role.
    """

    actor_id: str
    user_id: str
    role: str
    capabilities: tuple[str, ...]


class RemoveMember(Command, frozen=True):
    """Somebody is to belong no longer; by their own wish when both are the same."""

    actor_id: str
    user_id: str


class ForgetUser(Command, frozen=True):
    """A user is about to be erased: neither a member nor invited any more."""

    user_id: str


class ChangePolicy(Command, frozen=True):
    """Who may play, and who may be invited; what is left out stays. Answered with the server's row."""

    user_id: str
    access_mode: str | UnsetType = UNSET
    invite_requires_direct_friend: bool | UnsetType = UNSET


class CreateInvite(Command, frozen=True, kw_only=True):
    """Somebody is invited to belong to the server; answered with the invite's row.

    Args:
        actor_id: who invites.
        invite_id, notice_id: fresh object ids, of the invite and of the notification.
        role: `owner` passes the server on.
    """

    actor_id: str
    invite_id: str
    notice_id: str
    invitee_user_id: str
    role: str
    capabilities: tuple[str, ...]
    note: str


class RevokeInvite(Command, frozen=True):
    """An invite is taken back."""

    actor_id: str
    invite_id: str


class AcceptInvite(Command, frozen=True):
    """Who is invited wants to belong to the server; answered with the invite's row."""

    user_id: str
    invite_id: str


OwnCommand: TypeAlias = (
    IssueClaimKey
    | Claim
    | RotateSecret
    | ChangeServer
    | RemoveServer
    | RemoveSilent
    | IssueTicket
    | RedeemTicket
    | EndSession
    | EndConsent
    | EndExpired
)
"""Of the server itself, and of who plays on it."""

MemberCommand: TypeAlias = (
    PutMember | RemoveMember | ForgetUser | ChangePolicy | CreateInvite | RevokeInvite | AcceptInvite
)
"""Of who belongs to the server, and who may come."""

AnyCommand: TypeAlias = (
    OwnCommand
    | MemberCommand
    | CreateCommand
    | TakeCommands
    | AckCommand
    | CancelCommand
    | PutSettings
    | RegisterExtension
)
