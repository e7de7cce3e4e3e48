"""Which cluster a data folder or a log is of: PostgreSQL gives each a system identifier when it makes it.

A copy of a cluster, and one that was restored from a base backup, keep it; an upgrade and a restore from a file do not.
"""

import gzip
import struct
from collections.abc import Iterable
from pathlib import Path

_SEGMENT_HEAD = struct.Struct("=HHIQI4xQ")
"""How a segment begins: magic number, flags, timeline, position, rest of a record; then the system identifier."""

_CONTROL_HEAD = struct.Struct("=Q")
"""How `pg_control` begins."""


def of_log(segments: Iterable[Path]) -> int | None:
    """The system identifier in the first archived segment that can be read; None where none can.

    Args:
        segments: compressed files, which are opened one after the other.
    """
    for path in segments:
        try:
            with gzip.open(path) as file:
                return int(_SEGMENT_HEAD.unpack(file.read(_SEGMENT_HEAD.size))[-1])
        except (OSError, EOFError, struct.error):
            continue
    return None


def of_cluster(data: Path) -> int | None:
    """The system identifier of a cluster; None where there is none, or it cannot be looked into.

    Args:
        data: the folder that PostgreSQL calls its data directory.
    """
    try:
        with (data / "global" / "pg_control").open("rb") as file:
            return int(_CONTROL_HEAD.unpack(file.read(_CONTROL_HEAD.size))[0])
    except (OSError, struct.error):
        return None
