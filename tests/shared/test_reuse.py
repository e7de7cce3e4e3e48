"""The database that goes from test to test: what one leaves in it, the next does not find."""

import asyncio
from collections.abc import Iterator

import asyncpg
import pytest

from tests.support.database import cloned_database
from tests.support.reuse import Reuse


@pytest.fixture
def lent(postgres_server: str) -> Iterator[tuple[Reuse, list[str]]]:
    """Two databases to lend in turn, and the addresses of those that were dropped."""
    dropped: list[str] = []
    with cloned_database(postgres_server) as one, cloned_database(postgres_server) as other:
        reuse = Reuse(iter((one, other)).__next__, dropped.append)
        yield reuse, dropped
        reuse.close()


def ask(url: str, sql: str) -> object:
    async def run() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    return asyncio.run(run())


ROWS = "SELECT (SELECT count(*) FROM users), (SELECT sum(number) FROM cape_counts), (SELECT total FROM totem_gallery)"
END_ALL = """
SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
REPORT = """
INSERT INTO reports (id, reporter_id, target_id, created_at_ms) VALUES (repeat('a', 24), '', '', 0) RETURNING seq
"""


def test_rows_and_numbers_begin_anew(lent: tuple[Reuse, list[str]]) -> None:
    reuse, dropped = lent
    with reuse.lend() as first:
        before = [ask(first, f"SELECT row_to_json(r)::text FROM ({ROWS}) r"), ask(first, REPORT)]
        ask(first, "UPDATE totem_gallery SET total = 7")
        ask(first, "DELETE FROM cape_counts")
    with reuse.lend() as second:
        after = [ask(second, f"SELECT row_to_json(r)::text FROM ({ROWS}) r"), ask(second, REPORT)]
        assert (second, after, dropped) == (first, before, [])


GAMES = "SELECT string_agg(game_id || ' ' || name, ', ' ORDER BY game_id) FROM games"


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO games SELECT 'more', 'More', modes FROM games LIMIT 1",
        "UPDATE games SET name = 'Other'",
        "DELETE FROM games",
        "TRUNCATE games",
    ],
)
def test_rows_from_the_beginning_come_back_each_time(lent: tuple[Reuse, list[str]], change: str) -> None:
    reuse, dropped = lent
    found = []
    for _ in range(3):
        with reuse.lend() as url:
            found.append(ask(url, GAMES))
            ask(url, change)
            assert ask(url, GAMES) != found[0]
    assert (found, dropped) == (found[:1] * 3, [])


def test_rows_that_nobody_has_touched_are_left_as_they_are(lent: tuple[Reuse, list[str]]) -> None:
    reuse, _ = lent
    written = "SELECT string_agg(DISTINCT xmin::text, ' ') FROM games"
    with reuse.lend():
        pass  # whether the catalogs have changed is known from the second time on
    with reuse.lend() as url:
        first = ask(url, written)
        ask(url, REPORT)
    with reuse.lend() as url:
        assert ask(url, written) == first
        ask(url, "UPDATE games SET name = name")
    with reuse.lend() as url:
        restored = ask(url, written)
    with reuse.lend() as url:
        assert first != restored == ask(url, written)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE users ADD COLUMN more text",
        "ALTER TABLE users DROP COLUMN home_region",
        "ALTER TABLE reports ALTER COLUMN reason TYPE varchar",
        "DROP INDEX reports_by_status",
        "CREATE INDEX more ON users (name)",
        "ALTER TABLE reports DROP CONSTRAINT reports_status_check",
        "CREATE FUNCTION more() RETURNS integer LANGUAGE sql RETURN 1",
        "ALTER TABLE totem_models DISABLE TRIGGER ALL",
        "DELETE FROM schema_migrations",
    ],
)
def test_what_has_another_shape_is_dropped(lent: tuple[Reuse, list[str]], change: str) -> None:
    reuse, dropped = lent
    with reuse.lend() as first:
        ask(first, change)
    with reuse.lend() as second:
        assert (dropped, second != first) == ([first], True)


def test_a_table_that_is_new_is_taken_away(lent: tuple[Reuse, list[str]]) -> None:
    reuse, dropped = lent
    with reuse.lend() as first:
        ask(first, "CREATE TABLE more (id text)")
        ask(first, "CREATE TABLE still_more (LIKE more)")
    with reuse.lend() as second:
        found = ask(second, "SELECT count(*) FROM pg_class WHERE relname LIKE '%more'")
        assert (second, found, dropped) == (first, 0, [])


def test_a_connection_that_was_ended_is_opened_anew(lent: tuple[Reuse, list[str]]) -> None:
    reuse, dropped = lent
    with reuse.lend() as first:
        ask(first, END_ALL)
    with reuse.lend() as second:
        assert (second, dropped) == (first, [])


def test_who_is_still_connected_is_ended(lent: tuple[Reuse, list[str]]) -> None:
    reuse, _ = lent
    with asyncio.Runner() as runner:
        with reuse.lend() as url:
            connection = runner.run(asyncpg.connect(url))
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            runner.run(connection.fetchval("SELECT 1"))


def test_a_second_borrower_has_one_of_their_own(lent: tuple[Reuse, list[str]]) -> None:
    reuse, dropped = lent
    with reuse.lend() as first, reuse.lend() as second:
        assert first != second
    assert dropped == [first]
