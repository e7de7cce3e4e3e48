"""A file that others never see in part."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file that only this user may read, and that has its name once the block has ended and it is on the disk.

    Args:
        path: of the file, which must not exist. Where the block raises, nothing is left.

    Raises:
        FileExistsError: it exists.
        OSError: it cannot be written.
    """
    if path.exists():
        raise FileExistsError(errno.EEXIST, "is there already", str(path))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk; blocks.

    Raises:
        OSError: there is no such folder, or the disk fails.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
