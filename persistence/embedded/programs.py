"""Runs the programs of a PostgreSQL installation that work on a cluster at rest, and finds what they complain of."""

import os
import re
import subprocess

from persistence.embedded.account import Account
from persistence.embedded.binaries import Installation
from persistence.embedded.errors import ClusterFaulty

_WRONG = re.compile(rb"(?: (?:ERROR|FATAL|PANIC):  |: error: )")
"""What marks the line by which one of PostgreSQL's programs, or a server that it runs, says what is wrong."""


def run_program(installation: Installation, account: Account, program: str, *arguments: str) -> str:
    """Run a program to its end, and return what it prints; blocks.

    Args:
        installation: where the program is.
        account: the user that it runs as.
        program: its name, such as `initdb`.

    Raises:
        ClusterFaulty: it cannot be run, or has failed; the message has the line that says why.
    """
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(  # noqa: S603
            [str(installation.folder / program), *arguments],
            check=False,
            capture_output=True,
            env=environment(),
            **account.popen_arguments,
        )
    except OSError as fault:
        raise ClusterFaulty(f"{program} cannot be run: {fault.strerror}") from None
    if done.returncode != 0:
        raise ClusterFaulty(f"{program} failed: {_cause(done.stderr)}")
    return done.stdout.decode(errors="replace")


def environment() -> dict[str, str]:
    """PostgreSQL's environment, which inherits only PATH from ours: no PGDATA, no PGOPTIONS, no locale."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def last_line(output: bytes) -> str:
    """The last line of what a program has said that is not empty."""
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def _cause(output: bytes) -> str:
    """The line of a program's complaint that says what was wrong, behind which it tells what it did about that."""
    return last_line(next(filter(_WRONG.search, output.splitlines()), output))
