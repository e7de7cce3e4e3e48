"""The outermost form of a backup: plain, or sealed under a passphrase. Both are streams, of which a piece is in memory.

    partyline backup 1 plain     then the content, and at the end its SHA-256
    partyline backup 1 sealed    then 16 bytes of salt, 16 to recognise the key, and the content in sealed pieces

The key is scrypt of passphrase and salt (RFC 7914), and HKDF of that (RFC 5869). Each piece is AES-256-GCM under a
nonce of its number and of whether it is the last (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár),
so that none can be changed, left out, moved or cut off unnoticed.
"""

import hashlib
import secrets
from hmac import compare_digest
from typing import BinaryIO, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from persistence.backup.faults import BackupFault, altered

PIECE_BYTES = 64 * 1024
TAG_BYTES = 16
SALT_BYTES = 16
CHECK_BYTES = 16

_PLAIN = b"partyline backup 1 plain\n"
_SEALED = b"partyline backup 1 sealed\n"
_SCRYPT = {"length": 32, "n": 1 << 17, "r": 8, "p": 1}
"""128 MiB and a third of a second. Fixed by the form: a file must not say how much memory its reader spends."""


class Sink(Protocol):
    """What a backup is written to."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes of the content."""
        ...

    def finish(self) -> None:
        """Write what is held back; to be called once, after all content."""
        ...


class Source(Protocol):
    """What a backup is read from."""

    def read(self, size: int, /) -> bytes:
        """Read up to `size` bytes; empty at the end."""
        ...


def sealing(file: BinaryIO, passphrase: bytes | None) -> Sink:
    """Begin a backup in a file, and return what takes its content.

    Args:
        file: open for writing, at its beginning.
        passphrase: what the content is sealed under; None leaves it plain.
    """
    if passphrase is None:
        file.write(_PLAIN)
        return _PlainSink(file)
    salt = secrets.token_bytes(SALT_BYTES)
    key, check = _keys(passphrase, salt)
    head = _SEALED + salt + check
    file.write(head)
    return _SealedSink(file, key, head)


def opening(file: BinaryIO, passphrase: bytes | None) -> Source:
    """Read the beginning of a backup, and return what yields its content.

    Args:
        file: open for reading, at its beginning.
        passphrase: what the content was sealed under; None if the caller has none.

    Raises:
        BackupFault: the file is no backup, or needs a passphrase, or another one.
    """
    begins = file.readline(len(_SEALED))
    if begins == _PLAIN:
        return _PlainSource(file)
    if begins != _SEALED:
        raise BackupFault("this is not a backup of this service, or one of a newer version")
    if passphrase is None:
        raise BackupFault("the backup is sealed; give its passphrase by --passphrase-file")
    salt, known = file.read(SALT_BYTES), file.read(CHECK_BYTES)
    key, check = _keys(passphrase, salt)
    if not compare_digest(check, known):
        raise BackupFault("the passphrase is wrong")
    return _SealedSource(file, key, begins + salt + known)


def _keys(passphrase: bytes, salt: bytes) -> tuple[AESGCM, bytes]:
    master = Scrypt(salt=salt, **_SCRYPT).derive(passphrase)
    both = HKDF(hashes.SHA256(), 32 + CHECK_BYTES, salt=None, info=b"partyline backup").derive(master)
    return AESGCM(both[:32]), both[32:]


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\x01" if last else b"\x00")


class _PlainSink:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self._sha256.update(data)
        self._file.write(data)

    def finish(self) -> None:
        self._file.write(self._sha256.digest())


class _PlainSource:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._held = file.read(self._sha256.digest_size)

    def read(self, size: int) -> bytes:
        came = self._file.read(size)
        both = self._held + came
        data, self._held = both[: len(came)], both[len(came) :]
        self._sha256.update(data)
        if not came and self._held != self._sha256.digest():
            raise altered()
        return data


class _SealedSink:
    def __init__(self, file: BinaryIO, key: AESGCM, head: bytes) -> None:
        self._file = file
        self._key = key
        self._head = head
        self._number = 0
        self._held = bytearray()

    def write(self, data: bytes) -> None:
        self._held += data
        start = 0
        # The newest piece is held back: only the end tells whether it is the last.
        while len(self._held) - start > PIECE_BYTES:
            self._put(bytes(self._held[start : start + PIECE_BYTES]), last=False)
            start += PIECE_BYTES
        del self._held[:start]

    def finish(self) -> None:
        self._put(bytes(self._held), last=True)

    def _put(self, piece: bytes, *, last: bool) -> None:
        self._file.write(self._key.encrypt(_nonce(self._number, last=last), piece, self._head))
        self._number += 1


class _SealedSource:
    def __init__(self, file: BinaryIO, key: AESGCM, head: bytes) -> None:
        self._file = file
        self._key = key
        self._head = head
        self._number = 0
        self._ahead = self._next_sealed()
        self._ended = False
        self._left = b""

    def read(self, size: int) -> bytes:
        if not self._left and not self._ended:
            self._left = self._open()
        found, self._left = self._left[:size], self._left[size:]
        return found

    def _open(self) -> bytes:
        sealed, self._ahead = self._ahead, self._next_sealed()
        self._ended = not self._ahead
        try:
            piece = self._key.decrypt(_nonce(self._number, last=self._ended), sealed, self._head)
        except (InvalidTag, ValueError):
            raise altered() from None
        self._number += 1
        return piece

    def _next_sealed(self) -> bytes:
        return self._file.read(PIECE_BYTES + TAG_BYTES)
