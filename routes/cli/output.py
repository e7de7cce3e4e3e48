"""What a command prints: lines on standard output."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from routes.edge.faults import OperatorFault


class OutputFault(OperatorFault):
    """Standard output takes nothing more, as on a full disk; the message is one line for the operator."""


def say(line: str) -> None:
    """Print one line.

    Raises:
        OutputFault: it cannot be written.
        BrokenPipeError: nobody reads it any more.
    """
    with _writing():
        sys.stdout.write(f"{line}\n")


def finish() -> None:
    """Have everything written that was printed.

    Raises:
        OutputFault, BrokenPipeError: as from `say`.
    """
    with _writing():
        sys.stdout.flush()


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise OutputFault(f"standard output cannot be written: {fault.strerror}") from None
