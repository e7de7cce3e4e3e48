"""The file of an agent's credentials: written whole, readable by its owner alone, used by one agent at a time."""

import fcntl
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from scripts.game_server.client import Credentials

MODE = 0o600

ROOM_BYTES = 4_096
"""What is kept free for the credentials, which have some 120."""


class Unusable(Exception):
    """The file cannot be used; the message says why."""


class Kept:
    """A file of credentials, while this process alone uses it.

    Args:
        path: the file's path.
        descriptor: an open descriptor of the file, or of its `.part`, which is renamed to it once it is whole.
        known: the credentials in the file; None where there are none yet.
    """

    def __init__(self, path: Path, descriptor: int, known: Credentials | None) -> None:
        self._path = path
        self._descriptor = descriptor
        self._known = known

    async def credentials(self, register: Callable[[], Awaitable[Credentials]]) -> Credentials:
        """The credentials in the file, or fresh ones, which are then written to it.

        Args:
            register: gets fresh credentials; called only where the file has none and can be written.

        Raises:
            OSError: the credentials cannot be written, as where the disk is full.
        """
        if self._known is None:
            self._write(b" " * ROOM_BYTES)  # finds a full disk before anything is registered
            made = await register()
            content = msgspec.json.encode(made)
            self._write(content)
            os.ftruncate(self._descriptor, len(content))
            os.fsync(self._descriptor)
            _part(self._path).rename(self._path)
            self._known = made
        return self._known

    def _write(self, content: bytes) -> None:
        written = 0
        while written < len(content):
            written += os.pwrite(self._descriptor, content[written:], written)
        os.fsync(self._descriptor)


@contextmanager
def kept_in(path: Path) -> Iterator[Kept]:
    """Use a file of credentials for the block. Where there is none its `.part` is made at once, so that what is
    registered can surely be kept.

    Raises:
        Unusable: the file holds something else, or another agent uses it.
        OSError: the file cannot be read, or there is no place for it.
    """
    try:
        descriptor, is_new = os.open(path, os.O_RDONLY), False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, is_new = os.open(_part(path), os.O_RDWR | os.O_CREAT, MODE), True
    try:
        _lock(path, descriptor)
        if is_new and path.exists():
            raise Unusable(f"another agent has just made {path}")
        yield Kept(path, descriptor, None if is_new else _read(path))
    finally:
        os.close(descriptor)


def _read(path: Path) -> Credentials:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Credentials)
    except ValueError:
        raise Unusable(f"{path} holds no credentials of a game server") from None


def _lock(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Unusable(f"another agent uses {path}; both would do each command") from None


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")
