"""What a command prints: lines on standard output."""

import sys

from routes.edge.faults import OperatorFault


class OutputFault(OperatorFault):
    """Standard output takes nothing more, as on a full disk; the message is one line for the operator."""


def say(line: str) -> None:
    """Print one line.

    Raises:
        OutputFault: it cannot be written.
        BrokenPipeError: nobody reads it any more.
    """
    try:
        sys.stdout.write(f"{line}\n")
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise _told(fault) from None


def finish() -> None:
    """Have everything written that was printed.

    Raises:
        OutputFault, BrokenPipeError: as from `say`.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise _told(fault) from None


def _told(fault: OSError) -> OutputFault:
    return OutputFault(f"standard output cannot be written: {fault.strerror}")
