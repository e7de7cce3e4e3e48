"""Attachments and files of releases in the archive. They never change, and have the names of their SHA-256: each is
copied once."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from persistence.backup.writing import STORES
from persistence.new_file import new_file

_DIGITS = 64
_SETTLED_SECONDS = 2.0
"""A folder whose time is younger may change without its time changing."""


class FileArchive:
    """Copies what is new; everything here blocks.

    Args:
        shared_dir: where the stores are.
        archive: its folder.
    """

    def __init__(self, shared_dir: Path, archive: Path) -> None:
        self._shared_dir, self._files = shared_dir, archive / "files"
        self._looked_at: dict[Path, int] = {}

    def copy_new(self, check: Callable[[], None]) -> int:
        """Copy the files that came since the last call; returns how many.

        Args:
            check: called for each file; what it raises ends the copying.

        Raises:
            OSError: the disk is full or broken.
        """
        copied = 0
        for folder in _folders(self._shared_dir):
            changed_ns = folder.stat().st_mtime_ns
            if self._looked_at.get(folder) == changed_ns:
                continue
            for path in sorted(folder.iterdir()):
                target = self._files / path.relative_to(self._shared_dir)
                if len(path.name) == _DIGITS and not target.exists():
                    check()
                    copied += _copy(path, target)
            if time.time_ns() - changed_ns > _SETTLED_SECONDS * 1e9:
                self._looked_at[folder] = changed_ns
        return copied

    def forget_removed(self, before_seconds: float) -> int:
        """Remove files that the stores do not have any more; returns how many.

        Args:
            before_seconds: epoch seconds; files that were archived later stay, as a base may need them.
        """
        removed = 0
        for folder in _folders(self._files):
            for path in folder.iterdir():
                is_gone = not (self._shared_dir / path.relative_to(self._files)).exists()
                if is_gone and path.stat().st_mtime < before_seconds:
                    path.unlink()
                    removed += 1
        return removed


def free_bytes(archive: Path) -> int:
    """What is left on the disk of an archive for its user; 0 where it is away.

    Args:
        archive: its folder.
    """
    try:
        return shutil.disk_usage(archive).free
    except OSError:
        return 0


def bring_back(archive: Path, shared_dir: Path, check: Callable[[], None]) -> int:
    """Copy all files of an archive into the stores; returns how many; blocks.

    Args:
        archive: its folder.
        shared_dir: where the stores are to be.
        check: called for each file; what it raises ends the copying.

    Raises:
        OSError: the disk is full or broken.
    """
    copied = 0
    for folder in _folders(archive / "files"):
        for path in sorted(folder.iterdir()):
            check()
            copied += _copy(path, shared_dir / path.relative_to(archive / "files"))
    return copied


def _folders(root: Path) -> Iterator[Path]:
    for store in STORES:
        yield from sorted((root / store).glob("??"))


def _copy(path: Path, target: Path) -> bool:
    """Copy a file durably; False when it has been removed meanwhile."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with path.open("rb") as source, new_file(target) as file:
            shutil.copyfileobj(source, file)
            os.fchmod(file.fileno(), 0o600)
    except FileNotFoundError:
        return False
    return True
