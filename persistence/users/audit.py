"""The audit trail: which user's rights were changed, and by whom. Written in the transaction of the
change; never changed.
"""

import msgspec

from persistence.connection import Connection


class Stamp(msgspec.Struct, frozen=True):
    """The author, time and request of a change; `AuditEntry` says what the fields hold."""

    entry_id: str
    at_ms: int
    actor_id: str | None
    request_id: str | None


class AuditEntry(msgspec.Struct, frozen=True):
    """One line of the trail.

    Args:
        seq: place in the trail, for paging.
        id: objectId.
        at_ms: epoch milliseconds.
        actor_id: who did it; None = the command line.
        actor_name, target_name: their names now, where they are users.
        action: `permission.granted`, `permission.removed`, `role.added`, …
        target_id: whom it was done to.
        request_id: of the request that did it.
        detail: encoded JSON object.
    """

    seq: int
    id: str
    at_ms: int
    actor_id: str | None
    actor_name: str | None
    action: str
    target_id: str | None
    target_name: str | None
    request_id: str | None
    detail: bytes


async def write_audit(
    conn: Connection, stamp: Stamp, action: str, *, target_id: str | None, detail: bytes
) -> None:
    """Append one entry.

    Args:
        action: `permission.granted`, `permission.removed`, `role.added`, …
        target_id: the user or thing that it was done to, or None.
        detail: encoded JSON object.
    """
    await conn.execute(
        "INSERT INTO audit_log (id, at_ms, actor_id, action, target_id, request_id, detail)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7)",
        stamp.entry_id,
        stamp.at_ms,
        stamp.actor_id,
        action,
        target_id,
        stamp.request_id,
        detail,
    )


async def read_audit(conn: Connection, before_seq: int | None, limit: int) -> list[AuditEntry]:
    """Entries below `before_seq` (None = from the newest), newest first, at most `limit`."""
    rows = await conn.fetch(
        "SELECT log.*, actor.name AS actor_name, target.name AS target_name FROM audit_log AS log"
        " LEFT JOIN users AS actor ON actor.id = log.actor_id"
        " LEFT JOIN users AS target ON target.id = log.target_id"
        " WHERE $1::bigint IS NULL OR log.seq < $1 ORDER BY log.seq DESC LIMIT $2",
        before_seq,
        limit,
    )
    return [AuditEntry(*(row[name] for name in AuditEntry.__struct_fields__)) for row in rows]
