"""An embedded database moves to a newer major version of PostgreSQL, whole, and never in part."""

from pathlib import Path

import pytest

from persistence.bridge.database import open_database
from persistence.connection import Connection
from persistence.embedded.binaries import NoPostgres
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.postgres import choose_home, embedded_postgres
from routes.cli.doctor import examine
from routes.cli.faults import CommandFault
from routes.cli.finding import Finding
from routes.cli.upgrade import upgrade_database
from routes.config.config import Config, read_config
from tests.support.embedded import older
from tests.support.process import reachable_directory


def config_of(folder: Path, **more: str) -> Config:
    return read_config({"PARTYLINE_DATA_DIR": str(folder), "PARTYLINE_BIND": "127.0.0.1:0", **more})


async def database_finding(config: Config) -> Finding:
    (finding,) = [one async for one in examine(config) if one.about == "database"]
    return finding


async def write(conn: Connection) -> None:
    await conn.execute("CREATE TABLE kept (word text, data bytea)")
    await conn.execute("INSERT INTO kept SELECT 'Grüße', decode('00ff', 'hex') FROM generate_series(1, 1000)")


async def look(conn: Connection) -> tuple[str, int]:
    rows = await conn.fetch("SELECT DISTINCT word, data, count(*) OVER () AS many FROM kept")
    (row,) = rows
    assert (row["word"], row["data"]) == ("Grüße", b"\x00\xff")
    return str(await conn.fetchval("SELECT current_setting('server_version')")), row["many"]


@pytest.mark.drill
async def test_a_database_moves_with_everything() -> None:
    old = older()
    with reachable_directory() as folder:
        async with embedded_postgres(folder, pg_bin=old) as dsn, open_database(dsn) as database:
            await database.transact(write)
        finding = await database_finding(config_of(folder))
        assert "partyline upgrade-database" in str(finding)
        assert not finding.ill
        home, _ = choose_home(folder)
        moved = await upgrade_database(config_of(folder), None)
        assert moved.startswith("moved from PostgreSQL ")
        async with embedded_postgres(folder) as dsn, open_database(dsn) as database:
            version, many = await database.read(look)
        assert many == 1000
        assert f" to {version.partition('.')[0]};" in moved
        again = await upgrade_database(config_of(folder), None)
        assert "no newer one was found" in again
        await _finished_after_an_interruption(folder, home, moved)
        # The way back.
        (left,) = home.glob("data-*")
        (home / "data").rename(home / "newer")
        left.rename(home / "data")
        async with embedded_postgres(folder, pg_bin=old) as dsn, open_database(dsn) as database:
            assert (await database.read(look))[1] == 1000
        (home / "data" / "PG_VERSION").write_text("9\n")
        gone = await database_finding(config_of(folder))
        assert gone.ill
        assert "--old-bin" in str(gone)
        with pytest.raises(NoPostgres, match="version 9, which made this cluster"):
            await upgrade_database(config_of(folder), None)


async def _finished_after_an_interruption(folder: Path, home: Path, moved: str) -> None:
    """The moment between the two renames: no server starts, and the command goes on."""
    (home / "upgrade").mkdir()
    (home / "data").rename(home / "upgrade" / "data")
    (home / "upgrade" / "complete").write_text(moved.split()[3])
    assert (await database_finding(config_of(folder))).ill
    with pytest.raises(ClusterFaulty, match="run partyline upgrade-database again"):
        async with embedded_postgres(folder):
            pass
    assert await upgrade_database(config_of(folder), None) == moved
    assert not (home / "upgrade").exists()


async def test_what_is_not_embedded_is_not_ours_to_upgrade(tmp_path: Path) -> None:
    config = config_of(tmp_path, PARTYLINE_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(CommandFault, match="by its own means"):
        await upgrade_database(config, None)
