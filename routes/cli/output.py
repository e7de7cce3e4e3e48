"""The output of a command: lines on standard output."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from routes.edge.faults import OperatorFault


class OutputFault(OperatorFault):
    """Standard output takes no more data, as on a full disk; the message is one line for the operator."""


def say(line: str) -> None:
    """Print one line.

    Raises:
        OutputFault: the line cannot be written.
        BrokenPipeError: the reader of standard output has ended.
    """
    with _writing():
        sys.stdout.write(f"{line}\n")


def finish() -> None:
    """Flush everything that was printed.

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
