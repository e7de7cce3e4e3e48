"""A journal is bounded in bytes as well: what is counted, trimmed, and read for those who were away."""

from collections.abc import AsyncIterator

import pytest
import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.journal import history, journal
from tests.support.turns import KIND, a_turn, commit, make_things, read_journal


@pytest.fixture
async def things(database: Database) -> AsyncIterator[Database]:
    await database.transact(make_things, ["a", "b"])
    yield database


async def _trim(conn: Connection, bytes_max: int) -> int:
    return await journal.trim(conn, KIND, "a", bytes_max=bytes_max)


async def _counted(things: Database) -> int:
    head = await things.read(journal.read_head, KIND, "a")
    assert head is not None
    return head.journal_bytes


async def _fill(things: Database, count: int, bytes_each: int = 10) -> None:
    for seq in range(count):
        assert await commit(things, a_turn("a", "x" * bytes_each, seq=seq)) == {"a": ["ok"]}


async def test_a_head_counts_the_bytes_of_its_journal(things: Database) -> None:
    await _fill(things, 3)
    await commit(things, a_turn("b", "other"))
    assert await _counted(things) == 30


async def test_no_journal_keeps_more_bytes_than_it_may(things: Database) -> None:
    await _fill(things, 10)
    assert await things.transact(_trim, 45) == 40
    assert [seq for seq, _ in await things.read(read_journal, "a")] == [7, 8, 9, 10]
    assert await _counted(things) == 40
    assert await things.transact(_trim, 45) == 40
    # The next turn goes on from there.
    assert await commit(things, a_turn("a", "y" * 5, seq=10)) == {"a": ["ok"]}
    assert await _counted(things) == 45


async def test_trimming_counts_what_was_pruned_by_age(things: Database) -> None:
    await _fill(things, 5)
    await things.transact(lambda conn: conn.execute("DELETE FROM events WHERE seq <= 2"))
    assert await things.transact(_trim, 1_000) == 30


async def test_trimming_misses_no_turn_that_is_committed_meanwhile(things: Database) -> None:
    await _fill(things, 10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(things.transact, _trim, 45)
        nursery.start_soon(commit, things, a_turn("a", "z" * 7, seq=10))
    kept = await things.read(read_journal, "a")
    assert kept[-1] == (11, b"z" * 7)
    assert await _counted(things) == sum(len(event) for _, event in kept)


@pytest.mark.parametrize(
    ("limit", "bytes_max", "after", "seqs"),
    [
        (10, 100, 0, [1, 2, 3, 4, 5]),
        (5, 50, 0, [1, 2, 3, 4, 5]),
        (4, 100, 0, None),
        (4, 40, 1, [2, 3, 4, 5]),
        (10, 49, 0, None),
        (10, 0, 0, None),
        (10, 0, 5, []),
    ],
)
async def test_what_was_missed_is_read_within_its_bounds_or_not_at_all(
    things: Database, limit: int, bytes_max: int, after: int, seqs: list[int] | None
) -> None:
    await _fill(things, 5)

    async def read(conn: Connection) -> list[int] | None:
        rows = await journal.read_events_within(
            conn, KIND, "a", after=after, limit=limit, bytes_max=bytes_max
        )
        return None if rows is None else [row.seq for row in rows]

    assert await things.read(read) == seqs


async def test_sizes_are_known(database: Database) -> None:
    assert all(size > 0 for size in await database.read(history.sizes))
