"""The embedded PostgreSQL after a crash, of the server or of its own: nothing is lost, and nothing is left behind."""

# ruff: noqa: ASYNC220 — a test may wait for its own files and children: nobody else is there

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from persistence.bridge.database import Database, open_database
from persistence.embedded.postgres import embedded_postgres
from persistence.errors import DatabaseUnavailable
from tests.persistence.embedded import memories, prepared, remember, started_by_hand, wait_until_ready
from tests.support.embedded import Host, hosted, postmaster, wait_for_end
from tests.support.waiting import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.slow


@contextmanager
def descriptors_beyond(number: int) -> Iterator[None]:
    """Have whatever is opened in the block get descriptors from this number on."""
    with ExitStack() as held:
        while (descriptor := os.open(os.devnull, os.O_RDONLY)) < number:
            held.callback(os.close, descriptor)
        os.close(descriptor)
        yield


def test_a_killed_server_leaves_no_postgresql_and_loses_nothing(data_dir: Path, pg_bin: Path | None) -> None:
    for number in (1, 2, 3):
        with hosted(data_dir, pg_bin) as host:
            assert host.pid, host.finish()

            async def write_and_kill(host: Host = host, number: int = number) -> None:
                async with open_database(host.url, timeout_seconds=PATIENCE_SECONDS) as database:
                    await database.transact(remember)
                    assert await database.read(memories) == number
                    host.process.kill()
                    await trio.to_thread.run_sync(wait_for_end, host.pid)

            trio.run(write_and_kill)


def test_a_server_that_is_started_at_once_after_a_kill_waits_for_the_old_postgresql(made_dir: Path) -> None:
    with hosted(made_dir) as first:
        assert first.pid, first.finish()
        os.kill(first.pid, signal.SIGSTOP)  # it cannot even notice that its server has gone
        first.process.kill()
        first.process.wait()
        with hosted_later(made_dir, first.pid) as second:
            assert second.pid not in (0, first.pid), second.finish()


@contextmanager
def hosted_later(data_dir: Path, stopped: int) -> Iterator[Host]:
    threading.Timer(0.3, os.kill, (stopped, signal.SIGCONT)).start()
    with hosted(data_dir) as host:
        yield host


async def test_a_stale_pid_file_is_not_believed(made_dir: Path) -> None:
    """The number in it is that of a process which has nothing to do with us: it is left alone."""
    async with embedded_postgres(made_dir):
        lines = (made_dir / "postgres" / "data" / "postmaster.pid").read_text().split("\n")
    with subprocess.Popen(["/bin/sleep", "600"]) as foreign:
        for content in ("\n".join([str(foreign.pid), *lines[1:]]), "", "nonsense\n", "1\n"):
            (made_dir / "postgres" / "data" / "postmaster.pid").write_text(content)
            async with (
                embedded_postgres(made_dir) as url,
                open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
            ):
                await database.transact(remember)
        assert foreign.poll() is None
        foreign.kill()


@pytest.mark.parametrize("is_stopped", [False, True], ids=["runs", "stopped"])
async def test_an_orphan_is_ended(made_dir: Path, is_stopped: bool) -> None:
    """Also by a service that has a thousand connections open, whose next descriptors are beyond what `select` takes."""
    with prepared(made_dir) as cluster, started_by_hand(cluster) as orphan:
        await wait_until_ready(cluster)
        if is_stopped:
            orphan.send_signal(signal.SIGSTOP)
        with capture_logs() as entries, descriptors_beyond(1_024):
            async with (
                embedded_postgres(made_dir) as url,
                open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
            ):
                await database.transact(remember)
                assert orphan.wait(PATIENCE_SECONDS) == 0
        # Its children take the same signal for something else, and then it ends as after a crash.
        assert [entry["pids"] for entry in entries if "pids" in entry] == [[orphan.pid]]


async def test_half_a_cluster_is_made_anew(data_dir: Path) -> None:
    unfinished = data_dir / "postgres" / "data.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18")
    async with (
        embedded_postgres(data_dir) as url,
        open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
    ):
        await database.transact(remember)
    assert not unfinished.exists()


async def test_a_killed_postgresql_is_started_again(made_dir: Path) -> None:
    async with (
        embedded_postgres(made_dir) as url,
        open_database(url, timeout_seconds=PATIENCE_SECONDS) as database,
    ):
        for number in (1, 2, 3):
            await database.transact(remember)
            pid = postmaster(made_dir)
            os.kill(pid, signal.SIGKILL)
            await wait_until(lambda pid=pid: has_another(made_dir, pid))  # type: ignore[misc]
            await wait_until(lambda: can_read(database))
            assert await database.read(memories) == number
        await wait_until(lambda: is_available(database))


async def has_another(data_dir: Path, pid: int) -> bool:
    try:
        return postmaster(data_dir) != pid
    except (OSError, IndexError):
        return False


async def is_available(database: Database) -> bool:
    return database.available


async def can_read(database: Database) -> bool:
    try:
        await database.read(memories)
    except DatabaseUnavailable:
        return False
    return True
