"""The tables that the kernel stands on, in memory: heads, journal, snapshots, receipts, leases, nodes, rows of kinds.

`Tables` is the kernel's `Journal` and its `Nodes`, and the connection that units of work get: whatever runs between two
waits is a transaction by itself, because nothing else runs then. `land` commits a turn as
`persistence/journal/commit.py` does: under its fence and on its head only, whole or not at all.

`landed` is not a table but the truth that checks go by: every turn that was ever committed, in order.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from persistence.errors import Fenced, HeadMoved, PersistenceError, RowsRejected
from persistence.journal.journal import SNAPSHOTS_KEPT, Head, JournalRow, Snapshot
from persistence.journal.turn import Receipt, Turn
from persistence.nodes.shards import ALL_SHARDS, shard_of

Key = tuple[str, str]
"""(kind, id) of an owner."""


@dataclass(frozen=True, slots=True)
class Landed:
    """A turn that was committed, and the fence that its shard had then."""

    turn: Turn
    fence: int


class Tables:
    """See the module.

    Args:
        seconds: the database's own clock, by which nodes die.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self.seconds = seconds
        self.heads: dict[Key, Head] = {}
        self.events: dict[Key, tuple[JournalRow, ...]] = {}
        self.snapshots: dict[Key, tuple[Snapshot, ...]] = {}
        self.snapshots_from: dict[Key, int] = {}
        self.receipts: dict[bytes, Receipt] = {}
        self.rows: dict[Key, Any] = {}  # what a kind keeps of an owner: immutable, replaced as a whole
        self.nodes: dict[str, tuple[int, float]] = {}  # {name: (life, when it runs out)}
        self.lives = 0
        self.leases: dict[int, tuple[str, int]] = {}
        self.landed: list[Landed] = []
        self.running: list[float] = []  # since when transactions run that nobody waits for any more

    def copy(self, sort: type["Tables"], seconds: Callable[[], float]) -> "Tables":
        """Tables of their own, of some sort, with the same rows, all of which are immutable."""
        twin = sort(seconds)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(twin, name, value.copy())
        return twin

    # -- turns

    async def land(self, turn: Turn) -> PersistenceError | None:
        """Commit a turn; returns why it was refused, and then nothing has changed."""
        key, head = (turn.kind, turn.id), self.heads.get((turn.kind, turn.id))
        if not self.holds(turn):
            return Fenced(f"shard {turn.shard} is not held under fence {turn.fence}")
        if head is None or not self.fits(turn, head):
            return HeadMoved(f"{turn.kind} {turn.id} is not at {turn.seq}, version {turn.version}")
        before = self._of(key)
        self.events[key] = self.events.get(key, ()) + tuple(
            JournalRow(seq, turn.at_ms, event) for seq, event in enumerate(turn.journal, turn.seq + 1)
        )
        self.heads[key] = replace(
            head,
            seq=turn.seq + len(turn.journal),
            version=turn.version + 1,
            due_at_ms=turn.due_at_ms,
            summary=turn.summary,
            journal_bytes=head.journal_bytes + sum(map(len, turn.journal)),
            updated_at_ms=turn.at_ms,
        )
        try:
            self._keep(turn.receipts, turn.at_ms)
            if turn.events:
                await turn.persist(self, [turn])
        except RowsRejected as rejected:
            self._restore(key, before)
            return rejected
        self.receipts |= {receipt.key: receipt for receipt in turn.receipts}
        self.landed.append(Landed(turn, self.leases[turn.shard][1]))
        return None

    def holds(self, turn: Turn) -> bool:
        """Whether the lease of the turn's shard still has the turn's fence."""
        return turn.shard in self.leases and self.leases[turn.shard][1] == turn.fence

    def fits(self, turn: Turn, head: Head) -> bool:
        """Whether the turn was decided on this head."""
        return (head.seq, head.version) == (turn.seq, turn.version)

    def _keep(self, receipts: Sequence[Receipt], now_ms: int) -> None:
        keys = [receipt.key for receipt in receipts]
        taken = [key for key in keys if key in self.receipts and self.receipts[key].expires_at_ms > now_ms]
        if taken or len(set(keys)) < len(keys):
            raise RowsRejected("a receipt with this key exists")

    def _of(self, key: Key) -> tuple[Any, ...]:
        return tuple(table.get(key) for table in self._by_owner)

    def _restore(self, key: Key, values: tuple[Any, ...]) -> None:
        for table, value in zip(self._by_owner, values, strict=True):
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value

    @property
    def _by_owner(self) -> tuple[dict[Key, Any], ...]:
        return self.heads, self.events, self.snapshots, self.snapshots_from, self.rows

    # -- Journal; what comes first is the connection, which is this object or the store before it

    @asynccontextmanager
    async def consistent(self, _conn: object) -> AsyncIterator[None]:
        yield

    async def create_head(
        self,
        _conn: object,
        kind: str,
        id: str,
        *,
        epoch: str,
        summary: bytes,
        due_at_ms: int | None,
        at_ms: int,
    ) -> None:
        if (kind, id) in self.heads:
            raise RowsRejected("this actor exists already")
        self.heads[kind, id] = Head(0, 0, epoch, due_at_ms, summary, updated_at_ms=at_ms)

    async def read_head(self, _conn: object, kind: str, id: str) -> Head | None:
        return self.heads.get((kind, id))

    async def read_heads(self, _conn: object, kind: str, ids: Sequence[str]) -> dict[str, Head]:
        return {id: self.heads[kind, id] for id in ids if (kind, id) in self.heads}

    async def read_positions(
        self, _conn: object, kind: str, ids: Sequence[str]
    ) -> dict[str, tuple[str, int]]:
        heads = {id: self.heads[kind, id] for id in ids if (kind, id) in self.heads}
        return {id: (head.epoch, head.version) for id, head in heads.items()}

    async def seal(self, _conn: object, kind: str, id: str, *, shard: int, fence: int) -> None:
        head = self.heads.get((kind, id))
        if head is not None and self.leases.get(shard, ("", 0))[1] == fence:
            self.heads[kind, id] = replace(head, version=head.version + 1)

    async def read_snapshots(self, _conn: object, kind: str, id: str) -> Sequence[Snapshot]:
        return self.snapshots.get((kind, id), ())

    async def read_snapshots_of(
        self, _conn: object, kind: str, ids: Sequence[str]
    ) -> dict[str, Sequence[Snapshot]]:
        return {id: self.snapshots.get((kind, id), ()) for id in ids}

    async def save_snapshot(
        self, _conn: object, kind: str, id: str, *, seq: int, version: int, state: bytes
    ) -> None:
        key = kind, id
        others = [one for one in self.snapshots.get(key, ()) if one.seq != seq]
        kept = others[: SNAPSHOTS_KEPT - 1]
        if key in self.heads and seq >= self.snapshots_from.get(key, 0):
            kept.append(Snapshot(seq, version, state))
        self.snapshots[key] = tuple(sorted(kept, key=lambda one: one.seq, reverse=True))

    async def read_events(
        self, _conn: object, kind: str, id: str, *, after: int, limit: int
    ) -> Sequence[JournalRow]:
        return [row for row in self.events.get((kind, id), ()) if row.seq > after][:limit]

    async def read_events_within(
        self, conn: object, kind: str, id: str, *, after: int, limit: int, bytes_max: int
    ) -> Sequence[JournalRow] | None:
        rows = await self.read_events(conn, kind, id, after=after, limit=limit + 1)
        too_large = _bytes(rows) > bytes_max
        return None if too_large or len(rows) > limit else rows

    async def rewrite_events(self, _conn: object, kind: str, id: str, events: Mapping[int, bytes]) -> None:
        key = kind, id
        before = self.events.get(key, ())
        self.events[key] = tuple(
            replace(row, event=events[row.seq]) if row.seq in events else row for row in before
        )
        head = self.heads[key]
        grown = _bytes(self.events[key]) - _bytes(before)
        self.heads[key] = replace(head, journal_bytes=head.journal_bytes + grown)
        self.snapshots_from[key] = head.seq
        self.snapshots.pop(key, None)

    async def sizes_at(self, _conn: object, kind: str, id: str, offsets: Sequence[int]) -> dict[int, int]:
        rows = self.events.get((kind, id), ())
        return {row.seq: len(row.event) for row in rows if row.seq in offsets}

    async def forget_until(self, _conn: object, kind: str, id: str, seq: int) -> None:
        key = kind, id
        before = self.events.get(key, ())
        self.events[key] = tuple(row for row in before if row.seq > seq)
        if (head := self.heads.get(key)) is not None:
            gone = _bytes(before) - _bytes(self.events[key])
            self.heads[key] = replace(head, journal_bytes=head.journal_bytes - gone)

    async def trim(self, _conn: object, kind: str, id: str, *, bytes_max: int) -> int:
        rows = self.events.get((kind, id), ())
        while _bytes(rows) > bytes_max:
            rows = rows[1:]
        self.events[kind, id] = rows
        if (head := self.heads.get((kind, id))) is None:
            return 0
        kept = _bytes(rows)
        self.heads[kind, id] = replace(head, journal_bytes=kept)
        return kept

    async def due(
        self, _conn: object, *, shards: Collection[int], before_ms: int, limit: int
    ) -> Sequence[Key]:
        overdue = [
            (head.due_at_ms, key)
            for key, head in self.heads.items()
            if head.due_at_ms is not None and head.due_at_ms <= before_ms and shard_of(*key) in shards
        ]
        return [key for _, key in sorted(overdue)[:limit]]

    # -- Nodes

    async def hold_alone(
        self, _conn: object, node: str, ttl_seconds: float, former_life: int = 0
    ) -> tuple[int, dict[int, int]] | None:
        now = self.seconds()
        self.nodes = {name: row for name, row in self.nodes.items() if row[1] >= now}
        if self.nodes.keys() - {node} or any(0 < former_life < life for life, _ in self.nodes.values()):
            return None
        self.lives += 1
        self.nodes[node] = self.lives, now + ttl_seconds
        # Whoever takes one takes all, so that all have the same fence.
        fence = self.leases[0][1] + 1 if self.leases else 1
        self.leases = dict.fromkeys(ALL_SHARDS, (node, fence))
        return self.lives, dict.fromkeys(ALL_SHARDS, fence)

    async def renew(self, _conn: object, node: str, life: int, ttl_seconds: float) -> bool:
        if node not in self.nodes or self.nodes[node][0] != life:
            return False
        self.nodes[node] = life, self.seconds() + ttl_seconds
        return True

    async def leave(self, _conn: object, node: str, life: int) -> None:
        if node in self.nodes and self.nodes[node][0] == life:
            del self.nodes[node]


def _bytes(rows: Sequence[JournalRow]) -> int:
    return sum(len(row.event) for row in rows)
