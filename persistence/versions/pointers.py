"""Which release each channel of a scope points to, now and before. Rows only."""

import msgspec

from persistence.connection import Connection, Row
from persistence.versions.releases import Scope, ScopeType


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """The active release of one channel of a scope.

    Args:
        channel: the channel's name, such as `stable`.
        release_id: the active release.
        previous_release_id: the release that was active before; None for the first one, or once it was deleted.
        revision: 1 at first; rises by one with each activation.
        went_back: whether the active release is older than the one before it.
        activated_by: the id of the user who activated the release; None once they were erased.
    """

    scope: Scope
    channel: str
    release_id: str
    previous_release_id: str | None
    revision: int
    went_back: bool
    activated_by: str | None
    activated_at_ms: int


class Activation(msgspec.Struct, frozen=True):
    """One revision of a pointer."""

    revision: int
    release_id: str
    activated_by: str | None
    activated_at_ms: int


async def all_scopes(conn: Connection) -> list[Scope]:
    """All scopes of which a channel points to something."""
    rows = await conn.fetch("SELECT DISTINCT scope_type, scope_id FROM channel_pointers")
    return [Scope(row["scope_type"], row["scope_id"]) for row in rows]


async def of_scope(conn: Connection, scope: Scope) -> list[Pointer]:
    """The pointers of a scope, by channel."""
    return await list_pointers(conn, scope.type, scope.id, None)


async def list_pointers(
    conn: Connection, scope_type: ScopeType | None, scope_id: str | None, channel: str | None
) -> list[Pointer]:
    """Pointers by scope and channel; None = any."""
    rows = await conn.fetch(
        "SELECT * FROM channel_pointers WHERE ($1::text IS NULL OR scope_type = $1)"
        " AND ($2::text IS NULL OR scope_id = $2) AND ($3::text IS NULL OR channel = $3)"
        ' ORDER BY scope_type, scope_id COLLATE "C", channel COLLATE "C"',
        scope_type,
        scope_id,
        channel,
    )
    return [_pointer(row) for row in rows]


async def lock_pointer(conn: Connection, scope: Scope, channel: str) -> Pointer | None:
    """The pointer of a channel, by its name, its row locked until the transaction ends; None when there is none yet."""
    row = await conn.fetchrow(
        "SELECT * FROM channel_pointers WHERE scope_type = $1 AND scope_id = $2 AND channel = $3 FOR UPDATE",
        scope.type,
        scope.id,
        channel,
    )
    return None if row is None else _pointer(row)


async def count_pointers(conn: Connection) -> int:
    """How many channels point to something; transactions that ask this wait for each other."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('channels of all scopes', 32))")
    found: int = await conn.fetchval("SELECT count(*) FROM channel_pointers")
    return found


async def is_active(conn: Connection, release_id: str) -> bool:
    """Whether a channel points to this release."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM channel_pointers WHERE release_id = $1)", release_id
    )
    return found


async def save_pointer(conn: Connection, pointer: Pointer) -> None:
    """Store a pointer in place of the former one of its channel, and its revision among the activations."""
    place = (pointer.scope.type, pointer.scope.id, pointer.channel, pointer.release_id)
    await conn.execute(
        _SAVE,
        *place,
        pointer.previous_release_id,
        pointer.revision,
        pointer.went_back,
        pointer.activated_by,
        pointer.activated_at_ms,
    )
    await conn.execute(
        "INSERT INTO channel_activations (scope_type, scope_id, channel, release_id, revision, activated_by,"
        " activated_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        *place,
        pointer.revision,
        pointer.activated_by,
        pointer.activated_at_ms,
    )


async def forget_activations(conn: Connection, scope: Scope, channel: str, *, upto_revision: int) -> None:
    """Delete the revisions of a channel up to `upto_revision`, which is included."""
    await conn.execute(
        "DELETE FROM channel_activations"
        " WHERE scope_type = $1 AND scope_id = $2 AND channel = $3 AND revision <= $4",
        scope.type,
        scope.id,
        channel,
        upto_revision,
    )


async def activations_of(conn: Connection, scope: Scope, channel: str, limit: int) -> list[Activation]:
    """The newest revisions of a channel, by its name, the newest first, at most `limit`."""
    rows = await conn.fetch(
        "SELECT * FROM channel_activations WHERE scope_type = $1 AND scope_id = $2 AND channel = $3"
        " ORDER BY revision DESC LIMIT $4",
        scope.type,
        scope.id,
        channel,
        limit,
    )
    return [Activation(*(row[name] for name in Activation.__struct_fields__)) for row in rows]


_SAVE = """
INSERT INTO channel_pointers (scope_type, scope_id, channel, release_id, previous_release_id, revision, went_back,
                              activated_by, activated_at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (scope_type, scope_id, channel) DO UPDATE
SET release_id = $4, previous_release_id = $5, revision = $6, went_back = $7, activated_by = $8, activated_at_ms = $9
"""


def _pointer(row: Row) -> Pointer:
    fields = {name: row[name] for name in Pointer.__struct_fields__ if name != "scope"}
    return Pointer(scope=Scope(row["scope_type"], row["scope_id"]), **fields)
