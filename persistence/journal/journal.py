"""Journal, heads and snapshots of the actors.

The writer (`commit.py`) moves heads and appends events, `rewriting.py` changes past ones. A head says where an
actor's journal ends, the events lead there, and a snapshot only saves the work of building a state from other rows.

Invariants: an actor's events have no gap between the oldest kept and the head. A snapshot is returned only if its
checksum, over all its columns, is right.
"""

import zlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

import msgspec

from persistence.connection import Connection
from persistence.nodes.shards import shard_of

SNAPSHOTS_KEPT = 2
"""The newest, and the one before it in case the newest is damaged."""


class Head(msgspec.Struct, frozen=True):
    """The row that says how far an actor has come.

    Args:
        seq: the `seq` of the actor's newest event; 0 before the first.
        version: how many turns it has taken, those without events included.
        epoch: the name of its history; offsets are comparable within one epoch only.
        due_at_ms: its next deadline, epoch milliseconds, or None.
        summary: what lists show of it; the kind's own encoding.
        journal_bytes: size of its kept events, encoded; too high rather than too low.
        updated_at_ms: the time of its last turn, epoch milliseconds.
    """

    seq: int
    version: int
    epoch: str
    due_at_ms: int | None
    summary: bytes
    journal_bytes: int = 0
    updated_at_ms: int = 0


class Snapshot(msgspec.Struct, frozen=True):
    """A stored state whose checksum is right.

    Args:
        seq: every event up to this one is in it.
        version: of the encoding; only the kind knows which versions it can read.
        state: as the kind encoded it.
    """

    seq: int
    version: int
    state: bytes


class JournalRow(msgspec.Struct, frozen=True):
    """One event of the journal.

    Args:
        seq: its place, and its offset on the channel.
        at_ms: when it was decided, epoch milliseconds.
        event: in the kind's own encoding.
    """

    seq: int
    at_ms: int
    event: bytes


# ---- heads and events


@asynccontextmanager
async def consistent(conn: Connection) -> AsyncIterator[None]:
    """Make all statements of the block read one and the same snapshot of the database.

    Args:
        conn: outside any transaction, and left so. An exception leaves the transaction open, and the bridge closes the
            connection: after a cancelled statement it cannot be used to wait for a ROLLBACK.
    """
    await conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    yield
    await conn.execute("COMMIT")


async def read_head(conn: Connection, kind: str, id: str) -> Head | None:
    """Read the actor's head; None when there is no such actor."""
    row = await conn.fetchrow(
        """
        SELECT seq, version, epoch, due_at_ms, summary, journal_bytes, updated_at_ms FROM heads
        WHERE kind = $1 AND id = $2
        """,
        kind, id,
    )  # fmt: skip
    return None if row is None else Head(*row)


async def read_heads(conn: Connection, kind: str, ids: Sequence[str]) -> dict[str, Head]:
    """Read the heads of actors of one kind, {id: head}; ids without an actor are left out."""
    rows = await conn.fetch(
        """
        SELECT id, seq, version, epoch, due_at_ms, summary, journal_bytes, updated_at_ms FROM heads
        WHERE kind = $1 AND id = ANY ($2::text[])
        """,
        kind, ids,
    )  # fmt: skip
    return {id: Head(*head) for id, *head in rows}


async def read_positions(conn: Connection, kind: str, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Read {id: (epoch, version)} from the heads of those actors that exist. Cancellation ends the query."""
    rows = await conn.fetch(
        "SELECT id, epoch, version FROM heads WHERE kind = $1 AND id = ANY($2::text[])", kind, ids
    )
    return {id: (epoch, version) for id, epoch, version in rows}


async def create_head(
    conn: Connection, kind: str, id: str, *, epoch: str, summary: bytes, due_at_ms: int | None, at_ms: int
) -> None:
    """Insert the head of a new actor, at `seq` 0, in the transaction that writes its first rows.

    Args:
        epoch: a new name for its history.
        summary: what lists show of it; the kind's own encoding.
        due_at_ms: its first deadline, epoch milliseconds, or None.
        at_ms: now, epoch milliseconds.

    Raises: asyncpg's error when the actor exists already; callers of the transaction get it as `RowsRejected`.
    """
    await conn.execute(
        """
        INSERT INTO heads (kind, id, seq, epoch, due_at_ms, summary, updated_at_ms, shard)
        VALUES ($1, $2, 0, $3, $4, $5, $6, $7)
        """,
        kind, id, epoch, due_at_ms, summary, at_ms, shard_of(kind, id),
    )  # fmt: skip


async def seal(conn: Connection, kind: str, id: str, *, shard: int, fence: int) -> None:
    """Move the version of an actor's head, so that no turn decided before this can be committed afterwards.

    Does nothing without a head, or when the lease has moved.

    Args:
        shard, fence: the lease that covers this actor.

    Raises: asyncpg's error while such a turn is still being committed; callers of the transaction get it as
        `DatabaseUnavailable`, and try again, instead of holding up others who need a connection.
    """
    await conn.execute(
        """
        UPDATE heads SET version = version + 1
        WHERE (kind, id) IN (SELECT kind, id FROM heads WHERE kind = $1 AND id = $2 FOR NO KEY UPDATE NOWAIT)
          AND EXISTS (SELECT FROM leases WHERE shard = $3 AND fence = $4)
        """,
        kind, id, shard, fence,
    )  # fmt: skip


async def read_events_within(
    conn: Connection, kind: str, id: str, *, after: int, limit: int, bytes_max: int
) -> list[JournalRow] | None:
    """Read all events after the offset `after`, oldest first.

    Args:
        limit: most events.
        bytes_max: most bytes that the encoded events may have together.

    Returns: None when there are more than either bound allows.
    """
    rows = await conn.fetch(
        """
        SELECT seq, at_ms, event, fits FROM (
            SELECT seq, at_ms, event, sum(octet_length(event)) OVER behind <= $5 AS fits,
                   sum(octet_length(event)) OVER behind - octet_length(event) <= $5 AS shown
            FROM (SELECT * FROM events WHERE kind = $1 AND id = $2 AND seq > $3 ORDER BY seq LIMIT $4) AS newer
            WINDOW behind AS (ORDER BY seq)
        ) AS counted WHERE shown ORDER BY seq
        """,
        kind, id, after, limit + 1, bytes_max,
    )  # fmt: skip
    if len(rows) > limit or (rows and not rows[-1]["fits"]):
        return None
    return [JournalRow(row["seq"], row["at_ms"], row["event"]) for row in rows]


async def read_events(conn: Connection, kind: str, id: str, *, after: int, limit: int) -> list[JournalRow]:
    """Read the events after the offset `after`, oldest first, at most `limit`."""
    rows = await conn.fetch(
        """
        SELECT seq, at_ms, event FROM events WHERE kind = $1 AND id = $2 AND seq > $3 ORDER BY seq LIMIT $4
        """,
        kind, id, after, limit,
    )  # fmt: skip
    return [JournalRow(*row) for row in rows]


async def oldest_seq(conn: Connection, kind: str, id: str) -> int:
    """Read the `seq` of the actor's oldest event that is kept; 0 when none is."""
    seq: int = await conn.fetchval(
        "SELECT coalesce(min(seq), 0) FROM events WHERE kind = $1 AND id = $2", kind, id
    )
    return seq


_TRIM = """
WITH head AS (
    SELECT journal_bytes FROM heads WHERE kind = $1 AND id = $2
), sized AS (
    SELECT seq, octet_length(event) AS bytes, sum(octet_length(event)) OVER (ORDER BY seq DESC) AS newer
    FROM events WHERE kind = $1 AND id = $2
), gone AS (
    DELETE FROM events USING sized
    WHERE events.kind = $1 AND events.id = $2 AND events.seq = sized.seq AND sized.newer > $3
), kept AS (
    SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM sized WHERE newer <= $3
)
UPDATE heads SET journal_bytes = heads.journal_bytes - head.journal_bytes + kept.bytes FROM head, kept
WHERE heads.kind = $1 AND heads.id = $2 RETURNING heads.journal_bytes
"""


async def trim(conn: Connection, kind: str, id: str, *, bytes_max: int) -> int:
    """Delete the oldest events of an actor until those kept have at most `bytes_max`; returns how many bytes they have.

    Events that a turn appends meanwhile are counted, because `journal_bytes` is changed by a difference, not set.
    """
    kept: int | None = await conn.fetchval(_TRIM, kind, id, bytes_max)
    return kept or 0


async def due(
    conn: Connection, *, shards: Collection[int], before_ms: int, limit: int
) -> list[tuple[str, str]]:
    """Find the actors of these shards whose deadline has come: their (kind, id), the longest overdue first.

    Args:
        before_ms: epoch milliseconds; a deadline at this very moment counts.
        limit: most actors.
    """
    rows = await conn.fetch(
        """
        SELECT kind, id FROM heads WHERE due_at_ms <= $1 AND shard = ANY ($3::smallint[])
        ORDER BY due_at_ms LIMIT $2
        """,
        before_ms, limit, list(shards),
    )  # fmt: skip
    return [(row["kind"], row["id"]) for row in rows]


# ---- snapshots


async def read_snapshots(conn: Connection, kind: str, id: str) -> list[Snapshot]:
    """Read the actor's intact snapshots, newest first, at most two; damaged ones are left out."""
    return (await read_snapshots_of(conn, kind, [id]))[id]


async def read_snapshots_of(conn: Connection, kind: str, ids: Sequence[str]) -> dict[str, list[Snapshot]]:
    """{actor's id: what `read_snapshots` returns}, for actors of one kind."""
    rows = await conn.fetch(
        """
        SELECT kept.* FROM unnest($2::text[]) AS actor (id) CROSS JOIN LATERAL (
            SELECT kind, id, seq, version, crc, state FROM snapshots
            WHERE kind = $1 AND id = actor.id ORDER BY seq DESC LIMIT $3
        ) AS kept ORDER BY kept.id, kept.seq DESC
        """,
        kind, ids, SNAPSHOTS_KEPT,
    )  # fmt: skip
    found: dict[str, list[Snapshot]] = {id: [] for id in ids}
    for stored_kind, id, seq, version, crc, state in rows:
        if crc == _checksum(stored_kind, id, seq, version, state):
            found[id].append(Snapshot(seq, version, state))
    return found


async def save_snapshot(
    conn: Connection, kind: str, id: str, *, seq: int, version: int, state: bytes
) -> None:
    """Store a snapshot, and delete the oldest so that two remain.

    Nothing is stored for an actor without a head, nor a state from before its events were rewritten (`rewriting.py`);
    the lock on the head makes a rewriting come either wholly before this or wholly after it.

    Args:
        seq: every event up to this one is in it.
        version: of the encoding, 0 to 2^31-1.
        state: the kind's own encoding.
    """
    await conn.execute(
        """
        WITH head AS (
            SELECT FROM heads WHERE kind = $1 AND id = $2 AND snapshots_from <= $3 FOR SHARE
        ), dropped AS (
            DELETE FROM snapshots WHERE kind = $1 AND id = $2 AND seq <> $3 AND seq < (
                SELECT max(seq) FROM snapshots WHERE kind = $1 AND id = $2 AND seq <> $3
            )
        )
        INSERT INTO snapshots (kind, id, seq, version, crc, state)
        SELECT $1, $2, $3, $4, $5::bigint, $6::bytea FROM head
        ON CONFLICT (kind, id, seq) DO UPDATE
        SET version = excluded.version, crc = excluded.crc, state = excluded.state
        """,
        kind, id, seq, version, _checksum(kind, id, seq, version, state), state,
    )  # fmt: skip


def _checksum(kind: str, id: str, seq: int, version: int, state: bytes) -> int:
    # NUL cannot occur in PostgreSQL text, so it separates the parts. (A CRC-32 finds every single damaged byte.)
    return zlib.crc32(state, zlib.crc32(f"{kind}\0{id}\0{seq}\0{version}\0".encode()))
