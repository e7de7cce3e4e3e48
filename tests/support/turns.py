"""Turns for the writer, and what they need: an actor `thing`, a lease, and a gate that holds a commit up."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import trio

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.journal import journal
from persistence.journal.turn import Persist, Plan, Receipt, Statement, Turn
from persistence.nodes.leases import take_leases
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until

KIND = "thing"
NODE = "node-1"
GATE = 77
"""The advisory lock that `persist_behind_gate` asks for."""


async def persist_things(conn: Connection, turns: Sequence[Turn]) -> None:
    """Write a row for each event; a note that says `bad` breaks a constraint."""
    rows = [(turn.id, str(event)) for turn in turns for event in turn.events]
    await conn.execute(
        "INSERT INTO things (id, note) SELECT * FROM unnest($1::text[], $2::text[])",
        *zip(*rows, strict=True),
    )


def plan_things(turns: Sequence[Turn]) -> list[Statement]:
    """The rows of `persist_things` as statements, to be part of one statement for all turns."""
    rows = [(turn.id, str(event)) for turn in turns for event in turn.events]
    sql = "INSERT INTO things (id, note) SELECT * FROM unnest($1::text[], $2::text[])"
    return [Statement(sql, list(zip(*rows, strict=True)))]


async def persist_behind_gate(conn: Connection, turns: Sequence[Turn]) -> None:
    """Do as `persist_things` does, once the gate is open."""
    await conn.execute("SELECT pg_advisory_xact_lock_shared($1)", GATE)
    await persist_things(conn, turns)


async def persist_and_break(conn: Connection, turns: Sequence[Turn]) -> None:
    """A `persist` with a mistake in it."""
    raise KeyError("a mistake")


async def persist_and_swallow(conn: Connection, turns: Sequence[Turn]) -> None:
    """A `persist` that hides an error of PostgreSQL from the writer."""
    try:
        await conn.execute("SELECT 1/0")
    except Exception:
        return


def a_turn(
    id: str = "a",
    *notes: str,
    seq: int = 0,
    version: int | None = None,
    shard: int = 0,
    fence: int = 1,
    persist: Persist = persist_things,
    plan: Plan | None = None,
    receipts: tuple[Receipt, ...] = (),
    due_at_ms: int | None = None,
    at_ms: int = 1_000,
) -> Turn:
    """A turn of the thing `id`: an event, a journal entry and a row for each note (`note` by default).

    Args:
        version: the actor's version before the turn; None for `seq`, as where each earlier turn had one note.
    """
    texts = notes or ("note",)
    return Turn(
        kind=KIND,
        id=id,
        shard=shard,
        fence=fence,
        seq=seq,
        version=seq if version is None else version,
        at_ms=at_ms,
        events=texts,
        journal=tuple(text.encode() for text in texts),
        due_at_ms=due_at_ms,
        summary=f"{id} at {seq + len(texts)}".encode(),
        persist=persist,
        receipts=receipts,
        plan=plan,
    )


a_planned_turn = partial(a_turn, plan=plan_things)
"""A turn that may be part of one statement."""


def a_receipt(
    key: str = "key", *, reply: bytes = b"{}", expires_at_ms: int = 10_000, etag: bytes = b""
) -> Receipt:
    """A receipt under a key of 32 bytes."""
    return Receipt(key.encode().ljust(32, b"."), b"f" * 32, 201, reply, expires_at_ms, etag)


@dataclass(slots=True)
class Answers:
    """Collects the answers of the writer, by the id of the actor, and lets a test wait for them."""

    by_id: dict[str, list[PersistenceError | None]] = field(default_factory=dict)
    _count: int = 0
    _more: trio.Event = field(default_factory=trio.Event)

    def submit(self, database: Database, turn: Turn) -> None:
        """Hand a turn over to the writer, and note its answer."""

        def done(error: PersistenceError | None) -> None:
            self.by_id.setdefault(turn.id, []).append(error)
            self._count += 1
            self._more.set()
            self._more = trio.Event()

        database.submit(turn, done)

    async def wait_for(self, count: int) -> None:
        """Return when so many answers have come."""
        with patience():
            while self._count < count:
                await self._more.wait()

    def names(self) -> dict[str, list[str]]:
        """{id: names of the errors, `ok` for none}."""
        return {
            id: ["ok" if error is None else type(error).__name__ for error in errors]
            for id, errors in self.by_id.items()
        }


async def commit(database: Database, *turns: Turn) -> dict[str, list[str]]:
    """Hand turns over at once, so that they share a batch; returns all answers, as `Answers.names` does."""
    answers = Answers()
    for turn in turns:
        answers.submit(database, turn)
    await answers.wait_for(len(turns))
    return answers.names()


async def make_things(conn: Connection, ids: Sequence[str]) -> None:
    """Make the table, the heads of these things, and the lease of shard 0 under fence 1."""
    await conn.execute("CREATE TABLE things (id text, note text CHECK (note <> 'bad'))")
    await take_leases(conn, NODE, [0])
    for id in ids:
        await journal.create_head(conn, KIND, id, epoch="e", summary=b"", due_at_ms=None, at_ms=1)


async def read_notes(conn: Connection) -> list[tuple[str, str]]:
    """(id, note) of all rows, in order."""
    return [
        (row["id"], row["note"]) for row in await conn.fetch("SELECT id, note FROM things ORDER BY id, note")
    ]


async def read_journal(conn: Connection, id: str) -> list[tuple[int, bytes]]:
    """(seq, event) of one thing."""
    return [(row.seq, row.event) for row in await journal.read_events(conn, KIND, id, after=0, limit=1_000)]


class Gate:
    """Stops `persist_behind_gate` inside its transaction."""

    def __init__(self, holder: Database) -> None:
        self._holder = holder

    async def close(self) -> None:
        """Have `persist_behind_gate` wait from now on."""
        await self._holder.read(_lock)

    async def open(self) -> None:
        """Let `persist_behind_gate` go on."""
        await self._holder.read(_unlock)

    async def wait_for_arrival(self) -> None:
        """Return when a transaction waits at the gate."""

        async def somebody_waits() -> bool:
            return await self._holder.read(_is_waited_for)

        await wait_until(somebody_waits)


@asynccontextmanager
async def open_gate(url: str) -> AsyncIterator[Gate]:
    """A gate, which is open at first; it holds its lock on a connection of its own."""
    async with open_database(url, pool_size=1, timeout_seconds=PATIENCE_SECONDS) as holder:
        yield Gate(holder)


async def _lock(conn: Connection) -> None:
    await conn.execute("SELECT pg_advisory_lock($1)", GATE)


async def _unlock(conn: Connection) -> None:
    await conn.execute("SELECT pg_advisory_unlock($1)", GATE)


async def _is_waited_for(conn: Connection) -> bool:
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1)",
        GATE,
    )
    return found
