"""What the programs beside the service have in common at the terminal."""

import os
import sys
from contextlib import suppress
from urllib.parse import urlsplit


def tell(line: str, *, aside: bool = False) -> None:
    """Print a line. One that cannot be written (a full disk, a reader that has gone, a stream that was never open) is
    lost, and does not end the program. Characters that are not printable are replaced, as texts of others may be in the
    line.

    Args:
        aside: print to standard error rather than to standard output.
    """
    stream = sys.stderr if aside else sys.stdout
    if stream is None:  # closed before this program began; its descriptor may be a socket of ours by now
        return
    plain = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in line)
    with suppress(OSError):
        os.write(stream.fileno(), f"{plain}\n".encode())


def first(group: BaseException) -> BaseException:
    """The first fault in a group, however deep it lies."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


def web_address(text: str) -> str:
    """Parse an option of a program as an address of http or https; returns it without a slash at its end.

    Raises:
        ValueError: it is none.
    """
    return _address(text, "http", "https").rstrip("/")


def socket_address(text: str) -> str:
    """Parse an argument of a program as an address of ws or wss; returns it.

    Raises:
        ValueError: it is none.
    """
    return _address(text, "ws", "wss")


def _address(text: str, *schemes: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in schemes or not parts.hostname or parts.port == 0:
        raise ValueError
    parts.hostname.encode("idna")  # a UnicodeError, which is a ValueError, where no name can be so
    return text
