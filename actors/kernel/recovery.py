"""Restoring an owner: its newest usable snapshot and the events above it, or else its rows.

Rows are the truth and a snapshot is a cache: whatever is wrong with one (another version, bytes that do not restore,
a gap in the events) only makes the load slower. Everything is read as of one moment, so that a commit whose outcome
is still unknown is either in all of it or in none. Where its own process reads again, it is decided before:
`seal` keeps it from landing later, when memory and those who watch would not hear of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import structlog

from actors.kernel.kind import Kind
from actors.kernel.replay_buffer import REPLAY_BYTES
from actors.kernel.store import Head, Journal, JournalRow, Snapshot
from persistence.connection import Connection

_log = structlog.get_logger()

# Events kept for one actor at most (architecture.md, Persistence); a snapshot further behind is of no use.
MOST_EVENTS = 10_000

# Most missed events that are sent one by one; beyond it a snapshot is smaller.
MISSED_EVENTS = 1_000


class SnapshotUnusable(Exception):
    """This snapshot cannot be used; an older one, or the rows, will do."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """A committed state, as it was loaded.

    Args:
        state: the committed state at `seq`.
        seq: the journal position of the last event in the state.
        version: how many turns are in it; the next one names it.
        epoch: the name of the history.
        due_at_ms: the deadline that the head row names, epoch milliseconds; None without one.
        journal_bytes: encoded size of the events that are kept.
        at_ms: the time of the owner's last turn, epoch milliseconds.
        from_rows: no snapshot was usable, so a new one is worth saving.
    """

    state: Any
    seq: int
    version: int
    epoch: str
    due_at_ms: int | None
    journal_bytes: int
    at_ms: int
    from_rows: bool


async def recover(conn: Connection, journal: Journal, kind: Kind[Any, Any], id: str) -> Recovered | None:
    """A unit of work: load the owner's committed state; None when there is no such owner."""
    async with journal.consistent(conn):
        head = await journal.read_head(conn, kind.name, id)
        if head is None:
            return None
        snapshots = await journal.read_snapshots(conn, kind.name, id)
        state = await _restored(conn, journal, (kind, id), head, snapshots)
        from_rows = state is None
        if state is None:
            state = await kind.load(conn, id)
            if state is None:
                return None
        elif kind.unjournaled is not None and kind.unjournaled.refresh is not None:
            state = await kind.unjournaled.refresh(conn, id, state)
        return _recovered(state, head, from_rows=from_rows)


async def recover_many(
    conn: Connection, journal: Journal, kind: Kind[Any, Any], ids: Sequence[str]
) -> dict[str, Recovered]:
    """A unit of work: {id: what `recover` returns}, for owners of a kind that can be loaded together.

    Ids without an owner are left out.

    Raises:
        TypeError: owners of this kind are loaded one by one.
    """
    together = kind.together
    if together is None:
        raise TypeError(f"owners of the kind {kind.name} are loaded one by one")
    async with journal.consistent(conn):
        heads = await journal.read_heads(conn, kind.name, ids)
        snapshots = await journal.read_snapshots_of(conn, kind.name, list(heads))
        kept: dict[str, Any] = {}
        for id, head in heads.items():
            state = await _restored(conn, journal, (kind, id), head, snapshots[id])
            if state is not None:
                kept[id] = state
        fresh = [id for id in heads if id not in kept]
        refreshed = await together.refresh(conn, kept) if kept and together.refresh is not None else kept
        loaded = await together.load(conn, fresh) if fresh else {}
    found = {id: _recovered(state, heads[id], from_rows=False) for id, state in refreshed.items()}
    return found | {id: _recovered(state, heads[id], from_rows=True) for id, state in loaded.items()}


async def _restored(
    conn: Connection,
    journal: Journal,
    owner: tuple[Kind[Any, Any], str],
    head: Head,
    kept: Sequence[Snapshot],
) -> Any:
    """The state of the newest usable snapshot and the events above it; None without one."""
    kind, id = owner
    for snapshot in kept:
        ahead = head.seq - snapshot.seq
        if snapshot.version != kind.version or not 0 <= ahead <= MOST_EVENTS:
            continue
        rows: Sequence[JournalRow] = ()
        if ahead:  # not after a clean stop, for which every owner has saved its state
            rows = await journal.read_events(conn, kind.name, id, after=snapshot.seq, limit=ahead)
        try:
            return _rebuild(kind, head, snapshot, rows)
        except SnapshotUnusable as unusable:
            _log.warning("snapshot_unusable", kind=kind.name, id=id, seq=snapshot.seq, why=str(unusable))
    return None


def _recovered(state: Any, head: Head, *, from_rows: bool) -> Recovered:
    return Recovered(
        state,
        head.seq,
        head.version,
        head.epoch,
        head.due_at_ms,
        head.journal_bytes,
        head.updated_at_ms,
        from_rows=from_rows,
    )


def _rebuild(kind: Kind[Any, Any], head: Head, snapshot: Snapshot, rows: Sequence[JournalRow]) -> Any:
    if [row.seq for row in rows] != list(range(snapshot.seq + 1, head.seq + 1)):
        raise SnapshotUnusable(f"events do not lead from {snapshot.seq} to {head.seq}")
    decoder = msgspec.msgpack.Decoder(kind.events)
    try:
        state = kind.restore(snapshot.state)
        for row in rows:
            state = kind.apply(state, decoder.decode(row.event))
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError) as error:
        raise SnapshotUnusable(f"{type(error).__name__} while it was restored") from error
    return state


async def seal(
    conn: Connection, journal: Journal, kind: Kind[Any, Any], id: str, lease: tuple[int, int]
) -> None:
    """A unit of work: after it, a turn of unknown outcome is either committed or never will be.

    It fails while that turn is still being committed, and is to be tried again then.

    Args:
        lease: (shard, fence) under which the owner is written.
    """
    shard, fence = lease
    await journal.seal(conn, kind.name, id, shard=shard, fence=fence)


async def save(
    conn: Connection, journal: Journal, kind: Kind[Any, Any], id: str, snapshot: tuple[int, bytes]
) -> None:
    """A unit of work: save a snapshot.

    Args:
        snapshot: (journal position, dumped state).
    """
    seq, state = snapshot
    await journal.save_snapshot(conn, kind.name, id, seq=seq, version=kind.version, state=state)


async def trim(conn: Connection, journal: Journal, kind: Kind[Any, Any], id: str, bytes_max: int) -> int:
    """A unit of work: delete the oldest events of an owner; returns how many bytes the others have.

    Args:
        bytes_max: most encoded bytes of the events that stay.
    """
    return await journal.trim(conn, kind.name, id, bytes_max=bytes_max)


async def read_missed(
    conn: Connection, journal: Journal, kind: Kind[Any, Any], id: str, after: int
) -> list[tuple[int, Any]] | None:
    """A unit of work: read the events after an offset, for a client that was disconnected.

    Returns (offset, event) in order; None when some of them are no longer kept, or when they are too many, or too
    large, to be worth sending one by one.
    """
    rows = await journal.read_events_within(
        conn, kind.name, id, after=after, limit=MISSED_EVENTS, bytes_max=REPLAY_BYTES
    )
    if rows is None or [row.seq for row in rows] != list(range(after + 1, after + 1 + len(rows))):
        return None
    decoder = msgspec.msgpack.Decoder(kind.events)
    missed = [(row.seq, decoder.decode(row.event)) for row in rows]
    if kind.unjournaled is None or kind.unjournaled.recall is None:
        return missed
    return await kind.unjournaled.recall(conn, id, missed)
