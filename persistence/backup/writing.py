"""Makes a backup of an installation, whether or not it is running.

The database is dumped as it is at one moment. Files are read after that, and none is removed meanwhile, so that the
bytes of every attachment and release of that moment are there; those that came later do no harm.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from persistence.backup.archive import ArchiveWriter, Origin, Sum, is_file
from persistence.backup.faults import BackupFault
from persistence.backup.sealing import sealing
from persistence.blobs import kept_whole
from persistence.new_file import new_file

STORES = ("blobs", "artifacts")
"""Folders of files that are named by their SHA-256."""

_LAST = "last-backup"
"""A file whose time is set after each backup, so that it says when the newest was made."""


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made.

    Args:
        size_bytes: the size of the backup's file.
        sums: what each folder of the backup contains.
        damaged: names of files whose bytes no longer match the SHA-256 in their name: the disk has spoiled them.
    """

    size_bytes: int
    sums: dict[str, Sum]
    damaged: tuple[str, ...]


def write_backup(
    path: Path,
    data_dir: Path,
    shared_dir: Path,
    dumped: Iterable[bytes],
    *,
    origin: Origin,
    passphrase: bytes | None,
    check: Callable[[], None],
) -> Made:
    """Write a backup; blocks until it is on the disk.

    Args:
        path: the backup's file, which must not exist yet; only this user may read it.
        data_dir: the data folder.
        shared_dir: where keys and files are, which may be the data folder.
        dumped: the output of pg_dump.
        origin: where the backup comes from.
        passphrase: what the file is sealed under; None leaves it plain.
        check: called now and then; what it raises ends the backup, and leaves no file.

    Raises:
        BackupFault: the file exists or cannot be written, or pg_dump failed.
    """
    try:
        with new_file(path) as file, ExitStack() as still:
            stores = [shared_dir / name for name in STORES if (shared_dir / name).is_dir()]
            for store in stores:
                still.enter_context(kept_whole(store))
            archive = ArchiveWriter(sealing(file, passphrase), origin, check)
            for number, piece in enumerate(dumped, 1):
                archive.add(f"database/{number:06}", len(piece), BytesIO(piece))
            for one in _files_in(data_dir, data_dir):
                _add(archive, data_dir, one)
            for one in _files_in(shared_dir, shared_dir / "keys"):
                _add(archive, shared_dir, one)
            damaged = tuple(name for store in stores for name in _add_store(archive, store))
            sums = archive.finish()
            size_bytes = file.tell()
    except OSError as error:
        raise BackupFault(f"{error.filename or path}: {error.strerror or error}") from error
    (shared_dir / _LAST).touch()
    return Made(size_bytes, sums, damaged)


def last_backup_seconds(shared_dir: Path) -> float:
    """When the newest backup of an installation was complete, epoch seconds; 0 for never.

    Args:
        shared_dir: where its keys and files are.
    """
    try:
        return (shared_dir / _LAST).stat().st_mtime
    except OSError:
        return 0.0


def _add_store(archive: ArchiveWriter, store: Path) -> Iterator[str]:
    """Add all files of a store; yields the names of those that are damaged."""
    for folder in sorted(store.glob("??")):
        for path in _files_in(store.parent, folder):
            digest = _add(archive, store.parent, path)
            if digest.hex() != path.name:
                yield path.name


def _files_in(root: Path, folder: Path) -> list[Path]:
    """The files of a folder that belong in a backup, without half-written ones or others' files."""
    return [path for path in sorted(folder.iterdir()) if is_file(str(path.relative_to(root)))]


def _add(archive: ArchiveWriter, root: Path, path: Path) -> bytes:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        return archive.add(str(path.relative_to(root)), size, file)
