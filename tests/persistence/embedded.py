"""What tests of the embedded PostgreSQL share: a cluster at rest or started by somebody else, and rows in it."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from persistence.connection import Connection
from persistence.embedded.account import account_for
from persistence.embedded.binaries import find_installation
from persistence.embedded.cluster import Cluster
from persistence.embedded.postgres import choose_home, open_cluster
from tests.support.waiting import wait_until


async def remember(conn: Connection) -> None:
    await conn.execute("CREATE TABLE IF NOT EXISTS memory (n serial)")
    await conn.execute("INSERT INTO memory DEFAULT VALUES")


async def memories(conn: Connection) -> int:
    count: int = await conn.fetchval("SELECT count(*) FROM memory")
    return count


@contextmanager
def prepared(data_dir: Path, pg_bin: Path | None = None) -> Iterator[Cluster]:
    """A cluster that is made and not started; whatever runs in it at the end is ended."""
    home, account = choose_home(data_dir)
    cluster = open_cluster(home, account, pg_bin)
    try:
        yield cluster
    finally:
        cluster.clear_remains()


@contextmanager
def started_by_hand(cluster: Cluster, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """PostgreSQL in the cluster's folder, not started by us."""
    home = cluster.home
    account = account_for(cluster.data)
    installation = find_installation(
        account, pg_bin=None, major=int((cluster.data / "PG_VERSION").read_text())
    )
    process = subprocess.Popen(
        [installation.folder / "postgres", "-D", cluster.data, "-k", home / "socket", "-h", "", *options],
        stderr=subprocess.DEVNULL,
        **account.popen_arguments,
    )
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)


async def wait_until_ready(cluster: Cluster) -> None:
    async def is_ready() -> bool:
        pid_file = cluster.data / "postmaster.pid"
        return pid_file.exists() and "ready" in pid_file.read_text()

    await wait_until(is_ready)
