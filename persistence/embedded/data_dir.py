"""The data folder of one server: locked by one process at a time, with a node name that outlives the process."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from persistence.embedded.cluster import ClusterFaulty, exclusive

NODE_BYTES = 9
"""72 random bits: two nodes on one database never get the same name."""


_RESTORING = "restoring"
"""Is there from the beginning of a restore to its end."""


@contextmanager
def hold_data_dir(data_dir: Path) -> Iterator[None]:
    """Lock the data folder against other servers as long as the block lasts; it is created if it is absent.

    Raises:
        ClusterInUse: another process has locked it.
        ClusterFaulty: it cannot be created, is not a folder, or a restore into it did not finish.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise ClusterFaulty(f"the data folder {data_dir} cannot be used: {fault.strerror}") from None
    with exclusive(data_dir):
        if is_half_restored(data_dir):
            raise ClusterFaulty(
                f"a restore into {data_dir} did not finish: remove what is in the folder and restore again"
            )
        yield


def is_held(data_dir: Path) -> bool:
    """Whether a server holds a data folder at this moment; False also where this user may not look.

    It tries the lock: a server that starts in the same instant would be refused the folder. Ask only where one runs.

    Args:
        data_dir: as for `hold_data_dir`; it need not be there.
    """
    try:
        with (data_dir / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def is_half_restored(data_dir: Path) -> bool:
    """Whether a restore into a data folder has begun and not ended."""
    return (data_dir / _RESTORING).exists()


@contextmanager
def restoring_into(data_dir: Path) -> Iterator[None]:
    """Hold an empty data folder for a restore; until the block ends without an exception, nobody else can use it.

    Raises:
        ClusterInUse, ClusterFaulty: as from `hold_data_dir`; or it is not empty.
    """
    with hold_data_dir(data_dir):
        if {path.name for path in data_dir.iterdir()} - {"lock", "lost+found"}:
            raise ClusterFaulty(f"the data folder {data_dir} is not empty; restore into an empty one")
        mark = data_dir / _RESTORING
        mark.touch()
        yield
        mark.unlink()


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
