"""The rows of the tables of game servers, as structs."""

import msgspec


class ServerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A game server.

    Args:
        server_id: uuid, by which it is addressed.
        id: object id, for lists.
        owner_id: the user who has claimed it, or None.
        temporary: removed once it has been silent for a day, though it is claimed.
        secret: SHA-256 of the secret that it authenticates with.
        secret_number: counts its secrets; delegated tokens name it.
        former_secret, former_until_ms: the secret before, and when it expires.
        last_seen_at_ms: when it last called, as far as that was written.
        access_mode: who may play: public, network, friends_only, invite_only or private.
        invite_requires_direct_friend: only friends of the inviting user can be invited.
        owner_name: the owner's name at the time of reading; None without an owner, and where it was not read.
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
    access_mode: str = "public"
    invite_requires_direct_friend: bool = False
    owner_name: str | None = None


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
    """A player's session on a server."""

    server_id: str
    user_id: str
    id: str
    name: str
    started_at_ms: int
    expires_at_ms: int


class CommandRow(msgspec.Struct, frozen=True, kw_only=True):
    """A command for a game server.

    Args:
        payload, result: JSON text; `result` is None until the server has given one.
        masked: the payload as all but the server see it; None where that is the payload itself, as of each that has
            ended.
        version: a number that increases with each change.
        attempts: how often it was delivered to the server.
        created_by: the id of the user who gave the command.
        finished_at_ms: when it was finished, epoch milliseconds; None while it is open.
        leased_until_ms: it is not delivered again before this time, epoch milliseconds; None without a lease.
    """

    id: str
    server_id: str
    action: str
    payload: bytes
    masked: bytes | None = None
    status: str
    version: int = 1
    attempts: int = 0
    extension_id: str | None = None
    created_by: str
    result: bytes | None = None
    error: str | None = None
    progress: float | None = None
    created_at_ms: int
    updated_at_ms: int
    delivered_at_ms: int | None = None
    started_at_ms: int | None = None
    finished_at_ms: int | None = None
    expires_at_ms: int
    leased_until_ms: int | None = None


class SettingsRow(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one source on a server.

    Args:
        data: JSON text of an object, without secret values.
        schema: the settings' schema as JSON text, or None.
        sealed: the secret values, or None where there are none.
        secret_keys: the keys that have a secret value.
        updated_by: the id of the user, or of the server itself, that stored them last.
    """

    server_id: str
    source: str
    version: int
    schema_version: str
    data: bytes
    schema: bytes | None
    sealed: bytes | None
    secret_keys: tuple[str, ...]
    updated_at_ms: int
    updated_by: str


class SettingsVersionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the settings of a source; its columns are those of `SettingsRow`, but for the schema.

    Args:
        secret_now: the keys that have secret values in the source's present settings.
    """

    server_id: str
    source: str
    version: int
    schema_version: str
    data: bytes
    secret_keys: tuple[str, ...]
    secret_now: tuple[str, ...] = ()
    changed_keys: tuple[str, ...]
    updated_at_ms: int
    updated_by: str


class ExtensionRow(msgspec.Struct, frozen=True, kw_only=True):
    """An extension of the catalog."""

    extension_id: str
    id: str
    name: str
    description: str
    owner_id: str | None
    visibility: str
    created_at_ms: int
    updated_at_ms: int


class RegistrationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A server's registration of an extension.

    Args:
        version: a number that rises with each change of the registration.
        actions: the actions that can be asked of it, as JSON text of an array.
        last_seen_at_ms: when it was registered last, also where that changed nothing.
    """

    server_id: str
    extension_id: str
    name: str
    description: str
    version: int
    actions: bytes
    registered_at_ms: int
    last_seen_at_ms: int


class MemberRow(msgspec.Struct, frozen=True, kw_only=True):
    """A user who belongs to a server beside its owner.

    Args:
        name: the user's name at the time of reading.
        role: admin, operator or viewer.
        capabilities: what the member may do beside what the role permits, sorted.
        added_by: the user who has added the member, or whose invite they accepted.
    """

    server_id: str
    user_id: str
    name: str
    role: str
    capabilities: tuple[str, ...]
    added_by: str
    created_at_ms: int
    updated_at_ms: int


class StandingRow(msgspec.Struct, frozen=True):
    """A user's role on a server, and the server's owner.

    Args:
        owner_id: the user who has claimed the server, or None.
        role: admin, operator or viewer; None for a user who is no member.
        capabilities: what the user may do beside what the role permits.
    """

    owner_id: str | None
    role: str | None
    capabilities: tuple[str, ...]


class InviteRow(msgspec.Struct, frozen=True, kw_only=True):
    """An invitation to belong to a server.

    Args:
        role: admin, operator or viewer; or `owner`, which passes the server on.
        status: pending, accepted or revoked; a pending invite counts as expired after `expires_at_ms`.
    """

    id: str
    server_id: str
    inviter_id: str
    invitee_user_id: str
    role: str
    capabilities: tuple[str, ...]
    note: str
    status: str
    created_at_ms: int
    expires_at_ms: int


class OfferRow(InviteRow, frozen=True, kw_only=True):
    """An invite as the invited user sees it.

    Args:
        server_name: the server's present name.
        inviter_name: the sender's present name; None once they are erased.
    """

    server_name: str
    inviter_name: str | None
