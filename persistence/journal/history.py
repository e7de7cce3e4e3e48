"""How long the history of actors is kept: events by age and number, and nothing of an actor that is no more."""

from collections.abc import Collection
from typing import NamedTuple

from persistence.connection import Connection

KEPT_MS = 7 * 24 * 3600 * 1000
"""Events younger than this are kept, up to `KEPT_EVENTS_MAX` of an actor (contract §4)."""

KEPT_EVENTS_MIN = 1_000
"""So many of an actor's newest events are kept however old they are."""

KEPT_EVENTS_MAX = 10_000
"""Never more of one actor than this, however young they are."""


# What is old is a beginning of the history, so that no gap comes of clocks that went back; `first` says whether there
# is any.
_PRUNE = """
DELETE FROM events WHERE ctid = ANY (ARRAY(
    SELECT e.place
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS head (kind, id, seq) CROSS JOIN LATERAL (
        SELECT seq, at_ms FROM events WHERE kind = head.kind AND id = head.id ORDER BY seq LIMIT 1
    ) AS first CROSS JOIN LATERAL (
        SELECT early.place,
            bool_and(early.at_ms <= $4 OR early.seq <= head.seq - $6) OVER (ORDER BY early.seq) AS is_old
        FROM (
            SELECT ctid AS place, seq, at_ms FROM events
            WHERE kind = head.kind AND id = head.id AND seq <= head.seq - $5 ORDER BY seq LIMIT $7
        ) AS early
    ) AS e
    WHERE first.seq <= head.seq - $5 AND (first.at_ms <= $4 OR first.seq <= head.seq - $6) AND e.is_old
    LIMIT $7
))
"""


async def prune(
    conn: Connection, after: tuple[str, str] | None, limit: int, *, now_ms: int
) -> tuple[str, str] | None:
    """Forget old events of the next actors: kept are the larger of 7 days and 1,000 events of one, 10,000 at most.

    Of an actor without old events one is looked at, its oldest.

    Args:
        after: (kind, id) of the last actor of the page before; None from the start.
        limit: actors that are looked at, and events that go, at most.
        now_ms: epoch milliseconds.

    Returns: where to go on; None when those were the last.
    """
    page = await conn.fetch(
        "SELECT kind, id, seq FROM heads WHERE (kind, id) > ($1, $2) ORDER BY kind, id LIMIT $3",
        *(after or ("", "")),
        limit,
    )
    long = [row for row in page if row["seq"] > KEPT_EVENTS_MIN]
    columns = ([row[name] for row in long] for name in ("kind", "id", "seq"))
    tag = await conn.execute(_PRUNE, *columns, now_ms - KEPT_MS, KEPT_EVENTS_MIN, KEPT_EVENTS_MAX, limit)
    if int(tag.rpartition(" ")[2]) >= limit:
        return after or ("", "")
    return (page[-1]["kind"], page[-1]["id"]) if len(page) >= limit else None


async def forget(conn: Connection, kind: str, id: str) -> None:
    """Delete all that is kept of an actor that is no more; a state that is just being saved is not kept either."""
    await conn.execute("DELETE FROM heads WHERE kind = $1 AND id = $2", kind, id)
    await conn.execute("DELETE FROM events WHERE kind = $1 AND id = $2", kind, id)
    await conn.execute("DELETE FROM snapshots WHERE kind = $1 AND id = $2", kind, id)


async def forget_ended(conn: Connection, kind: str, ids: Collection[str], limit: int) -> bool:
    """Delete heads, events and snapshots of actors that are no more.

    Args:
        limit: events that go at most.

    Returns: False when events are left; then the heads are, too, and those actors are to be named again.
    """
    tag = await conn.execute(
        """
        DELETE FROM events WHERE ctid = ANY (ARRAY(
            SELECT e.place FROM unnest($2::text[]) AS gone (id) CROSS JOIN LATERAL (
                SELECT ctid AS place FROM events WHERE kind = $1 AND id = gone.id ORDER BY seq LIMIT $3
            ) AS e LIMIT $3
        ))
        """,
        kind, list(ids), limit,
    )  # fmt: skip
    if int(tag.rpartition(" ")[2]) >= limit:
        return False
    await conn.execute("DELETE FROM snapshots WHERE kind = $1 AND id = ANY ($2::text[])", kind, list(ids))
    await conn.execute("DELETE FROM heads WHERE kind = $1 AND id = ANY ($2::text[])", kind, list(ids))
    return True


class Sizes(NamedTuple):
    """Bytes on disk of what grows with use, with indexes."""

    events: int
    snapshots: int
    receipts: int


async def sizes(conn: Connection) -> Sizes:
    """What the tables take now."""
    names = [
        await conn.fetchval("SELECT pg_total_relation_size($1::regclass)", name) for name in Sizes._fields
    ]
    return Sizes(*names)
