"""A game server's state: immutable, and loaded from rows alone, so that a snapshot adds nothing to them.

It holds open commands only; finished ones, and the history of settings, are in rows.
"""

from collections.abc import Mapping

import msgspec

from actors.connect.extensions import Registered
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

CLAIM_KEYS_KEPT = 128
"""The most claim keys of a server at a time; a newer one replaces the oldest. More than a server may ask for in the
five minutes that each is valid: it learns that it is claimed by asking, and its owner types the key shown first.
"""

TICKET_KEPT_MS = 10 * 60_000
"""How long an expired ticket is kept, so that using it answers 410 rather than 404."""


class Template(msgspec.Struct, frozen=True):
    """The server from which another one's settings are copied when it is claimed.

    Args:
        owner_id: the template's owner; None where there is no such server, or it is no template.
        access_mode, invite_requires_direct_friend: the template's access policy.
    """

    owner_id: str | None
    settings: tuple[SettingsRow, ...] = ()
    registrations: tuple[RegistrationRow, ...] = ()
    access_mode: str = "public"
    invite_requires_direct_friend: bool = False


class Relation(msgspec.Struct, frozen=True):
    """How a user who is to belong to a server, or to play on it, is related to the other user concerned.

    Args:
        user_id: the user who is to belong or play.
        name: their name; None where there is no such user.
        friends: whether the two are friends.
        barred: whether a block stands between the two.
    """

    user_id: str
    name: str | None
    friends: bool
    barred: bool


class State(msgspec.Struct, frozen=True):
    """A game server.

    Args:
        row: the server's own row.
        claim_keys: {SHA-256 digest of a key: when it expires, epoch milliseconds}, oldest first; empty once the server
            is claimed.
        tickets: {user id: their newest join ticket}.
        sessions: {user id: their session}, the first to expire first.
        commands: {id: open command}, oldest first.
        settings: {source: its settings}.
        registrations: {extension id: the server's registration of it}.
        actions: {extension id: {action id: JSON text of its schema}}: those of `registrations`, to be found without
            decoding them.
        members: {user id: member}, oldest first; without the owner.
        invites: {id: invite}, oldest first, including finished ones as long as they are kept.
        found, relation, template: rows read for the command being decided (see `lookups.missing`): a finished command,
            how the user who is to belong or play is related to another, the template of a server to be claimed.
        removed: whether the server was removed: then all commands are refused.
    """

    row: ServerRow
    claim_keys: Mapping[bytes, int]
    tickets: Mapping[str, TicketRow]
    sessions: Mapping[str, SessionRow]
    commands: Mapping[str, CommandRow] = msgspec.field(default_factory=dict)
    settings: Mapping[str, SettingsRow] = msgspec.field(default_factory=dict)
    registrations: Mapping[str, RegistrationRow] = msgspec.field(default_factory=dict)
    actions: Registered = msgspec.field(default_factory=dict)
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
