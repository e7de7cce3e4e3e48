"""A database in memory that fails on command, for tests of the kernel that must be repeatable to the letter.

`Simulation` is the kernel's `Store`, its `Journal` and its `Nodes`; units of work get it as their connection. Delays
and failures come from one seeded generator, so the same seed gives the same history. It keeps the rules of
the real one: a turn lands whole or not at all, only under its fence and on its head, and one turn of an actor
at a time.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, cast

import trio

from persistence.connection import Connection
from persistence.errors import (
    DatabaseUnavailable,
    Fenced,
    HeadMoved,
    OutcomeUnknown,
    PersistenceError,
    QueueFull,
    RowsRejected,
)
from persistence.journal.turn import Receipt, Turn
from persistence.nodes.shards import ALL_SHARDS, shard_of

Fate = Literal["lands", "fails", "unknown_landed", "unknown_lost", "unknown_late", "fenced"]

# How many seconds after its OutcomeUnknown a late commit lands.
LATE_SECONDS = 0.3


@dataclass
class Head:
    seq: int
    version: int
    epoch: str
    due_at_ms: int | None
    summary: bytes
    journal_bytes: int = 0
    updated_at_ms: int = 0


@dataclass(frozen=True)
class Snapshot:
    seq: int
    version: int
    state: bytes


@dataclass(frozen=True)
class JournalRow:
    seq: int
    at_ms: int
    event: bytes


class Simulation:
    """The simulated database (see the module).

    Args:
        rng: draws delays, and the fates of turns by `rates`.
        rates: the probability of each fate but `lands`.
    """

    def __init__(self, rng: Random, rates: Mapping[Fate, float] | None = None) -> None:
        self.rng = rng
        self.rates = dict(rates or {})
        self.script: deque[Fate] = deque()
        self.away = False
        self.full = False
        self.delay_seconds = (0.001, 0.004)
        self.told_after_seconds = 0.0  # how long rows have a turn before its actor is told
        self.heads: dict[tuple[str, str], Head] = {}
        self.events: dict[tuple[str, str], list[JournalRow]] = {}
        self.snapshots: dict[tuple[str, str], list[Snapshot]] = {}
        self.rows: dict[tuple[str, str], Any] = {}
        self.receipts: dict[bytes, Receipt] = {}
        self.nodes: dict[str, int] = {}  # {name: number of its life}
        self.lives = 0
        self.leases: dict[int, tuple[str, int]] = {}
        self.reads: list[str] = []
        self.batches: list[int] = []
        self._queue: deque[tuple[Turn, Callable[[PersistenceError | None], None]]] = deque()
        self._more = trio.Event()

    # -- Store

    async def read(self, unit: Callable[..., Awaitable[Any]], *args: object) -> Any:
        self.reads.append(unit.__name__)
        await self._delay()
        return await unit(self, *args)

    async def transact(self, unit: Callable[..., Awaitable[Any]], *args: object) -> Any:
        await self._delay()
        return await unit(self, *args)

    def submit(self, turn: Turn, done: Callable[[PersistenceError | None], None]) -> None:
        if self.full:
            raise QueueFull
        self._queue.append((turn, done))
        self._more.set()

    async def write(self) -> None:
        """Run the writer, which commits all turns that wait in one batch, each with its fate."""
        while True:
            await self._more.wait()
            self._more = trio.Event()
            batch, self._queue = list(self._queue), deque()
            assert len({(turn.kind, turn.id) for turn, _ in batch}) == len(batch), "two turns of one actor"
            self.batches.append(len(batch))
            await trio.sleep(self.rng.uniform(*self.delay_seconds))
            for turn, done in batch:
                outcome = await self._fate(turn)
                if self.told_after_seconds:
                    await trio.sleep(self.told_after_seconds)
                done(outcome)

    async def _fate(self, turn: Turn) -> PersistenceError | None:
        fate = self.script.popleft() if self.script else self._draw()
        if self.away or fate == "fails":
            return DatabaseUnavailable("simulated")
        if fate == "fenced":
            return Fenced("simulated")
        if fate == "unknown_lost":
            return OutcomeUnknown("simulated")
        if fate == "unknown_late":
            trio.lowlevel.spawn_system_task(self._land_late, turn)
            return OutcomeUnknown("simulated")
        failure = await self._land(turn)
        return OutcomeUnknown("simulated") if fate == "unknown_landed" else failure

    def _draw(self) -> Fate:
        for fate, rate in self.rates.items():
            if self.rng.random() < rate:
                return fate
        return "lands"

    async def _land_late(self, turn: Turn) -> None:
        await trio.sleep(LATE_SECONDS)
        await self._land(turn)

    async def _land(self, turn: Turn) -> PersistenceError | None:
        key = (turn.kind, turn.id)
        head = self.heads[key]
        if turn.shard in self.leases and self.leases[turn.shard][1] != turn.fence:
            return Fenced("not under this fence")
        if (head.seq, head.version) != (turn.seq, turn.version):
            return HeadMoved("not on this head")
        try:
            if turn.events:
                await turn.persist(cast(Connection, self), [turn])
        except RowsRejected as rejected:
            return rejected
        for n, event in enumerate(turn.journal, 1):
            self.events.setdefault(key, []).append(JournalRow(turn.seq + n, turn.at_ms, event))
        seq = turn.seq + len(turn.journal)
        size = head.journal_bytes + sum(map(len, turn.journal))
        self.heads[key] = Head(
            seq, turn.version + 1, head.epoch, turn.due_at_ms, turn.summary, size, turn.at_ms
        )
        self.receipts |= {receipt.key: receipt for receipt in turn.receipts}
        return None

    async def _delay(self) -> None:
        await trio.sleep(self.rng.uniform(*self.delay_seconds))
        if self.away:
            raise DatabaseUnavailable("simulated")

    # -- Journal

    @asynccontextmanager
    async def consistent(self, conn: Any) -> AsyncIterator[None]:
        yield

    async def read_head(self, conn: Any, kind: str, id: str) -> Head | None:
        return self.heads.get((kind, id))

    async def create_head(
        self, conn: Any, kind: str, id: str, *, epoch: str, summary: bytes, due_at_ms: int | None, at_ms: int
    ) -> None:
        self.heads[kind, id] = Head(0, 0, epoch, due_at_ms, summary, updated_at_ms=at_ms)

    async def read_heads(self, conn: Any, kind: str, ids: Sequence[str]) -> dict[str, Head]:
        return {id: self.heads[kind, id] for id in ids if (kind, id) in self.heads}

    async def read_positions(self, conn: Any, kind: str, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        heads = {id: self.heads[kind, id] for id in ids if (kind, id) in self.heads}
        return {id: (head.epoch, head.version) for id, head in heads.items()}

    async def seal(self, conn: Any, kind: str, id: str, *, shard: int, fence: int) -> None:
        head = self.heads.get((kind, id))
        if head is not None and self.leases.get(shard, ("", 0))[1] == fence:
            head.version += 1

    async def read_snapshots(self, conn: Any, kind: str, id: str) -> list[Snapshot]:
        return self.snapshots.get((kind, id), [])

    async def read_snapshots_of(self, conn: Any, kind: str, ids: Sequence[str]) -> dict[str, list[Snapshot]]:
        return {id: self.snapshots.get((kind, id), []) for id in ids}

    async def save_snapshot(
        self, conn: Any, kind: str, id: str, *, seq: int, version: int, state: bytes
    ) -> None:
        kept = self.snapshots.get((kind, id), [])
        self.snapshots[kind, id] = [Snapshot(seq, version, state), *kept][:2]

    async def read_events(self, conn: Any, kind: str, id: str, *, after: int, limit: int) -> list[JournalRow]:
        return [row for row in self.events.get((kind, id), []) if row.seq > after][:limit]

    async def read_events_within(
        self, conn: Any, kind: str, id: str, *, after: int, limit: int, bytes_max: int
    ) -> list[JournalRow] | None:
        rows = await self.read_events(conn, kind, id, after=after, limit=limit + 1)
        too_large = sum(len(row.event) for row in rows) > bytes_max
        return None if too_large or len(rows) > limit else rows

    async def trim(self, conn: Any, kind: str, id: str, *, bytes_max: int) -> int:
        events = self.events.get((kind, id), [])
        while sum(len(row.event) for row in events) > bytes_max:
            events.pop(0)
        self.heads[kind, id].journal_bytes = sum(len(row.event) for row in events)
        return self.heads[kind, id].journal_bytes

    async def due(
        self, conn: Any, *, shards: Collection[int], before_ms: int, limit: int
    ) -> list[tuple[str, str]]:
        overdue = [
            (head.due_at_ms, key)
            for key, head in self.heads.items()
            if head.due_at_ms is not None and head.due_at_ms <= before_ms and shard_of(*key) in shards
        ]
        return [key for _, key in sorted(overdue)[:limit]]

    # -- Nodes

    async def hold_alone(
        self, conn: Any, node: str, ttl_seconds: float, former_life: int = 0
    ) -> tuple[int, dict[int, int]] | None:
        if self.nodes.keys() - {node} or 0 < former_life < self.nodes.get(node, 0):
            return None
        self.lives += 1
        self.nodes[node] = self.lives
        for shard in ALL_SHARDS:
            self.leases[shard] = (node, self.leases.get(shard, ("", 0))[1] + 1)
        return self.lives, {shard: fence for shard, (_, fence) in self.leases.items()}

    async def renew(self, conn: Any, node: str, life: int, ttl_seconds: float) -> bool:
        return self.nodes.get(node) == life

    async def leave(self, conn: Any, node: str, life: int) -> None:
        if self.nodes.get(node) == life:
            del self.nodes[node]

    async def take_over(self, node: str) -> None:
        """Declare every other node dead, and let this one take all shards."""
        self.nodes.clear()
        await self.hold_alone(None, node, 15.0)


class SimulatedClock:
    """Epoch milliseconds that follow trio's clock, mocked or not."""

    START_MS = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.START_MS + int(trio.current_time() * 1000)


@asynccontextmanager
async def open_simulation(
    seed: int = 0, rates: Mapping[Fate, float] | None = None
) -> AsyncIterator[Simulation]:
    """A simulation with its writer running."""
    simulation = Simulation(Random(seed), rates)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(simulation.write)
        yield simulation
        nursery.cancel_scope.cancel()
