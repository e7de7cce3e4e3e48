"""Stores the bytes of uploads as files, each named by its SHA-256; equal bytes are stored once.

Invariants: a file has its final name only once its bytes are durable (temporary file, fsync, rename, fsync of the
folder). The row that refers to bytes is written before them, and they stay as long as such a row does. A sweep that has
found no row may be overtaken by an upload of the same bytes; that renews the file's time, so that it stays too. While
a backup reads the files, none is removed. Several processes may have one folder, also on several machines where the
file system has locks for all of them, as NFS does.

Everything here blocks: call it from a worker thread.
"""

import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path

from persistence.new_file import sync_folder

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
        root: the store's folder; created when it is absent, readable by this user alone.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._make_folder(root)
        self._lock_path = root.with_name(f"{root.name}.lock")

    def store(self, data: bytes) -> bytes:
        """Store bytes durably and return their SHA-256; if they are stored already, only their time is renewed.

        Raises:
            OSError: the disk is full or broken; no part of a new blob is left.
        """
        digest = hashlib.sha256(data).digest()
        if not self._renewed(digest):
            temporary = self._temporary()
            try:
                with temporary.open("xb", buffering=0) as file:
                    _write_in_steps(file.fileno(), data)
                    os.fsync(file.fileno())
                self._put_in_place(temporary, digest)
            finally:
                temporary.unlink(missing_ok=True)
        return digest

    def begin(self) -> "NewBlob":
        """Begin a blob whose bytes come piece by piece; it is stored by `NewBlob.keep`, and not before.

        Raises:
            OSError: the disk is full or broken.
        """
        return NewBlob(self._temporary(), self._put_in_place)

    def _temporary(self) -> Path:
        name = secrets.token_hex(8)
        folder = self._root / name[:2]
        self._make_folder(folder)
        return folder / f"{name}.part"

    def _put_in_place(self, temporary: Path, digest: bytes) -> None:
        """Give a complete and durable file its final name."""
        if self._renewed(digest):
            temporary.unlink()
            return
        path = self.path(digest)
        self._make_folder(path.parent)
        with self._locked():
            temporary.rename(path)
        sync_folder(path.parent)

    def _renewed(self, digest: bytes) -> bool:
        """Renew the time of a blob; False when there is none."""
        path = self.path(digest)
        if not self._renew(path):
            return False
        # The thread that renamed it may not have synced the folder yet, and our caller counts on that.
        sync_folder(path.parent)
        return True

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
        """Remove blobs that were last stored before a moment; none while `kept_whole` is held.

        Args:
            digests: SHA-256 of blobs to which no row refers, as the caller has found.
            before_seconds: the moment, in epoch seconds.

        Returns: those of `digests` whose blobs are absent now.
        """
        with _sweeping(self._root) as may_remove:
            return self._drop(digests, before_seconds) if may_remove else set()

    def _drop(self, digests: Collection[bytes], before_seconds: float) -> set[bytes]:
        gone = set()
        for digest in digests:
            path = self.path(digest)
            with self._locked():
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
        with self._locked():
            try:
                os.utime(path)
            except FileNotFoundError:
                return False
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other threads and processes out: a blob that is stored again must not be swept between the look at its
        age and its removal."""
        # A descriptor of its own, because the lock belongs to it: threads with one in common would not wait.
        descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_folder(folder.parent)


@contextmanager
def kept_whole(root: Path) -> Iterator[None]:
    """Remove no blob as long as the block lasts, in any process; waits for a removal under way.

    Args:
        root: the store's folder, which exists.
    """
    with _sweep_lock(root) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def _sweeping(root: Path) -> Iterator[bool]:
    with _sweep_lock(root) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextmanager
def _sweep_lock(root: Path) -> Iterator[int]:
    descriptor = os.open(
        root.with_name(f"{root.name}.sweep.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
    )
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class NewBlob:
    """A blob that is being written, in a temporary file; made by `Blobs.begin`.

    One thread at a time may use it. `discard` has to follow, whatever happens.

    Args:
        temporary: the file, which is made here.
        put_in_place: gives the file its final name, by its SHA-256.

    Attributes:
        size_bytes: how many bytes were written so far.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, temporary: Path, put_in_place: Callable[[Path, bytes], None]) -> None:
        self._temporary = temporary
        self._put_in_place = put_in_place
        self._sha256 = hashlib.sha256()
        self.size_bytes = 0
        self._file = temporary.open("x+b", buffering=0)

    def write(self, data: bytes) -> None:
        """Append bytes.

        Args:
            data: any number of bytes, not kept.

        Raises:
            OSError: the disk is full or broken.
        """
        self._sha256.update(data)
        self.size_bytes += len(data)
        _write_in_steps(self._file.fileno(), data)

    @property
    def sha256(self) -> bytes:
        """The SHA-256 of what was written so far."""
        return self._sha256.digest()

    @contextmanager
    def mapped(self) -> Iterator[memoryview]:
        """All that was written, for a `with` block, as memory that the system may take back at any time."""
        if not self.size_bytes:
            yield memoryview(b"")
            return
        with (
            mmap(self._file.fileno(), self.size_bytes, access=ACCESS_READ) as memory,
            memoryview(memory) as view,
        ):
            yield view

    def keep(self) -> None:
        """Store the blob durably under its SHA-256; if such a blob is stored already, only its time is renewed.

        Raises:
            OSError: the disk is full or broken; the blob does not count as stored.
        """
        os.fsync(self._file.fileno())
        self._put_in_place(self._temporary, self.sha256)

    def discard(self) -> None:
        """Remove the temporary file; does nothing more once the blob is stored."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)


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
