"""Reads a backup: first all of it, to know that it is whole, then again to restore it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from persistence.backup.archive import PIECE_BYTES, ArchiveReader, Origin, is_dump, is_file
from persistence.backup.faults import BackupFault
from persistence.backup.programs import Filling
from persistence.backup.sealing import Source, opening


@contextmanager
def _opened(path: Path, passphrase: bytes | None, check: Callable[[], None]) -> Iterator[ArchiveReader]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise BackupFault(f"{path} cannot be read: {error.strerror or error}") from error
    with file:
        yield ArchiveReader(opening(file, passphrase), check)


def verify(path: Path, passphrase: bytes | None, check: Callable[[], None]) -> Origin:
    """Read all of a backup, and return where it comes from; blocks.

    Args:
        path: the backup's file.
        passphrase: the passphrase under which it was sealed; None for a plain backup.
        check: called now and then; what it raises ends the reading.

    Raises:
        BackupFault: the file cannot be read, is damaged, of a newer version, or sealed with another passphrase.
    """
    with _opened(path, passphrase, check) as archive:
        for name, _, _ in archive.files():
            if not is_dump(name) and not is_file(name):
                raise BackupFault(f"the backup has a file that does not belong there: {name[:80]}")
        return archive.origin


def unpack(
    path: Path,
    data_dir: Path,
    shared_dir: Path,
    database: Filling,
    *,
    passphrase: bytes | None,
    check: Callable[[], None],
) -> None:
    """Fill a database and a data folder from a backup that was verified; blocks.

    Args:
        path: the backup's file.
        data_dir: the data folder, which gets the node's name.
        shared_dir: the folder that gets keys and files; none may be there already.
        database: the pg_restore that is filled and finished.
        passphrase, check: as for `verify`.

    Raises:
        BackupFault: as for `verify`; or pg_restore failed, or the disk is full.
    """
    with _opened(path, passphrase, check) as archive:
        for name, _, stream in archive.files():
            if is_dump(name):
                _copy(stream, database.write)
            elif is_file(name):
                _put(data_dir if name == "node" else shared_dir, name, stream)
    os.sync()
    database.finish()


def _put(data_dir: Path, name: str, stream: Source) -> None:
    path = data_dir / name
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            _copy(stream, file.write)
    except OSError as error:
        raise BackupFault(f"{path} cannot be written: {error.strerror or error}") from error


def _copy(stream: Source, write: Callable[[bytes], object]) -> None:
    while data := stream.read(PIECE_BYTES):
        write(data)
