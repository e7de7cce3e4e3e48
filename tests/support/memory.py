"""Has the files that tests write lie in memory, where the machine has enough of it.

A run makes some hundred clusters of PostgreSQL. On a disk each is a thousand files to create, to sync and to remove;
in memory they cost a third of the kernel's time.
"""

import os
import shutil
import tempfile
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")  # shared with others: files in it get names that nobody can guess
_ENOUGH_BYTES = 2 << 30


def work_in_memory() -> None:
    """Have temporary files of this process, and of those it starts, lie in memory; where `TMPDIR` is set, they stay
    there.
    """
    if "TMPDIR" in os.environ or not _is_fit(_SHARED_MEMORY):
        return
    os.environ["TMPDIR"] = tempfile.tempdir = str(_SHARED_MEMORY)


def _is_fit(folder: Path) -> bool:
    """Whether a folder can be written, has room, and lets programs that tests write be run."""
    return (
        os.access(folder, os.W_OK)
        and shutil.disk_usage(folder).free > _ENOUGH_BYTES
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    )
