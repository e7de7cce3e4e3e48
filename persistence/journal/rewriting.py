"""Finds, reads, replaces and deletes past events of one actor, for what must not be told any more.

`naming.py` finds the actors whose events hold something.
"""

from collections.abc import Mapping, Sequence

from persistence.connection import Connection
from persistence.journal.journal import JournalRow


async def events_holding(
    conn: Connection, kind: str, id: str, text: bytes, *, after: int, limit: int
) -> list[JournalRow]:
    """Read the events after the offset `after` whose encoding contains `text`, oldest first, at most `limit`."""
    rows = await conn.fetch(
        """
        SELECT seq, at_ms, event FROM events
        WHERE kind = $1 AND id = $2 AND seq > $3 AND position($4::bytea IN event) > 0 ORDER BY seq LIMIT $5
        """,
        kind, id, after, text, limit,
    )  # fmt: skip
    return [JournalRow(*row) for row in rows]


async def offsets_holding(
    conn: Connection, kind: str, id: str, text: bytes, *, since: int, limit: int
) -> tuple[int, ...]:
    """Read the offsets, from `since` on, of the newest `limit` events whose encoding contains `text`, in order."""
    rows = await conn.fetch(
        """
        SELECT seq FROM events WHERE kind = $1 AND id = $2 AND seq >= $3 AND position($4::bytea IN event) > 0
        ORDER BY seq DESC LIMIT $5
        """,
        kind, id, since, text, limit,
    )  # fmt: skip
    return tuple(row["seq"] for row in reversed(rows))


async def sizes_at(conn: Connection, kind: str, id: str, offsets: Sequence[int]) -> dict[int, int]:
    """Read the sizes of the events at these offsets, as far as they are kept: {offset: bytes of the encoded event}."""
    rows = await conn.fetch(
        """
        SELECT seq, octet_length(event) AS bytes FROM events
        WHERE kind = $1 AND id = $2 AND seq = ANY($3::bigint[])
        """,
        kind, id, offsets,
    )  # fmt: skip
    return {row["seq"]: row["bytes"] for row in rows}


async def read_at(conn: Connection, kind: str, id: str, offsets: Sequence[int]) -> list[JournalRow]:
    """Read the events at these offsets, as far as they are kept, in any order."""
    rows = await conn.fetch(
        "SELECT seq, at_ms, event FROM events WHERE kind = $1 AND id = $2 AND seq = ANY($3::bigint[])",
        kind, id, offsets,
    )  # fmt: skip
    return [JournalRow(*row) for row in rows]


async def rewrite_events(conn: Connection, kind: str, id: str, events: Mapping[int, bytes]) -> None:
    """Replace stored events by other encodings of them: {seq: event}.

    Snapshots are deleted, since they hold what the old events said, and one of an earlier state can no longer be saved.
    Without a snapshot, the state is built from rows.
    """
    await conn.execute(
        """
        WITH fresh AS MATERIALIZED (
            SELECT * FROM unnest($3::bigint[], $4::bytea[]) AS fresh (seq, event)
        ), grown AS (
            SELECT coalesce(sum(octet_length(fresh.event) - octet_length(events.event)), 0)::bigint AS bytes
            FROM events JOIN fresh USING (seq) WHERE kind = $1 AND id = $2
        ), written AS (
            UPDATE events SET event = fresh.event FROM fresh
            WHERE kind = $1 AND id = $2 AND events.seq = fresh.seq
        )
        UPDATE heads SET snapshots_from = seq, journal_bytes = journal_bytes + grown.bytes
        FROM grown WHERE kind = $1 AND id = $2
        """,
        kind, id, list(events), list(events.values()),
    )  # fmt: skip
    await conn.execute("DELETE FROM snapshots WHERE kind = $1 AND id = $2", kind, id)


async def forget_until(conn: Connection, kind: str, id: str, seq: int) -> None:
    """Delete an actor's events up to and including the offset `seq`; whoever asks for them hears that they are gone."""
    await conn.execute(
        """
        WITH gone AS (
            DELETE FROM events WHERE kind = $1 AND id = $2 AND seq <= $3 RETURNING octet_length(event) AS bytes
        )
        UPDATE heads SET journal_bytes = journal_bytes - (SELECT coalesce(sum(bytes), 0) FROM gone)::bigint
        WHERE kind = $1 AND id = $2
        """,
        kind, id, seq,
    )  # fmt: skip
