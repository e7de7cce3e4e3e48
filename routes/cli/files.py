"""Parses the files that a command names, opens the one that it reads, and finds out whether a folder is closed to its
user.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from routes.cli.faults import CommandFault

STANDARD_INPUT = Path("-")


def named(text: str) -> Path:
    """The path that an argument names.

    Raises:
        ArgumentTypeError: the argument is empty, as it is with a variable that is not set; it would be the working
            directory.
    """
    if not text:
        raise argparse.ArgumentTypeError("is empty")
    return Path(text)


def named_to_write(text: str) -> Path:
    """The path of a file that a command writes.

    Raises:
        ArgumentTypeError: the argument is empty, or `-`: a file of that name is not what is meant, and what follows
            in the pipe would take the report of the command for the file.
    """
    if text == str(STANDARD_INPUT):
        raise argparse.ArgumentTypeError("is written to a file, not to standard output")
    return named(text)


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


AS_SERVICE = "run this as the user that the service runs as"
"""What to do about a folder of the service into which this user may not look."""


def is_closed(folder: Path) -> bool:
    """Whether this user may not look into a folder; False for a folder that does not exist."""
    try:
        (folder / "any").exists()
    except PermissionError:
        return True
    return False
