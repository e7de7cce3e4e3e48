"""Finds the embedded database of a running server, for a second process that only wants to connect to it.

The server that runs a cluster holds its lock; other processes connect to the socket that PostgreSQL itself names in
`postmaster.pid`. That file may be left over from a crash, so only connecting shows whether the address is right.
"""

import os
from pathlib import Path
from urllib.parse import quote

from persistence.embedded.cluster import USER

_PORT_LINE, _SOCKET_LINE, _STATUS_LINE = 3, 4, 7
"""Line numbers in `postmaster.pid`, counted from 0 (PostgreSQL's `utils/pidfile.h`)."""


def running_address(data_dir: Path) -> str | None:
    """The address of the embedded database below a data folder; None unless its pid file says that it is ready.

    Args:
        data_dir: the server's data folder.
    """
    try:
        # `postgres` may be a link to where PostgreSQL's user can reach it.
        lines = os.fsdecode((data_dir / "postgres" / "data" / "postmaster.pid").read_bytes()).split("\n")
    except OSError:
        return None
    if len(lines) <= _STATUS_LINE or lines[_STATUS_LINE].strip() != "ready":
        return None
    folder = quote(lines[_SOCKET_LINE].strip(), safe="")
    return f"postgresql://{USER}@/postgres?host={folder}&port={lines[_PORT_LINE].strip()}"
