"""Migrations: each once, in order, whole, by one process at a time; a changed file stops the start."""

import re
from pathlib import Path

import pytest
import trio

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.errors import RowsRejected
from persistence.schema.migrate import (
    EXPANDS,
    Migration,
    MigrationChanged,
    MigrationFaulty,
    migrate,
    shipped,
    unapplied,
)
from tests.support.waiting import PATIENCE_SECONDS

FIRST = Migration("0001_one.sql", "CREATE TABLE one (n integer); INSERT INTO one VALUES (1);")
SECOND = Migration("0002_two.sql", "CREATE TABLE two AS SELECT n FROM one;")
EXPANDING = Migration(
    "0003_more.sql", f"{EXPANDS}\nALTER TABLE one ADD COLUMN more boolean NOT NULL DEFAULT false;"
)
FAULTY = Migration("0003_faulty.sql", "CREATE TABLE three (n integer); SELECT * FROM nowhere;")


async def tables(conn: Connection) -> set[str]:
    rows = await conn.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {row["tablename"] for row in rows}


async def test_each_is_applied_once_in_order(empty: Database) -> None:
    assert await empty.read(unapplied, (FIRST, SECOND)) == ("0001_one.sql", "0002_two.sql")
    assert await migrate(empty, (FIRST,)) == ("0001_one.sql",)
    assert await empty.read(unapplied, (FIRST, SECOND)) == ("0002_two.sql",)
    assert await migrate(empty, (FIRST, SECOND)) == ("0002_two.sql",)
    assert await migrate(empty, (FIRST, SECOND)) == ()
    assert await empty.read(tables) == {"one", "two", "schema_migrations"}


async def test_a_changed_file_stops_with_one_clear_line(empty: Database) -> None:
    await migrate(empty, (FIRST,))
    edited = Migration(FIRST.name, FIRST.sql + "-- edited")
    with pytest.raises(
        MigrationChanged, match=r"^migration 0001_one\.sql was changed after it was applied; [^\n]+$"
    ):
        await migrate(empty, (edited, SECOND))
    assert await empty.read(tables) == {"one", "schema_migrations"}


async def test_a_database_of_a_newer_version_stops_the_start(empty: Database) -> None:
    await migrate(empty, (FIRST, SECOND))
    with pytest.raises(MigrationChanged, match=r"0002_two\.sql, which this version does not know"):
        await migrate(empty, (FIRST,))


async def test_a_database_of_a_newer_version_that_only_expands_it_is_taken(empty: Database) -> None:
    """Also where the table is of before migrations could say so."""
    await migrate(empty, (FIRST,))
    await empty.transact(_forget_the_column)
    assert await migrate(empty, (FIRST,)) == ()
    assert await migrate(empty, (FIRST, EXPANDING)) == (EXPANDING.name,)
    assert await migrate(empty, (FIRST,)) == ()
    assert await migrate(empty, (FIRST, SECOND, EXPANDING)) == (SECOND.name,)
    with pytest.raises(MigrationChanged, match=r"0002_two\.sql, which this version does not know"):
        await migrate(empty, (FIRST,))


async def _forget_the_column(conn: Connection) -> None:
    await conn.execute("ALTER TABLE schema_migrations DROP COLUMN expands")


def test_what_expands_takes_nothing_away() -> None:
    """Nor does it demand of a row what the release before does not write.

    Rows of a new table may go with those that they refer to (`ON DELETE CASCADE`): that hinders nobody. Nor does what
    happens before a row is deleted (`BEFORE DELETE`).
    """
    taken = re.compile(
        r"\b(DROP|RENAME|(?<!ON )(?<!BEFORE )DELETE|TRUNCATE|SET NOT NULL|ALTER COLUMN|CREATE UNIQUE INDEX)\b",
        re.IGNORECASE,
    )
    bare = re.compile(r"\bADD COLUMN\b[^,;]*\bNOT NULL\b(?![^,;]*\bDEFAULT\b)", re.IGNORECASE)
    for migration in (*shipped(), EXPANDING):
        if migration.expands:
            assert not taken.search(migration.sql), migration.name
            assert not bare.search(migration.sql), migration.name


async def test_a_file_that_fails_leaves_nothing_behind(empty: Database) -> None:
    with pytest.raises(RowsRejected):
        await migrate(empty, (FIRST, SECOND, FAULTY))
    assert await empty.read(tables) == {"one", "two", "schema_migrations"}
    repaired = Migration(FAULTY.name, "CREATE TABLE three (n integer);")
    assert await migrate(empty, (FIRST, SECOND, repaired)) == (FAULTY.name,)


async def test_several_processes_may_start_at_once(empty: Database, database_url: str) -> None:
    applied: list[str] = []

    async def start() -> None:
        async with open_database(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
            applied.extend(await migrate(database, (FIRST, SECOND)))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(start)
    assert sorted(applied) == ["0001_one.sql", "0002_two.sql"]


async def test_a_migration_may_take_longer_than_a_request(empty: Database, database_url: str) -> None:
    slow = Migration("0001_slow.sql", "SELECT pg_sleep(1.2);")
    async with open_database(database_url, timeout_seconds=1.0) as database:
        assert await migrate(database, (slow,)) == ("0001_slow.sql",)


async def test_the_shipped_ones_are_all_in_the_template(database: Database) -> None:
    assert shipped()
    assert await database.read(unapplied) == ()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("0001_one.sql", "0001_two.sql"), "two migrations have the number 0001"),
        (("one.sql",), "one.sql is not named like"),
    ],
)
def test_names_are_checked(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    for name in (*names, "README.md"):
        (tmp_path / name).write_text("")
    with pytest.raises(MigrationFaulty, match=message):
        shipped(tmp_path)
