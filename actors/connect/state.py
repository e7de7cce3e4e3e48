"""A game server's state: immutable, and of rows alone, so that a snapshot has nothing to add.

Commands are here as long as they are open; those that are finished, and the history of settings, have rows only.
"""

from collections.abc import Mapping

import msgspec

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

CLAIM_KEYS_KEPT = 16
"""A server has at most so many claim keys at a time; a newer one ends the oldest."""

TICKET_KEPT_MS = 10 * 60_000
"""So long after its end a ticket is told from one that never was (410, not 404)."""


class Template(msgspec.Struct, frozen=True):
    """The server after whose example another is set up.

    Args:
        owner_id: None where there is no such server, or it is no template.
        access_mode, invite_requires_direct_friend: its access policy.
    """

    owner_id: str | None
    settings: tuple[SettingsRow, ...] = ()
    registrations: tuple[RegistrationRow, ...] = ()
    access_mode: str = "public"
    invite_requires_direct_friend: bool = False


class Relation(msgspec.Struct, frozen=True):
    """What the rows say of somebody who is to belong to a server, and of who wants it.

    Args:
        user_id: who is to belong.
        name: None where there is no such user.
        friends: the two are friends.
        barred: a block stands between them.
    """

    user_id: str
    name: str | None
    friends: bool
    barred: bool


class State(msgspec.Struct, frozen=True):
    """A game server.

    Args:
        row: what its own row holds.
        claim_keys: {SHA-256: when it ends}, oldest first; those of before are forgotten.
        tickets: {user id: their newest join ticket}.
        sessions: {user id: their session}, the first to end first.
        commands: {id: open command}, oldest first.
        settings: {source: its settings}.
        registrations: {extension id: what the server has registered of it}.
        members: {user id: member}, oldest first; the owner is none of them.
        invites: {id: invite}, oldest first, finished ones too, as long as they are kept.
        found, relation, template: what was read for the command under consideration: a finished command, who is to
            belong to the server, what it is set up after once it is claimed.
        removed: it is gone; whatever is asked of it is refused.
    """

    row: ServerRow
    claim_keys: Mapping[bytes, int]
    tickets: Mapping[str, TicketRow]
    sessions: Mapping[str, SessionRow]
    commands: Mapping[str, CommandRow] = msgspec.field(default_factory=dict)
    settings: Mapping[str, SettingsRow] = msgspec.field(default_factory=dict)
    registrations: Mapping[str, RegistrationRow] = msgspec.field(default_factory=dict)
    members: Mapping[str, MemberRow] = msgspec.field(default_factory=dict)
    invites: Mapping[str, InviteRow] = msgspec.field(default_factory=dict)
    found: CommandRow | None = None
    relation: Relation | None = None
    template: Template | None = None
    removed: bool = False

    @property
    def id(self) -> str:
        """The server's id."""
        return self.row.server_id
