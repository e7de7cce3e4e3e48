"""The passphrase of a backup, from a file or the terminal: never from the command line, which others can see."""

import sys
from getpass import getpass
from pathlib import Path

from routes.cli.faults import CommandFault
from routes.cli.files import STANDARD_INPUT, opened

LEAST_CHARACTERS = 12

_MOST_BYTES = 4096


def read_passphrase(path: Path | None, *, new: bool = False) -> bytes | None:
    """Read a passphrase: the first line of a file, or of standard input for `-`; a terminal is asked without echo.

    Args:
        path: the file; None for no passphrase.
        new: whether it is to seal something, and so must have at least `LEAST_CHARACTERS`.

    Raises:
        CommandFault: the file cannot be read, or the passphrase is empty or too short.
    """
    if path is None:
        return None
    if path == STANDARD_INPUT and sys.stdin.isatty():
        line = getpass("Passphrase: ").encode()
    else:
        with opened(path) as file:
            line = file.readline(_MOST_BYTES).rstrip(b"\r\n")
    if not line:
        raise CommandFault("the passphrase is empty")
    if new and len(line.decode(errors="replace")) < LEAST_CHARACTERS:
        raise CommandFault(f"the passphrase is shorter than {LEAST_CHARACTERS} characters")
    return line
