"""The standard streams of a process, which its parent may have closed, or redirected to a full disk."""

import io
import os
import sys


def open_missing() -> None:
    """Open standard input, output and error to `/dev/null` where they are closed; call it before any file is opened.

    Otherwise children and libraries would print into the next file that is opened, such as a lock or a socket.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            lowest = os.open(os.devnull, os.O_RDWR)  # of those that are free, which is this one
            os.set_inheritable(lowest, True)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 — for as long as we live


def spell_out() -> None:
    """Have standard output spell what the terminal's encoding does not have as an escape, in place of a failure.

    An arrow, a user's name or the bytes of a file's name would otherwise end a command whose work is done.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def let_go() -> None:
    """Drop what the streams cannot take, before the process ends, so that it ends with its own exit status.

    The interpreter flushes the streams at its end, and exits with another status if that fails.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
