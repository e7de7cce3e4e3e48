"""Units of work whose transaction collides with another one are run again, a few times."""

import asyncio

import pytest
import trio

from persistence.bridge.database import Database
from persistence.bridge.units import RUNS_MAX
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable, OutcomeUnknown


async def make_table(conn: Connection) -> None:
    await conn.execute("CREATE TABLE words (word text PRIMARY KEY)")


async def add(conn: Connection, word: str) -> str:
    await conn.execute("INSERT INTO words VALUES ($1)", word)
    return word


async def words(conn: Connection) -> list[str]:
    return [row["word"] for row in await conn.fetch("SELECT word FROM words ORDER BY word")]


@pytest.fixture
async def table(database: Database) -> Database:
    await database.transact(make_table)
    return database


async def test_both_of_two_that_meet_in_a_deadlock_are_done(table: Database) -> None:
    for word in ("one", "two"):
        await table.transact(add, word)
    met = asyncio.Barrier(2)
    runs: list[str] = []

    async def lock(conn: Connection, first: str, second: str) -> None:
        runs.append(first)
        await conn.execute("UPDATE words SET word = word WHERE word = $1", first)
        if len(runs) <= 2:
            await met.wait()
        await conn.execute("UPDATE words SET word = word || '!' WHERE word = $1", second)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(table.transact, lock, "one", "two")
        nursery.start_soon(table.transact, lock, "two", "one")
    assert table.statistics().collisions == len(runs) - 2 > 0  # whoever was undone has run once more
    assert await table.read(words) in (["one!", "two"], ["one", "two!"], ["one!", "two!"])


async def test_a_unit_that_always_collides_is_given_up(table: Database) -> None:
    runs: list[str] = []

    async def collide(conn: Connection) -> None:
        runs.append(await add(conn, "one"))
        await conn.execute("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$")

    with pytest.raises(DatabaseUnavailable) as caught:
        await table.transact(collide)
    assert not isinstance(caught.value, OutcomeUnknown)
    assert len(runs) == RUNS_MAX
    assert await table.read(words) == []


async def test_a_collision_at_commit_is_run_again(table: Database) -> None:
    """PostgreSQL has answered COMMIT with an error, so the outcome is known."""
    runs: list[str] = []

    async def collide(conn: Connection) -> None:
        runs.append(await add(conn, f"run {len(runs)}"))

    await table.transact(_refuse_first_run)
    await table.transact(collide)
    assert await table.read(words) == ["run 1"]


async def _refuse_first_run(conn: Connection) -> None:
    await conn.execute(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$
        """
    )
    await conn.execute(
        """
        CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON words DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.word = 'run 0') EXECUTE FUNCTION refuse()
        """
    )
