"""PostgreSQL's programs while somebody holds what they need: they end when asked, and pg_dump by itself in
the end."""

from collections.abc import Callable
from functools import partial

import pytest
import trio

from persistence.backup import programs
from persistence.backup.faults import BackupFault
from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.schema.checks import read_major
from tests.support.database import run_sql, with_database
from tests.support.locks import held_up
from tests.support.waiting import PATIENCE_SECONDS


class Ended(Exception):
    """The command that runs the program was asked to end."""


def go_on() -> None:
    """A check of a command that was not asked to end."""


def end() -> None:
    """A check of a command that was asked to end."""
    raise Ended


async def program(database: Database, name: str) -> programs.Program:
    return programs.find_program(name, at_least=await database.read(read_major), pg_bin=None)


async def while_held(database: Database, statement: str, run: Callable[[], None]) -> None:
    """Run a function that blocks, and waits for what a transaction holds that has executed a statement."""
    has_ended = trio.Event()

    async def hold(conn: Connection) -> None:
        await conn.execute(statement)

    async def running() -> None:
        await trio.to_thread.run_sync(run, abandon_on_cancel=True)
        has_ended.set()

    await held_up(database, hold, running, has_ended.wait)


def dumping(dumps: programs.Program, dsn: str, check: Callable[[], None], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        list(programs.dump(dumps, dsn, check))


async def test_a_dump_that_waits_ends_when_asked(database: Database, database_url: str) -> None:
    dumps = await program(database, "pg_dump")
    run = partial(dumping, dumps, database_url, end, Ended)
    await while_held(database, "LOCK TABLE messages IN ACCESS EXCLUSIVE MODE", run)


async def test_a_dump_that_waits_too_long_is_given_up(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "SILENT_SECONDS", 1.0)
    dumps = await program(database, "pg_dump")
    run = partial(dumping, dumps, database_url, go_on, BackupFault)
    await while_held(database, "LOCK TABLE messages IN ACCESS EXCLUSIVE MODE", run)


async def test_filling_a_database_that_waits_ends_when_asked(
    postgres_server: str, database: Database, database_url: str
) -> None:
    dumped = b"".join(programs.dump(await program(database, "pg_dump"), database_url, go_on))
    fills = await program(database, "pg_restore")
    run_sql(postgres_server, "CREATE DATABASE filled TEMPLATE template0")
    filled_url = with_database(postgres_server, "filled")

    def run() -> None:
        with pytest.raises(Ended), programs.filling(fills, filled_url, end) as filling:
            filling.write(dumped)
            filling.finish()

    try:
        async with open_database(filled_url, timeout_seconds=PATIENCE_SECONDS) as filled:
            # PostgreSQL waits to see whether the table is there when pg_restore comes to it.
            await while_held(filled, "CREATE TABLE users (id text)", run)
    finally:
        run_sql(postgres_server, "DROP DATABASE filled WITH (FORCE)")
