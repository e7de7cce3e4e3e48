"""The data folder of one server: locked by one process at a time, with a node name that outlives the process."""

import fcntl
import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import trio

from persistence.embedded.errors import ClusterFaulty, ClusterInUse
from persistence.embedded.lock import exclusive

NODE_BYTES = 9
"""72 random bits: two nodes on one database never get the same name."""

HOLD_SECONDS = 5.0
"""How long a start waits for the data folder, which a command such as `partyline token` may hold for a moment."""

HOLD_POLL_SECONDS = 0.1

_NAME = "node"

_IS_NAME = re.compile(rb"[A-Za-z0-9_-]{1,64}")

_RESTORING = "restoring"
"""The name of the file that exists from the beginning of a restore into the folder to its end."""


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

    It takes the lock for an instant; a server that starts just then waits for it.

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


@asynccontextmanager
async def holding(data_dir: Path) -> AsyncIterator[None]:
    """Lock the data folder as `hold_data_dir` does, but wait up to `HOLD_SECONDS` for a command that holds it.

    Cancellation ends the wait.

    Raises:
        ClusterInUse: another process still has it locked after `HOLD_SECONDS`.
        ClusterFaulty: as from `hold_data_dir`.
    """
    give_up_at = trio.current_time() + HOLD_SECONDS
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(hold_data_dir(data_dir))
                break
            except ClusterInUse:
                if trio.current_time() >= give_up_at:
                    raise
            await trio.sleep(HOLD_POLL_SECONDS)
        yield


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

    Raises:
        ClusterFaulty: the file holds no valid name, or is a folder.
    """
    path = data_dir / _NAME
    if not path.exists():
        name_node(data_dir, secrets.token_hex(NODE_BYTES))
    try:
        name = path.read_bytes().strip()
    except IsADirectoryError:
        name = b""
    if _IS_NAME.fullmatch(name) is None:
        raise ClusterFaulty(
            f"{path} does not hold the name of a node; remove it, and the next start makes one"
        )
    return name.decode()


def name_node(data_dir: Path, name: str) -> None:
    """Give the server of a data folder its name.

    Args:
        data_dir: the data folder of a server that does not run.
        name: 1 to 64 letters, digits, `_` and `-`.
    """
    path = data_dir / _NAME
    made = path.with_suffix(".new")
    with made.open("w") as file:
        file.write(name)
        file.flush()
        os.fsync(file.fileno())
    made.rename(path)
