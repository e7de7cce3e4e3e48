"""The embedded PostgreSQL in a process of its own, which tests may kill; and what else its tests need."""

import os
import pwd
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from persistence.embedded.account import Account
from persistence.embedded.binaries import folders
from tests.support.waiting import PATIENCE_SECONDS

STRANGER = pwd.getpwnam("nobody").pw_uid
"""The uid of an ordinary user, who is not the one to whom PostgreSQL drops where tests run as root."""


def postmaster(data_dir: Path) -> int:
    return int((data_dir / "postgres" / "data" / "postmaster.pid").read_text().split()[0])


def wait_for_end(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        assert poll.poll(1000 * PATIENCE_SECONDS), f"process {pid} is still there"
    finally:
        os.close(handle)


def older() -> Path:
    """The programs of the oldest PostgreSQL on this machine; skips the test where all are of one version."""
    found: dict[int, Path] = {}
    for folder, _ in folders(None):
        told = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=True)
        found[int(told.stdout.split()[2].partition(".")[0])] = folder
    if len(found) < 2:
        pytest.skip(f"only one major version of PostgreSQL is here: {set(found)}")
    return found[min(found)]


class Host:
    """A process that hosts the embedded PostgreSQL."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.url = process.stdout.readline().strip()
        self.pid = int(process.stdout.readline() or 0)

    def finish(self) -> tuple[int, str]:
        """End the input of the process, and wait for its end; returns (exit code, standard error)."""
        _, error = self.process.communicate("", timeout=PATIENCE_SECONDS)
        return self.process.returncode, error


@contextmanager
def hosted(data_dir: Path, pg_bin: Path | None = None, uid: int | None = None) -> Iterator[Host]:
    python = python_for_everybody() if uid is not None else sys.executable
    packages = [path for path in sys.path if path.endswith("site-packages")]
    process = subprocess.Popen(
        [python, "-m", "tests.support.embedded_host", str(data_dir), str(pg_bin or "-"), str(uid or "-")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": ":".join(packages)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        host = Host(process)
        try:
            yield host
        finally:
            process.kill()
            if host.pid:
                wait_for_end(host.pid)


def python_for_everybody() -> str:
    """A Python of this version that an ordinary user can run, for tests that run as root."""
    stranger = Account(STRANGER, STRANGER, is_self=False)
    for python in (sys.executable, f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"):
        if Path(python).exists() and stranger.can_enter(Path(python).resolve().parent):
            return python
    pytest.skip("no Python here that an ordinary user could run")
