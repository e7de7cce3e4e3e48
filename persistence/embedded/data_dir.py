"""The data folder of one server: locked by one process at a time, with a node name that outlives the process."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from persistence.embedded.cluster import ClusterFaulty, exclusive

NODE_BYTES = 9
"""72 random bits: two nodes on one database never get the same name."""


@contextmanager
def hold_data_dir(data_dir: Path) -> Iterator[None]:
    """Lock the data folder against other servers as long as the block lasts; it is created if it is absent.

    Raises:
        ClusterInUse: another process has locked it.
        ClusterFaulty: it cannot be created, or is not a folder.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise ClusterFaulty(f"the data folder {data_dir} cannot be used: {fault.strerror}") from None
    with exclusive(data_dir):
        yield


def node_name(data_dir: Path) -> str:
    """The name under which this folder's server holds leases; random, and stored at the first start.

    It stays the same over restarts, so that a server that was killed takes its own leases back at once. `hold_data_dir`
    makes sure that no other process uses it.

    Args:
        data_dir: held by the caller.
    """
    path = data_dir / "node"
    if not path.exists():
        made = path.with_suffix(".new")
        with made.open("w") as file:
            file.write(secrets.token_urlsafe(NODE_BYTES))
            file.flush()
            os.fsync(file.fileno())
        made.rename(path)
    return path.read_text().strip()
