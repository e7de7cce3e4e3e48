"""The file that a command reads."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from routes.cli.faults import CommandFault

STANDARD_INPUT = Path("-")


@contextmanager
def opened(path: Path) -> Iterator[BufferedIOBase]:
    """Open a file for reading bytes; `-` is standard input.

    Raises:
        CommandFault: the file cannot be opened.
    """
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer  # type: ignore[misc]  # a BufferedReader in every process that has one
        return
    try:
        file = path.open("rb")
    except OSError as fault:
        raise CommandFault(f"{path}: {fault.strerror}") from fault
    with file:
        yield file
