"""Stores the bytes of attachments as files, each named by its SHA-256; equal bytes are stored once.

Invariants: a file has its final name only once its bytes are durable (temporary file, fsync, rename, fsync of the
folder). The row that refers to bytes is written before them, and they stay as long as such a row does. A sweep that has
found no row may be overtaken by an upload of the same bytes; that renews the file's time, so that it stays too.

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
"""A sweep leaves blobs that were stored within this time: far longer than it takes from reading rows to removing."""

STRAY_SECONDS = 24 * 3600
"""A file of this age without a row, or half-written, is a remnant of a crash or of an earlier version."""

STEP_BYTES = 512 * 1024
"""How much is written between two waits for the disk (fdatasync). A commit of the database on the same disk may have to
wait for everything written before it that is not on disk yet: 25 ms for 8 MiB, less than 1 ms for this."""

_HEX_DIGITS = 64


class Blobs:
    """A store of blobs below one folder, spread over 256 subfolders.

    Args:
        root: that folder; created when it is absent, readable by this user alone.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._make_folder(root)
        # A blob that is stored again must not be swept between the look at its age and its removal.
        self._lock = threading.Lock()

    def store(self, data: bytes) -> bytes:
        """Store bytes durably and return their SHA-256; if they are stored already, only their time is renewed.

        Raises:
            OSError: the disk is full or broken; no part of a new blob is left.
        """
        digest = hashlib.sha256(data).digest()
        path = self.path(digest)
        self._make_folder(path.parent)
        if self._renew(path):
            # The thread that renamed it may not have synced the folder yet, and our caller counts on that.
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
        """The path of the bytes with this SHA-256, whether they are stored or not."""
        name = digest.hex()
        return self._root / name[:2] / name

    def size(self, digest: bytes) -> int | None:
        """The number of bytes stored under this SHA-256, or None when there is no such blob."""
        try:
            return self.path(digest).stat().st_size
        except FileNotFoundError:
            return None

    def read(self, digest: bytes, *, start: int = 0, length: int = -1) -> bytes | None:
        """Read a range of a blob, clipped to its size; None when there is no such blob.

        Args:
            digest: SHA-256 of the whole blob.
            start: first byte, from 0.
            length: how many; -1 for all that follow.
        """
        try:
            with self.path(digest).open("rb") as file:
                file.seek(start)
                return file.read(length)
        except FileNotFoundError:
            return None

    def older_than(self, before_seconds: float) -> Iterator[bytes]:
        """The SHA-256 of each blob last stored before a moment; half-written files of that age are removed on the way.

        Args:
            before_seconds: the moment, in epoch seconds.
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
        """Remove blobs that were last stored before a moment.

        Args:
            digests: SHA-256 of blobs to which no row refers, as the caller has found.
            before_seconds: the moment, in epoch seconds.

        Returns: those that are absent now.
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
        """Free bytes of the disk that holds the folder."""
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
