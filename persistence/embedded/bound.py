"""Child processes that end when this process does, however it ends: started through `child.py`, and waited for
without polling.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence

import trio

from persistence.embedded import child
from persistence.embedded.account import Account


def start_bound(
    command: Sequence[str],
    *,
    at_our_end: signal.Signals,
    environment: Mapping[str, str],
    account: Account | None = None,
    descriptors: Collection[int] = (),
    output: int | None = None,
    folder: str | None = None,
    umask: int = -1,
) -> "subprocess.Popen[bytes]":
    """Start a program in a session of its own; call this in the main thread, at whose end the kernel ends it.

    The session is its own so that Ctrl-C at the terminal reaches this process alone, which ends its children in order.

    Args:
        command: the program, by its absolute path, and its arguments, which everybody on this machine can read.
        at_our_end: the signal that the kernel sends to the program at the end of our main thread.
        environment: all of the program's environment variables.
        account: the user who runs the program; None for the user who runs this process.
        descriptors: file descriptors of this process that the program inherits under the same numbers.
        output: a file descriptor for what the program prints; None for this process's own output.
        folder: the program's working directory; None for that of this process.
        umask: the umask of the program; -1 for that of this process.

    Raises:
        OSError: the process cannot be started.
    """
    uid, gid = (os.geteuid(), os.getegid()) if account is None else (account.uid, account.gid)
    number = str(int(at_our_end))
    wrapped = [sys.executable, "-I", "-S", child.__file__, str(uid), str(gid), str(os.getpid()), number]
    return subprocess.Popen(  # noqa: S603
        [*wrapped, *command],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        pass_fds=tuple(descriptors),
        umask=umask,
    )


async def wait_for_end(process: "subprocess.Popen[bytes]") -> int:
    """Wait until a process has ended; returns its exit status, negative for a signal. Cancellation leaves it running.

    Args:
        process: as `start_bound` returned it.
    """
    if (status := process.poll()) is not None:
        return status
    handle = os.pidfd_open(process.pid)
    try:
        while (status := process.poll()) is None:
            await trio.lowlevel.wait_readable(handle)
        return status
    finally:
        os.close(handle)
