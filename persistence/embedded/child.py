"""The program that becomes PostgreSQL, or whatever else must not outlive us: it drops privileges, makes the kernel end
it with our process, and calls exec.

A program of its own, run with `python -I -S`, because this needs a process without threads (a `preexec_fn` runs in a
fork of a process that has them) and because the kernel forgets PDEATHSIG when a process changes its user.

    python -I -S child.py UID GID PARENT SIGNAL PROGRAM ARGUMENT…

UID and GID are those to run as. PARENT is the id of the process at whose end the kernel sends SIGNAL, a number; more
exactly, the end of the *thread* in it that started this program.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Replace this process by the program; never returns.

    Args:
        arguments: those after `child.py` in the command line above.

    Raises:
        SystemExit: the parent has ended already.
        OSError: a privilege cannot be dropped, or the program cannot be started.
    """
    uid, gid, parent, number = (int(text) for text in arguments[:4])
    program = arguments[4]
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != uid:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        sys.exit("the parent has ended")
    os.execv(program, arguments[4:])  # noqa: S606 — no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
