"""Heads, events, snapshots and deadlines."""

from collections.abc import Collection
from functools import partial

import pytest

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import RowsRejected
from persistence.journal import history, journal, rewriting
from persistence.nodes.shards import SHARDS, shard_of

DAY_MS = 24 * 3600 * 1000


async def make_heads(conn: Connection, *heads: tuple[str, int | None]) -> None:
    for id, due_at_ms in heads:
        await journal.create_head(
            conn, "thing", id, epoch=f"epoch of {id}", summary=id.encode(), due_at_ms=due_at_ms, at_ms=1
        )


async def fill(conn: Connection, id: str, count: int, at_ms: int) -> None:
    """An actor with so many events, decided a millisecond apart, the last at `at_ms`."""
    await make_heads(conn, (id, None))
    await conn.execute("UPDATE heads SET seq = $2 WHERE id = $1", id, count)
    await conn.execute(
        "INSERT INTO events SELECT 'thing', $1, seq, $3::bigint - ($2 - seq), '' "
        "FROM generate_series(1, $2::bigint) AS seq",
        id, count, at_ms,
    )  # fmt: skip


async def kept(conn: Connection, id: str) -> tuple[int, int]:
    """(how many, the oldest)."""
    row = await conn.fetchrow("SELECT count(*), min(seq) FROM events WHERE id = $1", id)
    assert row is not None
    return row[0], row[1]


async def test_a_head_is_made_once(database: Database) -> None:
    assert await database.read(journal.read_head, "thing", "a") is None
    await database.transact(make_heads, ("a", 5))
    assert await database.read(journal.read_head, "thing", "a") == journal.Head(
        0, 0, "epoch of a", 5, b"a", 0, 1
    )
    assert await database.read(journal.read_head, "other", "a") is None
    with pytest.raises(RowsRejected):
        await database.transact(make_heads, ("a", None))


async def test_events_are_read_in_order_from_an_offset(database: Database) -> None:
    await database.transact(fill, "a", 10, 1_010)

    async def read(conn: Connection, after: int, limit: int) -> list[int]:
        return [row.seq for row in await journal.read_events(conn, "thing", "a", after=after, limit=limit)]

    assert await database.read(read, 0, 100) == list(range(1, 11))
    assert await database.read(read, 4, 3) == [5, 6, 7]
    assert await database.read(read, 10, 3) == []
    assert await database.read(journal.oldest_seq, "thing", "a") == 1
    assert await database.read(journal.oldest_seq, "thing", "b") == 0


async def test_offsets_come_in_their_order_wherever_the_rows_lie(database: Database) -> None:
    """They become part of an event, which has to be the same on a database whose rows lie as they were put back."""

    async def written(conn: Connection) -> None:
        await conn.execute("SET LOCAL enable_indexscan = off")
        await conn.execute("SET LOCAL enable_bitmapscan = off")
        await conn.executemany(
            "INSERT INTO events VALUES ('thing', 'a', $1, 1, 'of x')", [(seq,) for seq in (3, 1, 5, 2, 4)]
        )
        assert await rewriting.offsets_holding(conn, "thing", "a", b"x", since=2, limit=9) == (2, 3, 4, 5)
        assert await rewriting.offsets_holding(conn, "thing", "a", b"x", since=2, limit=3) == (3, 4, 5)

    await database.transact(written)


async def test_who_is_due(database: Database) -> None:
    await database.transact(
        make_heads, ("late", 10), ("never", None), ("latest", 5), ("now", 20), ("soon", 21)
    )

    async def due(conn: Connection, limit: int, shards: Collection[int] = range(SHARDS)) -> list[str]:
        return [id for _, id in await journal.due(conn, shards=shards, before_ms=20, limit=limit)]

    assert await database.read(due, 9) == ["latest", "late", "now"]
    assert await database.read(due, 1) == ["latest"]
    others = set(range(SHARDS)) - {shard_of("thing", "latest")}
    assert await database.read(due, 1, others) == ["late"]
    assert await database.read(due, 9, ()) == []


@pytest.mark.parametrize(
    ("count", "age_days", "left"),
    [
        (1_000, 30, 1_000),  # the newest 1,000, however old
        (1_500, 30, 1_000),
        (1_500, 1, 1_500),  # younger than 7 days
        (12_000, 1, 10_000),  # but never more than 10,000
        (12_000, 30, 1_000),
    ],
)
async def test_old_events_are_forgotten(database: Database, count: int, age_days: int, left: int) -> None:
    now_ms = 100 * DAY_MS
    await database.transact(fill, "a", count, now_ms - age_days * DAY_MS)
    await database.transact(fill, "b", 10, 0)

    prune = partial(history.prune, now_ms=now_ms)
    place: tuple[str, str] | None = ("", "")
    runs = 0
    while place is not None:
        place = await database.transact(prune, place, 4_000)
        runs += 1
    assert runs == (count - left) // 4_000 + 1
    assert await database.read(kept, "a") == (left, count - left + 1)
    assert await database.read(kept, "b") == (10, 1)


async def save(conn: Connection, seq: int, state: bytes = b"state", version: int = 1) -> None:
    await journal.save_snapshot(conn, "thing", "a", seq=seq, version=version, state=state)


async def read(conn: Connection) -> list[journal.Snapshot]:
    return await journal.read_snapshots(conn, "thing", "a")


async def make_head(conn: Connection) -> None:
    await journal.create_head(conn, "thing", "a", epoch="e", summary=b"", due_at_ms=None, at_ms=1)


async def test_two_snapshots_are_kept_the_newest_first(database: Database) -> None:
    await database.read(make_head)
    assert await database.read(read) == []
    for seq in (5, 9, 12, 12, 30):
        await database.read(save, seq)
    assert [snapshot.seq for snapshot in await database.read(read)] == [30, 12]
    await database.read(save, 30, b"again", 2)
    assert await database.read(read) == [journal.Snapshot(30, 2, b"again"), journal.Snapshot(12, 1, b"state")]


async def test_of_an_actor_that_is_no_more_no_snapshot_is_kept(database: Database) -> None:
    await database.read(save, 5)
    assert await database.read(read) == []


async def test_no_snapshot_is_kept_from_before_its_history_was_rewritten(database: Database) -> None:
    async def move(conn: Connection, seq: int) -> None:
        await conn.execute("UPDATE heads SET seq = $1", seq)

    async def rewrite(conn: Connection) -> None:
        await rewriting.rewrite_events(conn, "thing", "a", {})

    await database.read(make_head)
    await database.read(save, 5)
    await database.read(move, 9)
    await database.transact(rewrite)
    assert await database.read(read) == []
    await database.read(save, 8)
    assert await database.read(read) == []
    await database.read(save, 9)
    assert [snapshot.seq for snapshot in await database.read(read)] == [9]


async def test_a_snapshot_with_any_byte_flipped_is_never_returned(database: Database) -> None:
    """Every byte of the state and of the other columns, one by one; the snapshot before takes its place."""
    state = bytes(range(256))
    await database.read(make_head)
    await database.read(save, 5)
    await database.read(save, 9, state)
    older = journal.Snapshot(5, 1, b"state")
    assert await database.read(read) == [journal.Snapshot(9, 1, state), older]

    async def read_damaged(conn: Connection, damage: str, place: int) -> list[journal.Snapshot]:
        await conn.execute("BEGIN")
        await conn.execute(f"UPDATE snapshots SET {damage} WHERE id = 'a' AND seq = 9", place)
        found = await read(conn)
        await conn.execute("ROLLBACK")
        return found

    for place in range(len(state)):
        flipped = "state = set_byte(state, $1::integer, get_byte(state, $1::integer) # 255)"
        assert await database.read(read_damaged, flipped, place) == [older]
    for place in range(8):
        for damage in (
            "seq = seq # (1::bigint << ($1::integer * 8))",
            "crc = crc # (1::bigint << ($1::integer * 8))",
        ):
            found = await database.read(read_damaged, damage, place)
            assert older in found
            assert all(snapshot == older for snapshot in found)
    for place in range(4):
        damage = "version = version # (1 << ($1::integer * 8))"
        assert await database.read(read_damaged, damage, place) == [older]
    for damage in (
        "state = substring(state FROM $1::integer)",
        "state = state || substring(state FOR $1::integer)",
    ):
        assert await database.read(read_damaged, damage, 2) == [older]


async def test_a_snapshot_of_another_actor_is_not_believed(database: Database) -> None:
    await database.read(save, 9)

    async def move(conn: Connection, column: str) -> None:
        await conn.execute(f"UPDATE snapshots SET {column} = $1", "moved")

    for column, kind, id in (("id", "thing", "moved"), ("kind", "moved", "moved")):
        await database.read(move, column)
        assert await database.read(journal.read_snapshots, kind, id) == []
