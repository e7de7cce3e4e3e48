"""The audit trail: which user's rights were changed, and by whom. Written in the transaction of the
change; never changed.
"""

import msgspec

from persistence.connection import Connection
from persistence.statements import filtered


class Stamp(msgspec.Struct, frozen=True):
    """The author, time and request of a change; `AuditEntry` explains the fields."""

    entry_id: str
    at_ms: int
    actor_id: str | None
    request_id: str | None


class AuditEntry(msgspec.Struct, frozen=True):
    """One entry of the audit trail.

    Args:
        seq: its place in the trail, for paging.
        id: objectId.
        at_ms: when the change was made, epoch milliseconds.
        actor_id: the user who made the change; None for the command line.
        actor_name, target_name: the present names of the actor and of a target that is a user, or None.
        action: `permission.granted`, `permission.removed`, `role.added`, …
        target_id: the user or thing that was changed, or None.
        request_id: the id of the request that made the change, or None.
        detail: what was changed, as encoded JSON object.
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
    """Append one entry to the trail.

    Args:
        action: `permission.granted`, `permission.removed`, `role.added`, …
        target_id: the user or thing that was changed, or None.
        detail: what was changed, as encoded JSON object.
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


class Given(msgspec.Struct, frozen=True):
    """Who last gave a user a grant or a role, and when; fields as in `AuditEntry`."""

    at_ms: int
    actor_id: str | None
    actor_name: str | None


async def given_to(conn: Connection, user_id: str) -> dict[tuple[str, str], Given]:
    """{("node", node) or ("role", role): who gave it last} of a user's grants and roles, found among the newest
    thousand entries about giving them.
    """
    rows = await conn.fetch(_GIVEN, user_id)
    return {
        (row["sort"], row["name"]): Given(row["at_ms"], row["actor_id"], row["actor_name"]) for row in rows
    }


_GIVEN = """
SELECT DISTINCT ON (sort, name) sort, name, at_ms, actor_id, actor_name FROM (
    SELECT log.seq, log.at_ms, log.actor_id, actor.name AS actor_name,
           CASE log.action WHEN 'role.added' THEN 'role' ELSE 'node' END AS sort,
           coalesce(detail ->> 'node', detail ->> 'role') AS name
    FROM (
        SELECT seq, at_ms, actor_id, action, convert_from(detail, 'UTF8')::json AS detail FROM audit_log
        WHERE target_id = $1 AND action IN ('permission.granted', 'role.added') ORDER BY seq DESC LIMIT 1000
    ) AS log LEFT JOIN users AS actor ON actor.id = log.actor_id
) AS given WHERE name IS NOT NULL ORDER BY sort, name, seq DESC
"""


class WantedAudit(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries a page of the trail shows.

    Args:
        actor_id, target_id, action, request_id: only entries with this one; None for all.
        since_ms, before_ms: only entries from the first time on and before the second, epoch milliseconds.
        after: (`at_ms`, `seq`) of the last entry of the page before; None from the newest.
        limit: at most so many.
    """

    actor_id: str | None = None
    target_id: str | None = None
    action: str | None = None
    request_id: str | None = None
    since_ms: int = 0
    before_ms: int = 2**62
    after: tuple[int, int] | None = None
    limit: int


async def read_audit(conn: Connection, wanted: WantedAudit) -> list[AuditEntry]:
    """The wanted entries, newest first."""
    filters = (wanted.actor_id, wanted.target_id, wanted.action, wanted.request_id)
    rows = await conn.fetch(
        _PAGES[tuple(value is not None for value in filters)],
        wanted.since_ms,
        wanted.before_ms,
        *(wanted.after or (2**62, 0)),
        wanted.limit,
        *(value for value in filters if value is not None),
    )
    return [AuditEntry(*(row[name] for name in AuditEntry.__struct_fields__)) for row in rows]


_PAGES = filtered(
    """
SELECT log.*, actor.name AS actor_name, target.name AS target_name FROM audit_log AS log
LEFT JOIN users AS actor ON actor.id = log.actor_id
LEFT JOIN users AS target ON target.id = log.target_id
WHERE log.at_ms >= $1 AND log.at_ms < $2 AND (log.at_ms, log.seq) < ($3, $4){}
ORDER BY log.at_ms DESC, log.seq DESC LIMIT $5
""",
    ("log.actor_id = ${}", "log.target_id = ${}", "log.action = ${}", "log.request_id = ${}"),
    taken=5,
)
