"""What the tables of game servers hold, one struct a row."""

import msgspec


class ServerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A game server.

    Args:
        server_id: uuid, what it is called by.
        id: object id, for lists.
        owner_id: who has claimed it, or None.
        temporary: removed once it has been silent for a day, though it is claimed.
        secret: SHA-256 of what it proves itself with.
        secret_number: counts its secrets; delegated tokens name it.
        former_secret, former_until_ms: the secret before, and when it ends.
        last_seen_at_ms: when it last called, as far as that was written.
    """

    server_id: str
    id: str
    server_type: str
    name: str
    owner_id: str | None = None
    network_id: str | None = None
    template_id: str | None = None
    is_template: bool = False
    temporary: bool = False
    secret: bytes
    secret_number: int = 1
    former_secret: bytes | None = None
    former_until_ms: int | None = None
    created_at_ms: int
    updated_at_ms: int
    last_seen_at_ms: int


class ClaimKeyRow(msgspec.Struct, frozen=True):
    """A claim key, as its SHA-256."""

    key: bytes
    server_id: str
    expires_at_ms: int


class TicketRow(msgspec.Struct, frozen=True):
    """A player's newest join ticket for a server, as its SHA-256."""

    server_id: str
    user_id: str
    ticket: bytes
    name: str
    expires_at_ms: int
    used: bool


class SessionRow(msgspec.Struct, frozen=True):
    """A player on a server."""

    server_id: str
    user_id: str
    id: str
    name: str
    started_at_ms: int
    expires_at_ms: int
