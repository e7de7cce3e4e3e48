"""Bytes of attachments as files, named by their SHA-256: the one interface to wherever they are kept.

Invariants: a name is taken only by bytes that are durable (temporary file, fsync, rename, fsync of the
folder); equal bytes are kept once. A row speaks of bytes before they are written, and as long as one does they stay; a
sweep that has seen none may be overtaken by an upload of the same bytes, whose file is young again then and stays too.
Everything here blocks: call it from a worker thread.
"""

import hashlib
import os
import secrets
import shutil
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

RENEWED_SECONDS = 60
"""A blob that was stored within this time is left alone: far longer than from a look at the rows to a removal."""

STRAY_SECONDS = 24 * 3600
"""A file of this age without a row is a remnant of a crash or of an earlier version; half-written ones as well."""

STEP_BYTES = 512 * 1024
"""So much is written between two waits for the disk. A commit of the database on the same disk may have to wait for all
that was written before it and is not there yet: 25 ms for 8 MiB, less than 1 ms for this."""

_HEX_DIGITS = 64


class Blobs:
    """Files below one folder, spread over 256 subfolders.

    Args:
        root: made when it is not there, readable by this user alone.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._make_folder(root)
        # A blob that is stored again must not be swept between the look at its age and its removal.
        self._lock = threading.Lock()

    def store(self, data: bytes) -> bytes:
        """Keep the bytes durably and return their SHA-256; bytes that are there already only become young
        again.

        Raises:
            OSError: the disk is full or broken; nothing is kept.
        """
        digest = hashlib.sha256(data).digest()
        path = self.path(digest)
        self._make_folder(path.parent)
        if self._renew(path):
            # Whoever renamed it first may not have come to this yet, and our row must not come before it.
            _sync_folder(path.parent)
            return digest
        temporary = path.parent / f"{secrets.token_hex(8)}.part"
        try:
            with temporary.open("xb", buffering=0) as file:
                _write_in_steps(file.fileno(), data)
                os.fsync(file.fileno())
            with self._lock:
                temporary.rename(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
        return digest

    def path(self, digest: bytes) -> Path:
        """Where the bytes of this SHA-256 lie, whether they do or not."""
        name = digest.hex()
        return self._root / name[:2] / name

    def size(self, digest: bytes) -> int | None:
        """How many bytes are kept, or None when they are not there."""
        try:
            return self.path(digest).stat().st_size
        except FileNotFoundError:
            return None

    def read(self, digest: bytes, *, start: int = 0, length: int = -1) -> bytes | None:
        """A range of the bytes, clipped to what is there; None when they are not kept.

        Args:
            start: first byte, from 0.
            length: how many; -1 for all that follow.
            digest: SHA-256 of the bytes.
        """
        try:
            with self.path(digest).open("rb") as file:
                file.seek(start)
                return file.read(length)
        except FileNotFoundError:
            return None

    def older_than(self, before_seconds: float) -> Iterator[bytes]:
        """Hashes of blobs last stored before that moment (epoch seconds); half-written files of that age go
        at once.
        """
        for path in self._root.glob("??/*"):
            changed_seconds = _changed_seconds(path)
            if changed_seconds is None or changed_seconds >= before_seconds:
                continue
            if path.suffix == ".part":
                path.unlink(missing_ok=True)
            elif len(path.name) == _HEX_DIGITS:
                yield bytes.fromhex(path.name)

    def drop(self, digests: Collection[bytes], *, before_seconds: float) -> set[bytes]:
        """Remove bytes that no row refers to and that were last stored before that moment (epoch seconds).

        Returns: those that are not there any more.
        """
        gone = set()
        for digest in digests:
            path = self.path(digest)
            with self._lock:
                changed_seconds = _changed_seconds(path)
                if changed_seconds is not None and changed_seconds >= before_seconds:
                    continue
                path.unlink(missing_ok=True)
            gone.add(digest)
        return gone

    def free_bytes(self) -> int:
        """What the disk below the folder has left for us."""
        return shutil.disk_usage(self._root).free

    def _renew(self, path: Path) -> bool:
        with self._lock:
            try:
                os.utime(path)
            except FileNotFoundError:
                return False
        return True

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync_folder(folder.parent)


def _changed_seconds(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return None


def _write_in_steps(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.write(descriptor, view[:STEP_BYTES])
        view = view[written:]
        os.fdatasync(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
