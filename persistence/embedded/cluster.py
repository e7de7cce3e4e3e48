"""One cluster on this machine: its folder, its making, its start and its end. Nothing here waits for long.

    HOME/            0700, of the user who runs PostgreSQL
      lock           held (flock) by the server that runs the cluster
      data/          PGDATA; complete or absent
      socket/        the Unix socket, when its path is short enough for one
      postgres.log   what PostgreSQL says about itself

Invariants: one process runs a cluster, the one that holds the lock; so any PostgreSQL at work in `data`
before we have started one is an orphan, and is ended. Orphans are found by the folder they work in, never by
`postmaster.pid`: a number in a file may belong to anybody by now. PostgreSQL is never killed (SIGKILL) while
there is another way.
"""

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import structlog

from persistence.embedded import child
from persistence.embedded.account import Account
from persistence.embedded.binaries import Installation
from persistence.errors import PersistenceError

_log = structlog.get_logger(__name__)

USER = "partyline"
"""The database's superuser; nobody else can reach the socket, so it needs no password."""

_SOCKET_PATH_BYTES = 107
"""Longest path of a Unix socket on Linux (`sun_path`), the final NUL not counted."""

_LOG_BYTES = 8 * 1024 * 1024
"""Above this the log starts anew with the next start."""

_ORPHAN_SECONDS = 5.0
"""What orphans are given for each way of ending them."""

_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # Refused rows are told to whoever sent them; here they would fill the disk at the pleasure of strangers.
    "log_min_messages": "log",
    "log_checkpoints": "off",
    "logging_collector": "off",
    "log_destination": "stderr",
}


class ClusterInUse(PersistenceError):
    """Another server runs this cluster."""


class ClusterFaulty(PersistenceError):
    """The cluster cannot be made, started or ended; the message says why, in one line."""


class Cluster:
    """A cluster and the process that serves it.

    Args:
        home: its folder; exists.
        installation: the binaries; of the version that made the cluster.
        account: who runs it; owns `home`.
    """

    def __init__(self, home: Path, installation: Installation, account: Account) -> None:
        self.home = home
        self.data = home / "data"
        self._installation = installation
        self._account = account
        self._socket_folder = home / "socket"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """The address of the running cluster."""
        return f"postgresql://{USER}@/postgres?host={quote(str(self._socket_folder), safe='')}&port=5432"

    @property
    def pid(self) -> int:
        """Of the running postmaster.

        Raises:
            ClusterFaulty: none was started.
        """
        if self._process is None:
            raise ClusterFaulty("PostgreSQL was not started")
        return self._process.pid

    def prepare(self) -> None:
        """Make the cluster if it is new, end an orphan, clear what a crash left. Takes a second when it is
        new.

        Raises:
            ClusterFaulty: initdb failed, or an orphan does not end.
        """
        if not self.data.exists():
            self._initialise()
        self._make_socket_folder()
        self.clear_remains()

    def clear_remains(self) -> None:
        """After a crash: end processes that are still there, and remove files that speak of them.

        Raises:
            ClusterFaulty: they do not end.
        """
        for number in (signal.SIGINT, signal.SIGQUIT):
            orphans = _processes_in(self.data)
            if heads := _without_parents(orphans):
                _log.warning("ending a PostgreSQL that outlived its server", pids=heads, signal=number.name)
                _end(heads, orphans, number)
        if orphans := _processes_in(self.data):
            raise ClusterFaulty(
                f"PostgreSQL (process {orphans[0]}) outlived an earlier server and does not end"
            )
        # The pid file is PostgreSQL's guard against a second one in the folder. Nobody is left there, and the
        # number in it may meanwhile be that of a process which has nothing to do with us.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for leftover in self._socket_folder.glob(".s.PGSQL.*"):
            leftover.unlink(missing_ok=True)

    def spawn(self) -> None:
        """Start PostgreSQL; call it in the main thread, with whose end the kernel ends PostgreSQL."""
        options = {**_SETTINGS, "unix_socket_directories": str(self._socket_folder)}
        command = [
            sys.executable, "-I", "-S", child.__file__,
            str(self._account.uid), str(self._account.gid), str(os.getpid()),
            str(self._installation.folder / "postgres"), "-D", str(self.data), "-p", "5432",
            *(f"--{name}={value}" for name, value in options.items()),
        ]  # fmt: skip
        with self._open_log() as log:
            # A session of its own: Ctrl-C at the terminal is for us, and PostgreSQL ends after our last
            # write.
            self._process = subprocess.Popen(  # noqa: S603
                command,
                cwd="/",
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def is_ready(self) -> bool:
        """Whether the PostgreSQL that was spawned takes connections.

        Raises:
            ClusterFaulty: it has ended instead.
        """
        if self.has_ended():
            raise ClusterFaulty(f"PostgreSQL did not start: {self._last_words()}")
        try:
            lines = (self.data / "postmaster.pid").read_text().split("\n")
        except (FileNotFoundError, UnicodeDecodeError):
            return False
        return lines[0] == str(self.pid) and len(lines) > 7 and lines[7].strip() == "ready"

    def has_ended(self) -> bool:
        """Whether there is no process any more."""
        return self._process is None or self._process.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        """SIGINT ends it with a checkpoint, SIGQUIT without, SIGKILL is the last resort."""
        if self._process is not None:
            self._process.send_signal(number)

    def clear_away(self) -> None:
        """After the end: remove what is not in `home`."""
        if self._socket_folder.parent != self.home:
            shutil.rmtree(self._socket_folder, ignore_errors=True)

    def _initialise(self) -> None:
        """initdb beside the final place, then a rename: a half-made cluster is never taken for one."""
        unfinished = self.home / "data.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [
            str(self._installation.folder / "initdb"), "-D", str(unfinished), "-U", USER, "-A", "trust",
            "-E", "UTF8", "--locale=C", "--data-checksums", "--no-instructions",
        ]  # fmt: skip
        made = subprocess.run(  # noqa: S603
            command, check=False, capture_output=True, env=_environment(), **self._account.popen_arguments
        )
        if made.returncode != 0:
            raise ClusterFaulty(f"initdb failed: {_last_line(made.stderr)}")
        unfinished.rename(self.data)
        _log.info("made a database", folder=str(self.data), version=self._installation.version)

    def _make_socket_folder(self) -> None:
        if len(os.fsencode(self._socket_folder / ".s.PGSQL.5432")) > _SOCKET_PATH_BYTES:
            self._socket_folder = Path(tempfile.mkdtemp(prefix="partyline-"))
        self._socket_folder.mkdir(mode=0o700, exist_ok=True)
        self._account.own(self._socket_folder, 0o700)

    @contextmanager
    def _open_log(self) -> Iterator[int]:
        path = self.home / "postgres.log"
        if path.exists() and path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        # O_NOFOLLOW: the folder is another user's, and root must not be led to write elsewhere.
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _last_words(self) -> str:
        try:
            return _last_line((self.home / "postgres.log").read_bytes()[-4096:])
        except OSError:
            return "it left no log"


@contextmanager
def exclusive(home: Path) -> Iterator[None]:
    """Be the one server that runs the cluster in this folder.

    Raises:
        ClusterInUse: another is.
    """
    descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown"
            raise ClusterInUse(f"another server (process {holder}) uses {home}") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _environment() -> dict[str, str]:
    """Nothing of ours reaches PostgreSQL: no PGDATA, no PGOPTIONS, no locale."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _processes_in(data: Path) -> list[int]:
    """The PostgreSQL processes that work in this folder; every one of them makes it its working directory."""
    folder = str(data.resolve())
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            works_here = os.readlink(process / "cwd") == folder  # noqa: PTH115 — what the kernel says, as a string
            program = os.readlink(process / "exe")  # noqa: PTH115
        except OSError:
            continue  # it has ended, or is not ours to look at
        if works_here and Path(program).name.startswith("postgres"):
            found.append(int(process.name))
    return sorted(found)


def _without_parents(pids: list[int]) -> list[int]:
    """Those of them that no other of them has started: the postmaster, or what is left where it was killed.

    It alone is told to end, and tells its children. The same signals mean other things to them: SIGINT makes
    PostgreSQL 18's checkpointer write its last checkpoint and leave, and a postmaster that did not ask for it
    ends as after a crash.
    """
    heads: list[int] = []
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            # The name, in brackets, may hold blanks; the parent is the second field after it (proc(5)).
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) not in pids:
                heads.append(pid)
    return heads


def _end(heads: list[int], pids: list[int], number: signal.Signals) -> None:
    """Signal the heads, and wait a while until all are gone."""
    handles: list[int] = []
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                handles.append(handle)
                if pid in heads:
                    signal.pidfd_send_signal(handle, number)
        deadline = time.monotonic() + _ORPHAN_SECONDS
        for handle in handles:
            select.select([handle], [], [], max(0.0, deadline - time.monotonic()))
    finally:
        for handle in handles:
            os.close(handle)


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
