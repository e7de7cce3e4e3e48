"""The lock of a folder, which one process holds at a time: `flock` on its file `lock`.

The kernel lets go of it when the process ends, however it ends, so that nothing is left of a crash.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from persistence.embedded.account import name_of
from persistence.embedded.errors import ClusterFaulty, ClusterInUse


@contextmanager
def exclusive(home: Path) -> Iterator[None]:
    """Lock a folder as long as the block lasts, against other processes that do the same.

    Args:
        home: the folder, which exists; its file `lock` gets our process id.

    Raises:
        ClusterInUse: another process has locked it.
        ClusterFaulty: this user may not lock the folder.
    """
    try:
        descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        why = f"{fault.strerror}{_by_whom(home)}" if isinstance(fault, PermissionError) else fault.strerror
        raise ClusterFaulty(f"{home / 'lock'} cannot be opened: {why}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown"
            raise ClusterInUse(f"another server (process {holder}) uses {home}") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _by_whom(home: Path) -> str:
    """Whose a folder's lock is, or the folder, and who wanted it; nothing if that tells no more."""
    for path in (home / "lock", home):
        with suppress(OSError):
            uid = path.stat().st_uid
            if uid != os.geteuid():
                return f": it belongs to {name_of(uid)}, and this runs as {name_of(os.geteuid())}"
    return ""
