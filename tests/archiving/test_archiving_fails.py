"""An archive that cannot be written to is told, and PostgreSQL goes on."""

import re
from functools import partial
from pathlib import Path

import pytest
import trio

from persistence.archiving.files import free_bytes
from persistence.bridge.database import open_database
from persistence.connection import Connection
from persistence.embedded.postgres import embedded_postgres
from persistence.schema.checks import read_failed_archiving
from persistence.schema.migrate import migrate
from routes.cli.doctor import examine
from routes.config.config import read_config
from routes.disk import Disk
from tests.support.disks import fill, small_disk
from tests.support.process import reachable_directory
from tests.support.waiting import wait_until

WRITES = 3


@pytest.mark.slow
async def test_an_archive_that_is_away_is_told_until_it_is_back() -> None:
    with reachable_directory() as place:
        archive = place / "archive"
        async with (
            embedded_postgres(place / "data", wal_dir=archive) as dsn,
            open_database(dsn) as database,
        ):

            async def looks(failed: bool) -> bool:
                return (await database.read(read_failed_archiving) is not None) is failed

            aside = archive.with_name("aside")
            await trio.to_thread.run_sync((archive / "wal").rename, aside)
            await database.read(_close_segment)
            await wait_until(lambda: looks(True))
            await trio.to_thread.run_sync(aside.rename, archive / "wal")
            await database.read(_close_segment)
            await wait_until(lambda: looks(False))
            assert await trio.to_thread.run_sync(_segments, archive)


@pytest.mark.slow
async def test_a_full_archive_is_told_and_the_database_goes_on_meanwhile() -> None:
    with reachable_directory() as place, small_disk(place / "archive") as archive:
        config = read_config({"PARTYLINE_DATA_DIR": str(place / "data"), "PARTYLINE_WAL_DIR": str(archive)})
        async with embedded_postgres(config.data_dir, wal_dir=archive) as dsn, open_database(dsn) as database:
            disk = Disk()

            async def looks(failed: bool) -> bool:
                await disk.look(database, archive=archive)
                return disk.is_archiving_failed is failed

            await migrate(database)
            await trio.to_thread.run_sync(fill, archive / "ballast")
            assert free_bytes(archive) == 0
            await database.read(_close_segment)
            await wait_until(lambda: looks(True))
            for _ in range(WRITES):
                await database.transact(_close_segment)
            [finding] = [one async for one in examine(config) if one.about == "archive"]
            assert re.search(r"whose disk is full \(0 bytes are left\), as was last tried at 2", finding.says)
            log = (config.data_dir / "postgres" / "postgres.log").read_text()
            assert "No space left on device" in log
            (archive / "ballast").unlink()
            assert free_bytes(archive) > 0
            await database.read(_close_segment)
            await wait_until(lambda: looks(False))
            await wait_until(partial(_has, archive, WRITES + 2))
            closed = [int(path.name[8:24], 16) for path in sorted(_segments(archive))]
            assert closed == list(range(closed[0], closed[0] + len(closed)))


async def _has(archive: Path, segments: int) -> bool:
    return len(_segments(archive)) >= segments


async def _close_segment(conn: Connection) -> None:
    await conn.fetchval("SELECT pg_logical_emit_message(false, 'test', 'x')")
    await conn.fetchval("SELECT pg_switch_wal()")


def _segments(archive: Path) -> list[Path]:
    return list((archive / "wal").glob("*.gz"))
