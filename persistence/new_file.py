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
        path: the file's final path, which must not exist yet. If the block raises, no file is left.

    Raises:
        FileExistsError: the file exists, or does by the end of the block.
        OSError: the file cannot be written.
    """
    if path.exists():
        raise _there_already(path)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _name(draft, path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _name(draft: Path, path: Path) -> None:
    """Give a file its name, unless another has got it meanwhile: a rename would replace that."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise _there_already(path) from None
    except OSError:
        # Some file systems have no hard links. There, a file that another process makes after this check is replaced.
        if path.exists():
            raise _there_already(path) from None
        draft.rename(path)


def _there_already(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "is there already", str(path))


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, by fsync of the folder; blocks.

    Raises:
        OSError: there is no such folder, or the disk fails.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
