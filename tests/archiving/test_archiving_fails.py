"""An archive that cannot be written to is told, and PostgreSQL goes on."""

from pathlib import Path

import pytest
import trio

from persistence.bridge.database import open_database
from persistence.connection import Connection
from persistence.embedded.postgres import embedded_postgres
from persistence.schema.checks import read_failed_archiving
from tests.support.process import reachable_directory
from tests.support.waiting import wait_until


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


async def _close_segment(conn: Connection) -> None:
    await conn.fetchval("SELECT pg_logical_emit_message(false, 'test', 'x')")
    await conn.fetchval("SELECT pg_switch_wal()")


def _segments(archive: Path) -> list[Path]:
    return list((archive / "wal").glob("*.gz"))
