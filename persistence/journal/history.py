"""Deletes old events of actors, by age and number, and everything of actors that no longer exist."""

from collections.abc import Collection
from typing import NamedTuple

from persistence.connection import Connection

KEPT_MS = 7 * 24 * 3600 * 1000
"""Events younger than this are kept, up to `KEPT_EVENTS_MAX` of an actor (contract §4)."""

KEPT_EVENTS_MIN = 1_000
"""How many of an actor's newest events are kept however old they are."""

KEPT_EVENTS_MAX = 10_000
"""Most events of one actor that are kept, however young they are."""


# An event is deleted only together with all before it, so that a clock that went back leaves no gap. `first`, the
# oldest event of an actor, says cheaply whether there is anything to delete.
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
    """Delete old events of the next actors; each keeps 7 days or 1,000 events, whichever is more, 10,000 at most.

    Of an actor without old events only the oldest is read.

    Args:
        after: (kind, id) of the last actor of the previous page; None to begin with the first.
        limit: most actors on this page, and most events deleted.
        now_ms: epoch milliseconds.

    Returns: `after` for the next call; None when this page was the last.
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
    """Delete head, events and snapshots of an actor that has ended; no snapshot can be saved afterwards."""
    await conn.execute("DELETE FROM heads WHERE kind = $1 AND id = $2", kind, id)
    await conn.execute("DELETE FROM events WHERE kind = $1 AND id = $2", kind, id)
    await conn.execute("DELETE FROM snapshots WHERE kind = $1 AND id = $2", kind, id)


async def forget_ended(conn: Connection, kind: str, ids: Collection[str], limit: int) -> bool:
    """Delete heads, events and snapshots of actors that have ended, as far as a limit allows.

    Args:
        limit: most events deleted in this call.

    Returns: False when events may be left: then the heads are left too, and this has to be called with the same ids
        again.
    """
    gone = list(ids)
    # The heads are locked first and by id, as rewrites of events do it, which then wait and meet in no deadlock.
    await conn.execute(
        "SELECT FROM heads WHERE kind = $1 AND id = ANY ($2::text[]) ORDER BY id FOR UPDATE", kind, gone
    )
    tag = await conn.execute(
        """
        DELETE FROM events WHERE ctid = ANY (ARRAY(
            SELECT e.place FROM unnest($2::text[]) AS gone (id) CROSS JOIN LATERAL (
                SELECT ctid AS place FROM events WHERE kind = $1 AND id = gone.id ORDER BY seq LIMIT $3
            ) AS e LIMIT $3
        ))
        """,
        kind, gone, limit,
    )  # fmt: skip
    if int(tag.rpartition(" ")[2]) >= limit:
        return False
    await conn.execute("DELETE FROM snapshots WHERE kind = $1 AND id = ANY ($2::text[])", kind, gone)
    await conn.execute("DELETE FROM heads WHERE kind = $1 AND id = ANY ($2::text[])", kind, gone)
    return True


ENDED_KEPT_MS = 3600 * 1000
"""How long the head and journal of an actor that has ended are kept: its last readers are gone by then."""


class Ended(NamedTuple):
    """How to find actors that have ended.

    Args:
        kind: the kind of the actors.
        page: SQL that selects (id, whether it has ended) of the next heads, ordered by id; $1 is the kind, $2
            `before_ms`, $3 the id to continue after, $4 how many.
        before_ms: only heads that have not changed since, epoch milliseconds.
    """

    kind: str
    page: str
    before_ms: int


async def sweep_ended(conn: Connection, ended: Ended, after: str | None, limit: int) -> str | None:
    """Delete heads, events and snapshots of those among the next actors that have ended.

    Args:
        ended: how to find those that have ended.
        after: the last actor of the page before; None from the start.
        limit: actors that are looked at, and events that are deleted, at most.

    Returns:
        Where the next page starts; None after the last.
    """
    page = await conn.fetch(ended.page, ended.kind, ended.before_ms, after or "", limit)
    if not await forget_ended(conn, ended.kind, [row["id"] for row in page if row["ended"]], limit):
        return after or ""
    return page[-1]["id"] if len(page) >= limit else None


class Sizes(NamedTuple):
    """Bytes on disk, with indexes, of the tables that grow with use."""

    events: int
    snapshots: int
    receipts: int


async def sizes(conn: Connection) -> Sizes:
    """Ask PostgreSQL for the present sizes."""
    names = [
        await conn.fetchval("SELECT pg_total_relation_size($1::regclass)", name) for name in Sizes._fields
    ]
    return Sizes(*names)
