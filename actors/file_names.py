"""Clean the names that users give to files: they end up in headers and on other users' disks."""

import re
import unicodedata

MAX_NAME_CHARACTERS = 1_024
"""Most characters of a name to clean: normalising combining marks takes a time that grows with the square of their
number, 2 ms for this many.
"""

MAX_NAME_BYTES = 255
"""The longest file name in UTF-8 that common file systems accept."""


def clean_name(name: str) -> str:
    """The last part of a path, without control characters, cut to 255 bytes with its ending kept; "" if
    nothing is left.

    Args:
        name: the name as the client sent it, at most `MAX_NAME_CHARACTERS` long.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    visible = "".join(c for c in last if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))
    stripped = visible.strip().rstrip(".")
    stem, dot, ending = stripped.rpartition(".")
    if not dot or len(ending.encode()) > MAX_NAME_BYTES // 4:
        stem, dot, ending = stripped, "", ""
    room = MAX_NAME_BYTES - len((dot + ending).encode())
    return stem.encode()[:room].decode(errors="ignore") + dot + ending
