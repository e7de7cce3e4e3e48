"""The content of a backup: a tar stream (POSIX.1-2001) that begins with what it is and ends with what is in it.

    origin.json            which version made it, when, of which database
    database/000001 …      the output of pg_dump, in pieces, because its size is not known before
    keys/…, node           the installation's keys and name
    blobs/…, artifacts/…   the bytes of attachments and of releases
    sums.json              for each of those: how many files, how many bytes, and a SHA-256 over all of them

Nothing is held in memory but a piece, however many files there are.
"""

import hashlib
import io
import re
import tarfile
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

import msgspec

from persistence.backup.faults import BackupFault, altered
from persistence.backup.sealing import Sink, Source

ORIGIN, SUMS = "origin.json", "sums.json"

FORMAT = 1
"""Version of this form; it is raised when older programs could not read what is written."""

T = TypeVar("T")

PIECE_BYTES = 1 << 20

SMALL_BYTES = 1 << 20
"""Most bytes that `origin.json` and `sums.json` may have each."""


_DUMP = re.compile(r"database/\d{6,}")
_FILE = re.compile(
    r"node|keys/[a-z0-9][a-z0-9._-]{0,99}|(?:blobs|artifacts)/[0-9a-f]{2}/[0-9a-f]{64}", re.ASCII
)


def is_dump(name: str) -> bool:
    """Whether a name in the archive is that of a piece of the dump."""
    return _DUMP.fullmatch(name) is not None


def is_file(name: str) -> bool:
    """Whether a name in the archive is that of a file of the installation: nothing else is ever written or restored."""
    return _FILE.fullmatch(name) is not None


class Origin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a backup comes from.

    Args:
        format: `FORMAT` of the program that wrote it.
        version: the version of Partyline that wrote it.
        created_at: ISO 8601, UTC.
        postgres_major: the major version of the PostgreSQL server that was dumped.
        dump_major: the major version of pg_dump; restoring needs a pg_restore that is not older.
        migrations: {name: SHA-256} of the migrations that the database had.
    """

    format: int = FORMAT
    version: str
    created_at: str
    postgres_major: int
    dump_major: int
    migrations: dict[str, str]


class Sum(msgspec.Struct, rename="camel"):
    """What is in one folder of the archive.

    Args:
        files: how many files the folder has.
        bytes: how many bytes all of them have together.
        sha256: hexadecimal, over one line per file with its name, size and SHA-256.
    """

    files: int = 0
    bytes: int = 0
    sha256: str = ""


class _Sums:
    def __init__(self) -> None:
        self._sums: dict[str, Sum] = {}
        self._digests: dict[str, hashlib._Hash] = {}

    def add(self, name: str, size: int, digest: bytes) -> None:
        folder = name.partition("/")[0]
        found = self._sums.setdefault(folder, Sum())
        found.files += 1
        found.bytes += size
        line = f"{name} {size} {digest.hex()}\n"
        self._digests.setdefault(folder, hashlib.sha256()).update(line.encode())

    def take(self) -> dict[str, Sum]:
        for folder, found in self._sums.items():
            found.sha256 = self._digests[folder].hexdigest()
        return self._sums


class Hashing:
    """A stream whose bytes are counted and hashed as they are read.

    Args:
        source: read once, to its end.
        check: called for each piece; what it raises ends the reading.
    """

    def __init__(self, source: Source, check: Callable[[], None]) -> None:
        self._source = source
        self._check = check
        self._sha256 = hashlib.sha256()

    @property
    def sha256(self) -> bytes:
        """The SHA-256 of the bytes read so far."""
        return self._sha256.digest()

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; empty at the end."""
        self._check()
        data = self._source.read(min(size, PIECE_BYTES))
        self._sha256.update(data)
        return data


class ArchiveWriter:
    """Writes the files of a backup one after the other; `finish` has to follow the last.

    Args:
        sink: where the archive is written to.
        origin: where the backup comes from; written first.
        check: called for each piece that is written; what it raises ends the writing.
    """

    def __init__(self, sink: Sink, origin: Origin, check: Callable[[], None]) -> None:
        self._sink = sink
        self._check = check
        self._sums = _Sums()
        self._tar = tarfile.open(mode="w|", fileobj=sink, bufsize=PIECE_BYTES)  # type: ignore[call-overload]  # noqa: SIM115
        self._put(ORIGIN, msgspec.json.encode(origin))

    def add(self, name: str, size: int, source: Source) -> bytes:
        """Write one file, and return the SHA-256 of its bytes.

        Args:
            name: the file's path in the archive, below one of its folders.
            size: how many bytes the file has.
            source: the file's content, of at least `size` bytes.

        Raises:
            OSError: `source` ends before `size` bytes, or the disk is full.
        """
        hashing = Hashing(source, self._check)
        self._put_stream(name, size, hashing)
        self._sums.add(name, size, hashing.sha256)
        return hashing.sha256

    def finish(self) -> dict[str, Sum]:
        """Write the sums and the end, and return the sums."""
        sums = self._sums.take()
        self._put(SUMS, msgspec.json.encode(sums))
        self._tar.close()
        self._sink.finish()
        return sums

    def _put(self, name: str, data: bytes) -> None:
        self._put_stream(name, len(data), io.BytesIO(data))

    def _put_stream(self, name: str, size: int, source: Source) -> None:
        about = tarfile.TarInfo(name)
        about.size, about.mode = size, 0o600
        self._tar.addfile(about, source)  # it is only read
        self._tar.members = []  # kept for random access, which a stream has not


class ArchiveReader:
    """Reads a backup from its beginning to its end.

    Args:
        source: where the archive is read from.
        check: called for each piece that is read; what it raises ends the reading.

    Attributes:
        origin: where the backup comes from.

    Raises:
        BackupFault: the backup is damaged, or of a newer version.
    """

    def __init__(self, source: Source, check: Callable[[], None]) -> None:
        self._source = source
        self._check = check
        try:
            self._tar = tarfile.open(mode="r|", fileobj=source, bufsize=PIECE_BYTES)  # type: ignore[call-overload]  # noqa: SIM115
            about, stream = self._next()
        except tarfile.TarError:
            raise altered() from None
        if about.name != ORIGIN:
            raise altered()
        self.origin = _decode(stream, Origin)
        if self.origin.format > FORMAT:
            raise BackupFault(f"the backup was made by version {self.origin.version}, which is newer")

    def files(self) -> Iterator[tuple[str, int, Source]]:
        """(name, size, stream) of each file, in order; the stream ends when the next file is asked for.

        Raises:
            BackupFault: a file is missing or altered. Only an iteration that ends without it proves all files right.
        """
        sums = _Sums()
        try:
            while True:
                about, stream = self._next()
                if about.name == SUMS:
                    self._compare(sums.take(), _decode(stream, dict[str, Sum]))
                    return
                hashing = Hashing(stream, self._check)
                yield about.name, about.size, hashing
                while hashing.read(PIECE_BYTES):
                    pass
                sums.add(about.name, about.size, hashing.sha256)
        except (tarfile.TarError, EOFError):
            raise altered() from None

    def _compare(self, found: dict[str, Sum], told: dict[str, Sum]) -> None:
        if found != told or self._tar.next() is not None:
            raise altered()
        # A source says only at its end whether it was whole, so what follows the tar stream is read too.
        while self._source.read(PIECE_BYTES):
            pass

    def _next(self) -> tuple[tarfile.TarInfo, BinaryIO]:
        about = self._tar.next()
        self._tar.members = []  # kept for random access, which a stream has not
        stream = None if about is None else self._tar.extractfile(about)
        if about is None or stream is None or not about.isreg():
            raise altered()
        return about, stream  # a reader of bytes


def _decode(stream: Source, kind: type[T]) -> T:
    text = stream.read(SMALL_BYTES)
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError:
        raise altered() from None
