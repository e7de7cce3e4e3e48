"""The standard streams of a process, which whoever started it may have closed, or have led to a full disk."""

import os
import sys


def open_missing() -> None:
    """Have standard input, output and error lead to nowhere where they are closed; call it before any file is opened.

    Otherwise the next file that is opened, a lock or a socket, would be where children and libraries print.
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


def let_go() -> None:
    """Before the process ends: have what the streams cannot take lead to nowhere, so that it ends with its own status.

    The interpreter writes out what is left, and ends with a status of its own where it cannot.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
