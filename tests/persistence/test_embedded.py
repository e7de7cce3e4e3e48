"""The embedded PostgreSQL: who starts it, where, and what is said of one that does not start."""

# ruff: noqa: ASYNC240 — a test may wait for its own files and children: nobody else is there

import os
import shutil
import signal
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from persistence.bridge.database import open_database
from persistence.connection import Connection
from persistence.embedded import postgres
from persistence.embedded.address import running_address
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.postgres import embedded_postgres
from persistence.schema.checks import DatabaseUnfit, check_server
from tests.persistence.embedded import memories, prepared, remember, started_by_hand, wait_until_ready
from tests.support.database import start, stop
from tests.support.disks import small_disk
from tests.support.embedded import STRANGER, hosted, postmaster, wait_for_end
from tests.support.waiting import PATIENCE_SECONDS, patience

pytestmark = pytest.mark.slow

ROOT = os.geteuid() == 0


def test_a_new_cluster_has_its_name_on_the_disk_before_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL sees to what is in its folder. One whose own name a power failure takes away would be made anew, and
    what was acknowledged meanwhile would be gone."""
    synced: dict[Path, set[str]] = {}

    def noted(descriptor: int) -> None:
        folder = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced[folder] = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        sync(descriptor)

    sync = os.fsync
    monkeypatch.setattr(os, "fsync", noted)
    with prepared(tmp_path / "made") as cluster:
        assert "data" in synced[cluster.home.resolve()]
        assert "postgres" in synced[tmp_path / "made"]
        assert "made" in synced[tmp_path]


async def test_a_start_takes_as_long_as_it_has_to(made_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recovery that is cut short begins from where it had begun, so that one that is slow would never end."""
    monkeypatch.setattr(postgres, "SLOW_START_SECONDS", 0.001)
    with prepared(made_dir) as cluster, capture_logs() as logs:
        async with postgres.running(cluster), open_database(cluster.dsn, pool_size=1) as database:
            assert await database.read(_one) == 1
    assert "PostgreSQL is still starting" in {line["event"] for line in logs}


async def _one(conn: Connection) -> int:
    one: int = await conn.fetchval("SELECT 1")
    return one


async def test_it_keeps_its_data_and_is_private(data_dir: Path, pg_bin: Path | None) -> None:
    for number in (1, 2):
        async with (
            embedded_postgres(data_dir, pg_bin=pg_bin) as url,
            open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
        ):
            await database.transact(remember)
            assert await database.read(memories) == number
            await database.read(check_server)
            pid = postmaster(data_dir)
            home = data_dir / "postgres"
            assert (home.stat().st_mode & 0o777, (home / "socket").stat().st_mode & 0o777) == (0o700, 0o700)
            assert Path(f"/proc/{pid}").stat().st_uid != 0
            assert os.getsid(pid) == pid  # Ctrl-C in our terminal is not for it
        wait_for_end(pid)
        assert not list((home / "socket").iterdir())


async def test_it_listens_on_nothing_but_its_socket(made_dir: Path) -> None:
    async def addresses(conn: Connection) -> str:
        found: str = await conn.fetchval("SELECT current_setting('listen_addresses')")
        return found

    async with (
        embedded_postgres(made_dir) as url,
        open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
    ):
        assert await database.read(addresses) == ""


@pytest.mark.skipif(
    not ROOT, reason="only root can become somebody else; this whole run is an ordinary user's"
)
def test_an_ordinary_user_runs_it_as_himself(data_dir: Path, pg_bin: Path | None) -> None:
    data_dir.mkdir()
    os.chown(data_dir, STRANGER, STRANGER)
    with hosted(data_dir, pg_bin, STRANGER) as host:
        assert host.pid, host.finish()
        assert Path(f"/proc/{host.pid}").stat().st_uid == STRANGER
        assert host.finish()[0] == 0
    wait_for_end(host.pid)


def test_only_one_server_runs_it(made_dir: Path) -> None:
    with hosted(made_dir) as first:
        assert first.pid, first.finish()
        with hosted(made_dir) as second:
            code, error = second.finish()
        assert code == 1
        assert error == f"another server (process {first.process.pid}) uses {made_dir}/postgres\n"
        assert first.finish()[0] == 0


async def test_one_that_hangs_is_ended_in_the_time_that_is_left(
    made_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "STOP_SECONDS", {signal.SIGINT: 1e9, signal.SIGKILL: 1e9})
    with patience():
        async with embedded_postgres(made_dir, left_seconds=lambda: 0.0):
            pid = postmaster(made_dir)
            os.kill(pid, signal.SIGSTOP)
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    "below", [f"{'d' * 60}/{'e' * 60}", os.fsdecode(b"\xff\xfe x")], ids=["long", "no text"]
)
async def test_a_path_that_no_socket_can_have_gets_a_short_one(data_dir: Path, below: str) -> None:
    deep = data_dir / below
    async with (
        embedded_postgres(deep) as url,
        open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
    ):
        await database.transact(remember)
        assert running_address(deep) == url
        folder = Path(url.split("host=")[1].split("&")[0].replace("%2F", "/"))
        assert deep not in folder.parents
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


@pytest.mark.skipif(not ROOT, reason="an ordinary user reaches his own folders")
async def test_the_database_goes_elsewhere_when_its_user_cannot_come_in(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o700)
    home = data_dir / "postgres"
    try:
        for number in (1, 2):
            async with (
                embedded_postgres(data_dir) as url,
                open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
            ):
                await database.transact(remember)
                assert await database.read(memories) == number
            assert home.is_symlink()
            assert home.readlink().parent == Path("/var/lib/partyline")
        moved = data_dir.with_name("moved")
        data_dir.rename(moved)
        home = moved / "postgres"
        async with (
            embedded_postgres(moved) as url,
            open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
        ):
            assert await database.read(memories) == 2
    finally:
        shutil.rmtree(home.readlink())
    with pytest.raises(ClusterFaulty, match=r"was in /var/lib/partyline/.*, which is gone"):
        async with embedded_postgres(moved):
            pass


async def test_a_cluster_that_finds_no_room_is_told_by_its_cause(data_dir: Path) -> None:
    data_dir.mkdir()
    with small_disk(data_dir / "disk") as disk, pytest.raises(ClusterFaulty, match="No space left on device"):
        async with embedded_postgres(disk):
            pass


async def test_a_damaged_cluster_is_told_in_one_line(made_dir: Path) -> None:
    async with embedded_postgres(made_dir):
        pass
    (made_dir / "postgres" / "data" / "global" / "pg_control").unlink()
    with pytest.raises(ClusterFaulty, match=r"^PostgreSQL did not start: [^\n]+$"):
        async with embedded_postgres(made_dir):
            pass


async def test_it_has_to_be_started_in_the_main_thread(data_dir: Path) -> None:
    async def begin() -> None:
        async with embedded_postgres(data_dir):
            pass

    with pytest.raises(RuntimeError, match="main thread"):
        await trio.to_thread.run_sync(trio.run, begin)


async def test_a_server_that_does_not_wait_for_the_disk_is_refused(made_dir: Path) -> None:
    with prepared(made_dir) as cluster, started_by_hand(cluster, "-c", "fsync=off"):
        await wait_until_ready(cluster)
        async with open_database(cluster.dsn, timeout_seconds=PATIENCE_SECONDS) as database:
            with pytest.raises(DatabaseUnfit, match=r"^PostgreSQL runs with fsync=off [^\n]+$"):
                await database.read(check_server)


def test_it_can_be_run_without_trio(made_dir: Path) -> None:
    with prepared(made_dir) as cluster:
        start(cluster)
        pid = cluster.pid
        stop(cluster)
        wait_for_end(pid)
