"""One PostgreSQL cluster on this machine: its folder, and how its process is started and ended.

Everything here blocks: `prepare` and `clear_remains` for seconds, the rest briefly.

    HOME/            0700, of the user who runs PostgreSQL
      lock           held by the server that runs the cluster (`lock.py`)
      data/          PGDATA; complete or absent
      socket/        the Unix socket, when its path is short enough for one, and text
      postgres.log   what PostgreSQL says about itself

Invariants: only the process that holds the lock runs the cluster; so any PostgreSQL that works in `data` before we have
started one is an orphan, and is ended (`orphans.py`). SIGKILL is sent only after every other signal has failed.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import structlog

from persistence.embedded.account import Account
from persistence.embedded.binaries import Installation
from persistence.embedded.bound import start_bound, wait_for_end
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.orphans import end_orphans
from persistence.embedded.programs import environment, last_line, run_program
from persistence.new_file import sync_folder

_log = structlog.get_logger()

USER = "partyline"
"""The database's superuser; it needs no password, because other users cannot reach the socket."""

_SOCKET_PATH_BYTES = 107
"""Longest path of a Unix socket on Linux (`sun_path`), the final NUL not counted."""

_LOG_BYTES = 8 * 1024 * 1024
"""A log that is larger than this is put aside at the next start (`postgres.log.1`)."""

_LAST_WORDS_BYTES = 64 * 1024
"""How much of what PostgreSQL said last is searched for the reason of its end."""

_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # Refused rows are reported to the connection that sent them; in the log, clients could fill the disk with them.
    # For a full disk there is no room in this log either: the service's own names it (`bridge/faults.py`).
    "log_min_messages": "log",
    "log_checkpoints": "off",
    "logging_collector": "off",
    "log_destination": "stderr",
}


class Cluster:
    """A cluster and the process that serves it.

    Args:
        home: the cluster's folder, which exists.
        installation: PostgreSQL's programs, of the major version that made the cluster.
        account: the user that runs it and owns `home`.
        options: {name: value} of PostgreSQL settings beside those that every cluster has.
    """

    def __init__(
        self,
        home: Path,
        installation: Installation,
        account: Account,
        options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.home = home
        self.data = home / "data"
        self._installation = installation
        self._account = account
        self._options = options
        self._socket_folder = home / "socket"
        self._process: subprocess.Popen[bytes] | None = None
        self._log_starts_at = 0

    @property
    def dsn(self) -> str:
        """The address of the running cluster."""
        return f"postgresql://{USER}@/postgres?host={quote(str(self._socket_folder), safe='')}&port=5432"

    @property
    def pid(self) -> int:
        """Process id of the postmaster that was started last.

        Raises:
            ClusterFaulty: no PostgreSQL was started.
        """
        if self._process is None:
            raise ClusterFaulty("PostgreSQL was not started")
        return self._process.pid

    def prepare(self) -> None:
        """Make the cluster if it is new, end an orphan, and remove what a crash left; a new one takes a second.

        Raises:
            ClusterFaulty: initdb failed, or an orphan does not end.
        """
        if not self.data.exists():
            self._initialise()
        self._make_socket_folder()
        self.clear_remains()

    def clear_remains(self) -> None:
        """After a crash: end the processes that still run, and remove the pid file and the sockets that they left.

        Raises:
            ClusterFaulty: the processes do not end.
        """
        if orphans := end_orphans(self.data):
            raise ClusterFaulty(
                f"PostgreSQL (process {orphans[0]}) outlived an earlier server and does not end"
            )
        # The pid file is PostgreSQL's guard against a second one in the folder. None is left there, but the id in it
        # may meanwhile be that of an unrelated process, because of which PostgreSQL might refuse to start.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for leftover in self._socket_folder.glob(".s.PGSQL.*"):
            leftover.unlink(missing_ok=True)

    def spawn(self) -> None:
        """Start PostgreSQL without waiting for it; call this in the main thread, at whose end the kernel ends it."""
        options = {**_SETTINGS, **self._options, "unix_socket_directories": str(self._socket_folder)}
        command = [
            str(self._installation.folder / "postgres"), "-D", str(self.data), "-p", "5432",
            *(f"--{name}={value}" for name, value in options.items()),
        ]  # fmt: skip
        with self._open_log() as log:
            self._log_starts_at = os.fstat(log).st_size
            self._process = start_bound(
                command,
                # PostgreSQL's fast shutdown: it writes a checkpoint, and the next start has nothing to recover.
                at_our_end=signal.SIGINT,
                environment=environment(),
                account=self._account,
                output=log,
                folder="/",
                umask=0o077,
            )

    def is_ready(self) -> bool:
        """Whether the PostgreSQL that was started accepts connections.

        Raises:
            ClusterFaulty: PostgreSQL has ended instead; the message has the reason, or the last line, from its log.
        """
        if self.has_ended():
            raise ClusterFaulty(f"PostgreSQL did not start: {self._last_words()}")
        try:
            # It names folders, whose bytes need not be text.
            lines = os.fsdecode((self.data / "postmaster.pid").read_bytes()).split("\n")
        except FileNotFoundError:
            return False
        return lines[0] == str(self.pid) and len(lines) > 7 and lines[7].strip() == "ready"

    def has_ended(self) -> bool:
        """Whether no PostgreSQL that we started is running."""
        return self._process is None or self._process.poll() is not None

    async def wait_for_end(self) -> None:
        """Wait until no PostgreSQL that we started is running. Cancellation leaves it running."""
        if self._process is not None:
            await wait_for_end(self._process)

    def signal(self, number: signal.Signals) -> None:
        """Send PostgreSQL a signal: SIGINT ends it with a checkpoint, SIGQUIT without, SIGKILL is the last resort."""
        if self._process is not None:
            self._process.send_signal(number)

    def clear_away(self) -> None:
        """After PostgreSQL has ended: remove the socket's folder, if it is outside `home`."""
        if self._socket_folder.parent != self.home:
            shutil.rmtree(self._socket_folder, ignore_errors=True)

    def control(self) -> dict[str, str]:
        """What pg_controldata says of the cluster: {name: value}.

        Raises:
            ClusterFaulty: the cluster or the program is damaged.
        """
        lines = self._run("pg_controldata", "-D", str(self.data)).splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def move_log(self, segment: str) -> None:
        """Reset the log of a cluster that was shut down in order, so that it begins with a given segment.

        Args:
            segment: the name of a segment, 24 hexadecimal digits, which also says the timeline.

        Raises:
            ClusterFaulty: the cluster was not shut down in order, or is damaged.
        """
        self._run("pg_resetwal", "-l", segment, "-D", str(self.data))

    def _run(self, program: str, *arguments: str) -> str:
        return run_program(self._installation, self._account, program, *arguments)

    def _initialise(self) -> None:
        """Run initdb in another folder and rename that, so that a half-made cluster is never taken for a whole one."""
        unfinished = self.home / "data.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [
            "initdb", "-D", str(unfinished), "-U", USER, "-A", "trust",
            "-E", "UTF8", "--locale=C", "--data-checksums", "--no-instructions",
        ]  # fmt: skip
        self._run(*command)
        unfinished.rename(self.data)
        # The folder's name is not PostgreSQL's to keep: without it, the next start would make another cluster.
        sync_folder(self.home)
        _log.info("made a database", folder=str(self.data), version=self._installation.version)

    def _make_socket_folder(self) -> None:
        if not _fits_an_address(self._socket_folder / ".s.PGSQL.5432"):
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
            with (self.home / "postgres.log").open("rb") as log:
                log.seek(max(self._log_starts_at, log.seek(0, os.SEEK_END) - _LAST_WORDS_BYTES))
                said = log.read()
        except OSError:
            return "it left no log"
        fatal = [line for line in said.splitlines() if b" FATAL:  " in line or b" PANIC:  " in line]
        return last_line(fatal[-1] if fatal else said)


def _fits_an_address(socket: Path) -> bool:
    """Whether a socket can have this path, and an address of a database can say it."""
    encoded = os.fsencode(socket)
    try:
        encoded.decode()
    except UnicodeDecodeError:
        return False
    return len(encoded) <= _SOCKET_PATH_BYTES
