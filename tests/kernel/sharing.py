"""What comes of commands, however they are divided into turns: run on a real database, and held side by side.

A `Subject` is a kind with rows to begin with. `outcome` has a live actor decide commands, each group of them posted at
once, so that what is in a group shares a turn unless the kernel cuts it, and says what came of it: the answers, every
event, and all rows.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec
from hypothesis.strategies import SearchStrategy

from actors.errors import Refused
from actors.kernel.facets import Followers
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer
from persistence.bridge.database import Database
from persistence.connection import Connection
from tests.support.actors import ask_at_once, open_actors

NOW_MS = 1_795_000_000_000

Ask = Callable[..., Awaitable[Any]]
"""Has the subject's actor decide commands, one after the other."""

Rows = dict[str, str]
"""{table: its rows, as a JSON array}; of tables that have some."""


class StillClock:
    """Time stands still, so that it cannot make a difference."""

    def now_ms(self) -> int:
        return NOW_MS


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A kind that looks things up.

    Args:
        made_in: the file that makes the kind.
        kind, id: the actor.
        found: writes its first rows.
        history: commands that bring it to where the steps begin.
        steps: draws commands that follow each other; each is made from its place among all, so that ids are its own.
        tables: SQL of tables that no migration makes.
    """

    made_in: str
    kind: Kind[Any, Any]
    id: str
    found: Callable[[Connection], Awaitable[None]]
    history: Sequence[Any] = ()
    steps: SearchStrategy[Sequence[Callable[[int], Any]]]
    tables: str = ""


class Outcome(NamedTuple):
    """What came of commands."""

    answers: list[str]
    events: list[str]
    rows: dict[str, list[str]]

    def differing_events(self, other: "Outcome") -> list[tuple[str, str]]:
        """Events of both that differ, from where they do."""
        pairs = zip_longest(self.events, other.events, fillvalue="")
        return [
            (one[at:], another[at:]) for one, another in pairs if (at := _parting(one, another)) is not None
        ]


def _parting(one: str, other: str) -> int | None:
    """Where two texts begin to differ."""
    differ = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return None if one == other else next(differ, min(len(one), len(other)))


async def prepare(database: Database, subject: Subject) -> Rows:
    """The rows that the steps begin with, written the way they always are."""
    if subject.tables:
        await database.transact(_run, subject.tables)
    await database.transact(subject.found)
    if subject.history:
        await _decide(database, subject.kind, subject.id, [subject.history])
    return await database.read(_read_rows)


async def outcome(
    database: Database, subject: Subject, rows: Rows, groups: Sequence[Sequence[Any]]
) -> Outcome:
    """Put the rows back, decide the groups one after the other, and look."""
    await database.transact(put_back, rows)
    events: list[str] = []

    def happened(_state: Any, event: Any) -> None:
        events.append(repr(event))

    followers = replace(subject.kind.followers or Followers(), on_committed=happened)
    kind = replace(subject.kind, followers=followers)
    answers = await _decide(database, kind, subject.id, groups)
    after = await database.read(_read_rows)
    return Outcome(answers, events, {table: sorted(_rows_of(table, text)) for table, text in after.items()})


async def _decide(
    database: Database, kind: Kind[Any, Any], id: str, groups: Sequence[Sequence[Any]]
) -> list[str]:
    answers: list[str] = []
    async with open_actors(database, kind, clock=StillClock()) as system:
        for group in groups:
            for start in range(0, len(group), 200):  # a mailbox takes 256
                told = await ask_at_once(system, kind, id, group[start : start + 200])
                answers += [_said(answer) for answer in told]
    return answers


def _said(answer: Answer) -> str:
    error = answer.error
    if isinstance(error, Refused):
        return f"{type(error).__name__} {error} {error.meta}"
    if error is not None:
        return type(error).__name__
    reply = answer.reply
    return bytes(reply).decode() if isinstance(reply, msgspec.Raw) else repr(reply)


# ---- all rows

# Of leases, caches and counts of turns there is more or less by how many turns there were; and from where on snapshots
# are good again after a deletion is the end of its turn. Places in the trail come from a sequence, which does not go
# back with the rows.
_PASSED_OVER = {"leases", "nodes", "snapshots"}
_COUNTS_TURNS = {"heads": ("version", "snapshots_from"), "audit_log": ("seq",)}


# What has no page has no row: most tables have never had any, and to plan for all of them takes longer than the rest.
_WITH_PAGES = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 ORDER BY 1
"""


async def _tables(conn: Connection) -> list[str]:
    """The tables in which there could be rows."""
    return [row[0] for row in await conn.fetch(_WITH_PAGES)]


async def _read_rows(conn: Connection) -> Rows:
    """The rows of each table that has some."""
    each = [
        f"SELECT '{table}', jsonb_agg(to_jsonb(t))::text FROM {table} t"
        for table in await _tables(conn)
        if table not in _PASSED_OVER
    ]
    return {row[0]: row[1] for row in await conn.fetch(" UNION ALL ".join(each)) if row[1] is not None}


def _rows_of(table: str, text: str) -> list[str]:
    counts = _COUNTS_TURNS.get(table, ())
    rows = [
        {name: value for name, value in row.items() if name not in counts}
        for row in msgspec.json.decode(text)
    ]
    return [msgspec.json.encode(row).decode() for row in rows]


async def put_back(conn: Connection, rows: Rows) -> None:
    """Have these rows in place of all that there are."""
    # Rows come in no order that foreign keys would like.
    await conn.execute("SET LOCAL session_replication_role = replica")
    for table in await _tables(conn):
        await conn.execute(f"DELETE FROM {table}")
    for table, text in rows.items():
        await conn.execute(
            f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1::text::jsonb)",
            text,
        )


async def _run(conn: Connection, sql: str) -> None:
    await conn.execute(sql)
