"""What can be asked of a game server, as structs; `rules.py` decides on them.

Ids and secrets are made by the caller, secrets arrive as their SHA-256, time is the turn's.
"""

from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType


class Command(msgspec.Struct, frozen=True, gc=False):
    """The root of what a server takes."""


class IssueClaimKey(Command, frozen=True):
    """The server asks for a fresh claim key; answered with when it ends, or None once it is claimed."""

    key: bytes


class Claim(Command, frozen=True):
    """A user claims the server with one of its keys; answered with the server."""

    user_id: str
    key: bytes


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
    """The server says that a player has left."""

    session_id: str


class EndExpired(Command, frozen=True):
    """The kernel's: sessions have come to their end."""


AnyCommand: TypeAlias = (
    IssueClaimKey
    | Claim
    | RotateSecret
    | ChangeServer
    | RemoveServer
    | RemoveSilent
    | IssueTicket
    | RedeemTicket
    | EndSession
    | EndExpired
)
