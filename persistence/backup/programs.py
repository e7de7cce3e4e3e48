"""PostgreSQL's own programs, which dump a database and fill one: `pg_dump` and `pg_restore`.

They run as our own user, and reach an embedded database by its socket as we do.
"""

import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

from persistence.backup.faults import BackupFault
from persistence.embedded.binaries import folders

PIECE_BYTES = 4 << 20
"""Most bytes of a dump that are passed on at once."""

SILENT_SECONDS = 900.0
"""How long pg_dump may write nothing before it is given up. One that works writes at least with each table; one whose
PostgreSQL is frozen, or waits for a lock, would otherwise keep the backup, and files from being removed, for good."""

_LOOK_SECONDS = 0.5
"""How often is looked whether to go on, while a program neither gives nor takes anything."""

_GULP_BYTES = 1 << 16
"""Bytes that one call reads from a pipe, or writes to it, at most: what a pipe holds."""

_VERSION = re.compile(rb"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True, slots=True)
class Program:
    """One of PostgreSQL's programs as it was found on this machine.

    Args:
        path: the program's file.
        major: the major version of PostgreSQL that it belongs to.
    """

    path: Path
    major: int


_WITH_TLS = ("require", "verify-ca", "verify-full")
"""Values of `sslmode` that take no connection in clear text."""

_NOWHERE = "host=/nowhere sslmode=require"
"""An address that no program can reach; one without TLS support refuses it before trying (`_WITHOUT_TLS`)."""

_WITHOUT_TLS = b"SSL support is not compiled in"


def find_program(name: str, *, at_least: int, pg_bin: Path | None, tls: bool = False) -> Program:
    """Find the program of the given major version, or else the oldest newer one.

    Args:
        name: `pg_dump` or `pg_restore`.
        at_least: the major version of the server or dump that it is to work with.
        pg_bin: the only folder to look into; None for the wheel and the system.
        tls: whether it has to speak TLS, which the wheel's programs do not.

    Raises:
        BackupFault: there is none.
    """
    found = [
        program
        for folder, _ in folders(pg_bin)
        if (program := _inspect(folder / name)) is not None and program.major >= at_least
        if not tls or _speaks_tls(folder)
    ]
    if not found:
        able = " that speaks TLS" if tls else ""
        raise BackupFault(
            f"no {name} of PostgreSQL {at_least} or newer{able} was found; install it, or name its folder by "
            "PARTYLINE_PG_BIN"
        )
    return min(found, key=lambda program: program.major)


def wants_tls(dsn: str) -> bool:
    """Whether an address is reached over TLS alone.

    Args:
        dsn: a `postgresql://` URL.
    """
    modes = parse_qs(urlsplit(dsn).query).get("sslmode") or [os.environ.get("PGSSLMODE", "")]
    return modes[-1] in _WITH_TLS


def dump(program: Program, dsn: str, check: Callable[[], None]) -> Iterator[bytes]:
    """Yield a database as pg_dump writes it, in pieces of up to `PIECE_BYTES`; all of it is of one moment.

    Args:
        program: pg_dump.
        dsn: the address of the database.
        check: called for each piece, and twice a second while none comes; what it raises ends the program.

    Raises:
        BackupFault: pg_dump failed, or has written nothing for `SILENT_SECONDS`.
    """
    with _running(program, dsn, ["--format=custom", "--no-owner", "--no-privileges"], check) as run:
        while data := run.read(PIECE_BYTES):
            check()
            yield data
        run.end()


class Filling:
    """A pg_restore that is given a dump piece by piece, and fills an empty database in one transaction.

    Args:
        run: the pg_restore that runs.
    """

    def __init__(self, run: "_Run") -> None:
        self._run = run

    def write(self, data: bytes) -> None:
        """Hand pg_restore the next piece of the dump.

        Raises:
            BackupFault: pg_restore has failed.
            Whatever the check raises.
        """
        try:
            self._run.write(data)
        except BrokenPipeError:
            self._run.end()

    def finish(self) -> None:
        """Wait until the database is filled.

        Raises:
            BackupFault: pg_restore has failed, and the database is as empty as before.
            Whatever the check raises.
        """
        with suppress(BrokenPipeError):
            self._run.input.close()
        self._run.end()


@contextmanager
def filling(program: Program, dsn: str, check: Callable[[], None]) -> Iterator[Filling]:
    """Run pg_restore as long as the block lasts. A block that ends without `Filling.finish` kills it, which undoes all.

    Args:
        program: pg_restore.
        dsn: the address of an empty database.
        check: called twice a second while pg_restore takes nothing; what it raises ends the program. There is no bound
            of time, because an index of a large table may take hours.
    """
    options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]
    with _running(program, dsn, options, check) as run:
        yield Filling(run)


@dataclass(frozen=True, slots=True)
class _Run:
    """A program that runs: its pipes, the file that it complains into, and what is called while it does nothing."""

    process: "subprocess.Popen[bytes]"
    input: IO[bytes]
    output: IO[bytes]
    told: IO[bytes]
    check: Callable[[], None]

    def read(self, size: int) -> bytes:
        """The next so many bytes of what the program writes; fewer at the end alone.

        Raises:
            BackupFault: it has written nothing for `SILENT_SECONDS`.
        """
        data = bytearray()
        silent_at = time.monotonic() + SILENT_SECONDS
        while len(data) < size:
            if not _ready(self.output, select.POLLIN):
                self.check()
                if time.monotonic() >= silent_at:
                    raise BackupFault(
                        f"PostgreSQL has sent nothing for {SILENT_SECONDS:.0f} seconds: it is frozen, or somebody "
                        "holds a table locked"
                    )
                continue
            some = os.read(self.output.fileno(), min(_GULP_BYTES, size - len(data)))
            if not some:
                break
            data += some
            silent_at = time.monotonic() + SILENT_SECONDS
        return bytes(data)

    def write(self, data: bytes) -> None:
        """Hand the program all of the bytes; raises BrokenPipeError if it has ended."""
        left = memoryview(data)
        while left:
            if not _ready(self.input, select.POLLOUT):
                self.check()
                continue
            with suppress(BlockingIOError):
                left = left[os.write(self.input.fileno(), left[:_GULP_BYTES]) :]

    def end(self) -> None:
        """Wait until the program ends; unless it succeeds, raise BackupFault with the last line that it printed."""
        while self.process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_LOOK_SECONDS)
            self.check()
        if self.process.returncode != 0:
            self.told.seek(0)
            lines = self.told.read(1 << 16).decode(errors="replace").strip().splitlines()
            raise BackupFault(lines[-1] if lines else "a program of PostgreSQL failed and said nothing")


def _ready(pipe: IO[bytes], event: int) -> bool:
    """Wait a moment for a pipe; returns whether it can be read from or written to, or has ended."""
    poll = select.poll()
    poll.register(pipe, event)
    return bool(poll.poll(_LOOK_SECONDS * 1000))


@contextmanager
def _running(program: Program, dsn: str, options: Sequence[str], check: Callable[[], None]) -> Iterator[_Run]:
    address, secret = _split(dsn)
    environment = {**os.environ, "LC_ALL": "C", **({} if secret is None else {"PGPASSWORD": secret})}
    with (
        tempfile.TemporaryFile() as told,
        subprocess.Popen(  # noqa: S603
            [program.path, *options, f"--dbname={address}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            env=environment,
        ) as process,
    ):
        run = _Run(process, cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout), told, check)
        os.set_blocking(run.input.fileno(), False)
        try:
            yield run
        finally:
            process.kill()
            with suppress(BrokenPipeError):
                run.input.close()


def _split(dsn: str) -> tuple[str, str | None]:
    """The address without its password, which every user of the machine could read in the list of processes."""
    parts = urlsplit(dsn)
    if parts.password is None:
        return dsn, None
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{place}")), unquote(parts.password)


def _speaks_tls(folder: Path) -> bool:
    """Whether the programs of a folder, which share one library, can connect over TLS."""
    try:
        asked = [str(folder / "pg_dump"), f"--dbname={_NOWHERE}"]
        answer = subprocess.run(  # noqa: S603
            asked,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return _WITHOUT_TLS not in answer.stderr


def _inspect(path: Path) -> Program | None:
    try:
        answer = subprocess.run([path, "--version"], check=True, capture_output=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(answer.stdout)
    return Program(path, int(match[1])) if match else None
