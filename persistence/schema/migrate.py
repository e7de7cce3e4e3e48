"""Migrations: numbered SQL files, applied in order, each once, each in a transaction of its own.

Invariants: a file that was applied never changes; its SHA-256 is compared at every start. Several processes
may start at once: each step holds an advisory lock. The files contain no BEGIN or COMMIT and no extension.

A file that begins with `-- expands` only adds: tables, columns that have a default, indexes. A release that does not
know the file starts all the same: while nodes are updated to the next release one by one, a node of the present release
may restart.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Protocol, TypeVar, TypeVarTuple

from persistence.connection import Connection, Unit
from persistence.errors import PersistenceError

Args = TypeVarTuple("Args")
Result = TypeVar("Result")

_LOCK = 0x7061727479  # any number that nobody else uses for an advisory lock in this database

_FILE_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")

_TIMEOUT_SECONDS = 900.0
"""Deadline of one migration, which includes the wait for another process that migrates."""

_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    name       text        PRIMARY KEY,
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    expands    boolean     NOT NULL DEFAULT false
);
ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS expands boolean NOT NULL DEFAULT false;
"""

EXPANDS = "-- expands"


class MigrationChanged(PersistenceError):
    """The database was migrated by other files: one was edited after it was applied, or is missing."""


class MigrationFaulty(PersistenceError):
    """A file in the folder of migrations has a bad name, or the number of another."""


@dataclass(frozen=True)
class Migration:
    """One migration file.

    Args:
        name: the file's name.
        sql: the file's text, one or more statements.
    """

    name: str
    sql: str

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the text, hexadecimal."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def expands(self) -> bool:
        """Whether releases that do not know it can do without it."""
        return self.sql.startswith(EXPANDS)


class Transactor(Protocol):
    """The part of `Database` that migrations need."""

    async def transact(self, unit: Unit[*Args, Result], /, *args: *Args, timeout_seconds: float) -> Result:
        """See `Database.transact`."""
        ...


@cache
def shipped(folder: Traversable | None = None) -> tuple[Migration, ...]:
    """The migrations that come with this version, in order; read once.

    Args:
        folder: where they lie; `persistence/migrations` by default.

    Raises:
        MigrationFaulty: a name is not `0001_some_words.sql`, or a number occurs twice.
    """
    folder = folder or resources.files("persistence") / "migrations"
    found = sorted(
        (
            Migration(file.name, file.read_text("utf-8"))
            for file in folder.iterdir()
            if file.name.endswith(".sql")
        ),
        key=lambda migration: migration.name,
    )
    numbers: set[str] = set()
    for migration in found:
        match = _FILE_NAME.fullmatch(migration.name)
        if match is None:
            raise MigrationFaulty(f"migration {migration.name} is not named like 0001_some_words.sql")
        if match[1] in numbers:
            raise MigrationFaulty(f"two migrations have the number {match[1]}")
        numbers.add(match[1])
    return tuple(found)


async def migrate(database: Transactor, migrations: tuple[Migration, ...] | None = None) -> tuple[str, ...]:
    """Bring the database up to this version; returns the names of the files that were applied now.

    Args:
        database: an open `Database`.
        migrations: all of them, in order; `shipped()` by default.

    Raises:
        MigrationChanged: the database was migrated by other files; the message says in one line which, and what to do.
        RowsRejected, DatabaseUnavailable: a file failed and was undone; the files before it stay applied.
    """
    migrations = shipped() if migrations is None else migrations
    applied: list[str] = []
    while (name := await database.transact(_step, migrations, timeout_seconds=_TIMEOUT_SECONDS)) is not None:
        applied.append(name)
    return tuple(applied)


async def unapplied(conn: Connection, migrations: tuple[Migration, ...] | None = None) -> tuple[str, ...]:
    """The names of migrations that the database lacks, in order; `/ready` asks for them."""
    migrations = shipped() if migrations is None else migrations
    done = await read_applied(conn)
    return tuple(migration.name for migration in migrations if migration.name not in done)


async def read_applied(conn: Connection) -> dict[str, str]:
    """{name: SHA-256} of the migrations that a database has; empty for a new one."""
    if await conn.fetchval("SELECT to_regclass('schema_migrations')") is None:
        return {}
    rows = await conn.fetch("SELECT name, checksum FROM schema_migrations")
    return {row["name"]: row["checksum"] for row in rows}


def check_known(applied: Mapping[str, str], migrations: tuple[Migration, ...] | None = None) -> None:
    """Refuse a database that was migrated by other files than these.

    Args:
        applied: {name: SHA-256} of the migrations that the database has.
        migrations: the migrations that this version knows; `shipped()` by default.

    Raises:
        MigrationChanged: the database was migrated by other files; the message says in one line which, and what to do.
    """
    migrations = shipped() if migrations is None else migrations
    known = {migration.name: migration.checksum for migration in migrations}
    for name in sorted(applied):
        if name not in known:
            raise MigrationChanged(
                f"the database has migration {name}, which this version does not know; start a newer version"
            )
        if known[name] != applied[name]:
            raise MigrationChanged(
                f"migration {name} was changed after it was applied; restore it, and write a new file"
            )


async def _read_expanding(conn: Connection) -> frozenset[str]:
    """The names of migrations without which other releases can do; the column came after the table."""
    rows = await conn.fetch(
        "SELECT name FROM schema_migrations AS row WHERE (to_jsonb(row) ->> 'expands')::boolean"
    )
    return frozenset(row["name"] for row in rows)


async def _step(conn: Connection, migrations: tuple[Migration, ...]) -> str | None:
    """Apply the first migration that is missing; its name, or None when none is."""
    # The bridge bounds every statement by seconds; building an index over years of messages takes longer.
    await conn.execute("SET LOCAL statement_timeout = 0")
    await conn.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
    applied = await read_applied(conn)
    if unknown := applied.keys() - {migration.name for migration in migrations}:
        for name in unknown & await _read_expanding(conn):
            del applied[name]
    check_known(applied, migrations)
    for migration in migrations:
        if migration.name not in applied:
            await conn.execute(_TABLE)
            await conn.execute(migration.sql)
            await conn.execute(
                "INSERT INTO schema_migrations (name, checksum, expands) VALUES ($1, $2, $3)",
                migration.name,
                migration.checksum,
                migration.expands,
            )
            return migration.name
    return None
