"""Finding what journals and snapshots hold, page by page, and replacing it."""

import pytest

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.journal import journal, naming, rewriting
from persistence.journal.naming import EVENTS, FIRST, SNAPSHOTS, Place, Table


async def make(conn: Connection, id: str, *events: bytes) -> None:
    """An actor whose journal holds these events, from 1."""
    await journal.create_head(conn, "thing", id, epoch="e", summary=b"", due_at_ms=None, at_ms=1)
    await conn.execute("UPDATE heads SET seq = $2 WHERE id = $1", id, len(events))
    await conn.executemany(
        "INSERT INTO events VALUES ('thing', $1, $2, 1, $3)",
        [(id, seq, event) for seq, event in enumerate(events, 1)],
    )


async def save(conn: Connection, id: str, seq: int, state: bytes) -> list[bytes]:
    """Save a snapshot; returns those that are kept."""
    await journal.save_snapshot(conn, "thing", id, seq=seq, version=1, state=state)
    return [one.state for one in await journal.read_snapshots(conn, "thing", id)]


async def found(database: Database, table: Table, kind: str = "thing") -> list[list[str]]:
    """The ids on each page."""
    pages: list[list[str]] = []
    place: Place | None = FIRST
    while place is not None:
        ids, place = await database.read(naming.page, table, kind, b"ann", place)
        pages.append(ids)
    return pages


@pytest.mark.parametrize(
    ("rows", "pages"),
    [
        (1, [["a"], [], [], [], [], ["c"], ["c"], []]),
        (2, [["a"], [], ["c"], ["c"]]),
        (3, [["a"], ["c"], ["c"]]),
        (6, [["a", "c"], ["c"]]),
        (7, [["a", "c"], []]),
        (8, [["a", "c"]]),
    ],
)
async def test_each_row_is_on_one_page(database: Database, rows: int, pages: list[list[str]]) -> None:
    await database.transact(make, "a", b"ann", b"ben")
    await database.transact(make, "b", b"ben", b"an", b"")
    await database.transact(make, "c", b"to ann", b"ann")
    table = EVENTS._replace(rows=rows)
    assert await found(database, table) == pages
    assert await found(database, table, "other") == [[]]


async def test_snapshots_are_found(database: Database) -> None:
    for id, state in (("a", b"ann"), ("b", b"ben"), ("c", b"of ann")):
        await database.transact(make, id)
        assert await database.transact(save, id, 0, state) == [state]
    assert await found(database, SNAPSHOTS) == [["a", "c"]]
    assert await found(database, SNAPSHOTS._replace(rows=1)) == [["a"], [], ["c"], []]


async def test_only_what_is_as_it_was_read_is_replaced(database: Database) -> None:
    await database.transact(make, "a", b"ann", b"ben", b"ann")
    await database.transact(make, "b", b"ann")
    changed = {1: (b"ann", b"x"), 2: (b"ann", b"x"), 3: (b"ann", b"longer"), 9: (b"ann", b"x")}
    assert await database.transact(naming.rewrite, "thing", "a", changed) == 2
    rows = await database.read(rewriting.read_at, "thing", "a", [1, 2, 3])
    assert sorted((row.seq, row.event) for row in rows) == [(1, b"x"), (2, b"ben"), (3, b"longer")]
    (other,) = await database.read(rewriting.read_at, "thing", "b", [1])
    assert other.event == b"ann"
    head = await database.read(journal.read_head, "thing", "a")
    assert head is not None
    assert (head.seq, head.journal_bytes) == (3, 0)


async def test_what_is_kept_is_not_counted_too_low(database: Database) -> None:
    await database.transact(make, "a", b"ann")
    await database.transact(naming.rewrite, "thing", "a", {1: (b"ann", b"deleted")})
    head = await database.read(journal.read_head, "thing", "a")
    assert head is not None
    assert head.journal_bytes == len(b"deleted") - len(b"ann")


async def test_snapshots_go_and_none_of_the_same_place_is_saved_any_more(database: Database) -> None:
    """A state may be what it was up to this very event, and hold what was replaced nonetheless."""
    await database.transact(make, "a", b"ben", b"ben")
    assert await database.transact(save, "a", 2, b"ann") == [b"ann"]
    assert await database.transact(naming.rewrite, "thing", "a", {}) == 0
    assert await database.transact(save, "a", 2, b"ann") == []
    assert await database.transact(save, "a", 3, b"deleted") == [b"deleted"]
