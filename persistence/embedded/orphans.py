"""PostgreSQL's processes that outlived the server that had started them.

They are found by their working directory, never by `postmaster.pid`: the process id in that file may be another
program's by now. None is sent SIGKILL.
"""

import contextlib
import os
import select
import signal
import time
from pathlib import Path

import structlog

_log = structlog.get_logger()

SECONDS = 5.0
"""How long the processes may take to end after each signal."""


def end_orphans(data: Path) -> list[int]:
    """End the processes that serve a folder, by PostgreSQL's fast shutdown, or by its immediate one; blocks meanwhile.

    Args:
        data: PGDATA, for whose cluster nobody has started a PostgreSQL that is to stay.

    Returns: the ids of the processes that have not ended.
    """
    for number in (signal.SIGINT, signal.SIGQUIT):
        orphans = _processes_in(data)
        if heads := _without_parents(orphans):
            _log.warning("ending a PostgreSQL that outlived its server", pids=heads, signal=number.name)
            _end(heads, orphans, number)
    return _processes_in(data)


def _processes_in(data: Path) -> list[int]:
    """Ids of the PostgreSQL processes that serve this folder, which is the working directory of each of them."""
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
    """Those of the processes whose parent is not among them: the postmaster, or its children if it was killed.

    The postmaster alone is signalled, and ends its children. To these the same signals mean other things: SIGINT makes
    PostgreSQL 18's checkpointer write its last checkpoint and leave, and a postmaster that did not ask for that ends as
    after a crash.
    """
    heads: list[int] = []
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            # The name, in brackets, may contain blanks; the parent is the second field after it (proc(5)).
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) not in pids:
                heads.append(pid)
    return heads


def _end(heads: list[int], pids: list[int], number: signal.Signals) -> None:
    """Send a signal to the processes in `heads`, and wait up to `SECONDS` until all of `pids` have ended."""
    handles: list[int] = []
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                handles.append(handle)
                if pid in heads:
                    signal.pidfd_send_signal(handle, number)
                    signal.pidfd_send_signal(handle, signal.SIGCONT)  # one that was stopped takes no other
        deadline = time.monotonic() + SECONDS
        for handle in handles:
            waiting = select.poll()  # takes every descriptor, also of a service with thousands of connections
            waiting.register(handle, select.POLLIN)
            waiting.poll(1000 * max(0.0, deadline - time.monotonic()))
    finally:
        for handle in handles:
            os.close(handle)
