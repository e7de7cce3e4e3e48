"""Attachments and files of releases in the archive. They never change, and have the names of their SHA-256: each is
copied once.

A file that its store has no more stays as long as a base needs it: a base needs what was deleted after it. `NAME.gone`
beside it says since when it is missed; it goes again when the file comes back.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from persistence.backup.writing import STORES
from persistence.new_file import new_file

_DIGITS = 64
_GONE = ".gone"
_SETTLED_SECONDS = 2.0
"""A folder whose time is younger may change without its time changing."""


class FileArchive:
    """Copies the stores' files into the archive and removes those no base needs; every method blocks.

    Args:
        shared_dir: where the stores are.
        archive: the archive's folder.
    """

    def __init__(self, shared_dir: Path, archive: Path) -> None:
        self._shared_dir, self._files = shared_dir, archive / "files"
        self._looked_at: dict[Path, int] = {}

    def copy_new(self, check: Callable[[], None]) -> int:
        """Copy the files that came since the last call, and mark those that went; returns how many were copied.

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
            self._mark(self._files / folder.relative_to(self._shared_dir))
            if time.time_ns() - changed_ns > _SETTLED_SECONDS * 1e9:
                self._looked_at[folder] = changed_ns
        return copied

    def forget_removed(self, before_seconds: float) -> int:
        """Remove archived files that their stores have lacked since before a moment; returns how many.

        Args:
            before_seconds: epoch seconds; files that were first missed later stay, as a base of that time needs them.

        Raises:
            OSError: the disk is broken.
        """
        removed = 0
        for folder in _folders(self._files):
            self._mark(folder)
            for path in sorted(folder.iterdir()):
                file = path.with_name(path.name.removesuffix(_GONE))
                if len(path.name) == _DIGITS or path.stat().st_mtime >= before_seconds:
                    continue
                if path != file:
                    file.unlink(missing_ok=True)
                    removed += 1
                path.unlink(missing_ok=True)  # the mark, or what a crash has left of a file
        return removed

    def _mark(self, folder: Path) -> None:
        """Mark the files in a folder of the archive that its store has no more, and those no more that it has again."""
        if not folder.exists():
            return
        names = {path.name for path in folder.iterdir()}
        for name in sorted(names):
            if len(name) != _DIGITS:
                continue
            file, mark = folder / name, folder / f"{name}{_GONE}"
            is_gone = not (self._shared_dir / file.relative_to(self._files)).exists()
            if is_gone and mark.name not in names:
                mark.touch(0o600)
                os.utime(mark, (time.time(),) * 2)  # by this machine's clock, as the times of bases are
            elif not is_gone and mark.name in names:
                mark.unlink(missing_ok=True)


def free_bytes(archive: Path) -> int:
    """The bytes that this user may still write to an archive's disk; 0 where the disk is not there.

    Args:
        archive: the archive's folder.
    """
    try:
        return shutil.disk_usage(archive).free
    except OSError:
        return 0


def bring_back(archive: Path, shared_dir: Path, check: Callable[[], None]) -> int:
    """Copy all files of an archive into the stores, those that were missed there too; returns how many; blocks.

    Args:
        archive: the archive's folder.
        shared_dir: where the stores are to be.
        check: called for each file; what it raises ends the copying.

    Raises:
        OSError: the disk is full or broken.
    """
    copied = 0
    for folder in _folders(archive / "files"):
        for path in sorted(folder.iterdir()):
            if len(path.name) == _DIGITS:
                check()
                copied += _copy(path, shared_dir / path.relative_to(archive / "files"))
    return copied


def _folders(root: Path) -> Iterator[Path]:
    for store in STORES:
        yield from sorted((root / store).glob("??"))


def _copy(path: Path, target: Path) -> bool:
    """Copy a file durably; False when it has been removed meanwhile, or copied by another process."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with path.open("rb") as source, new_file(target) as file:
            shutil.copyfileobj(source, file)
            os.fchmod(file.fileno(), 0o600)
    except (FileNotFoundError, FileExistsError):
        return False
    return True
