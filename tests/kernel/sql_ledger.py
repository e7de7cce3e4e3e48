"""The ledger over real rows."""

from collections.abc import Sequence
from typing import Any

from actors.kernel.kind import Kind
from persistence.connection import Connection
from persistence.journal import journal
from persistence.journal.turn import Turn
from tests.kernel.ledger import RECENT, Changed, Entry, Ledger, Promoted, ledger_kind


class SqlRows:
    """Ledgers as rows of two tables."""

    async def make(self, conn: Connection, ids: Sequence[str]) -> None:
        await conn.execute(
            "CREATE TABLE ledgers (id text PRIMARY KEY, total int DEFAULT 0, bosses text[] DEFAULT '{}')"
        )
        await conn.execute(
            "CREATE TABLE entries (id text, n int, by text, amount int CHECK (amount <> 13), PRIMARY KEY (id, n))"
        )
        for id in ids:
            await conn.execute("INSERT INTO ledgers (id) VALUES ($1)", id)
            await journal.create_head(conn, "ledger", id, epoch="e", summary=b"0", due_at_ms=None, at_ms=0)

    async def load(self, conn: Any, id: str) -> Ledger | None:
        row = await conn.fetchrow("SELECT total, bosses FROM ledgers WHERE id = $1", id)
        entries = await conn.fetch("SELECT by, amount FROM entries WHERE id = $1 ORDER BY n", id)
        recent = tuple(Entry(*entry) for entry in entries[-RECENT:])
        return Ledger(total=row["total"], count=len(entries), recent=recent, bosses=tuple(row["bosses"]))

    async def persist(self, conn: Any, turns: Sequence[Turn]) -> None:
        for turn in turns:
            changes = [event for event in turn.events if isinstance(event, Changed)]
            count = await conn.fetchval("SELECT count(*) FROM entries WHERE id = $1", turn.id)
            for n, event in enumerate(changes):
                await conn.execute(
                    "INSERT INTO entries VALUES ($1, $2, $3, $4)", turn.id, count + n, event.by, event.amount
                )
            await conn.execute(
                "UPDATE ledgers SET total = total + $2, bosses = bosses || $3::text[] WHERE id = $1",
                turn.id,
                sum(event.amount for event in changes),
                [event.who for event in turn.events if isinstance(event, Promoted)],
            )

    async def fetch(self, conn: Any, id: str, missing: Any) -> Any:
        return Entry(
            *await conn.fetchrow("SELECT by, amount FROM entries WHERE id = $1 AND n = $2", id, missing)
        )

    async def refresh(self, conn: Any, id: str, state: Ledger) -> Ledger:
        return state


ROWS = SqlRows()


KIND: Kind[Ledger, Any] = ledger_kind(ROWS)
