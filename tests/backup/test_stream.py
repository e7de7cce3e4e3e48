"""The form of a backup: what is written is read again, and whatever is changed on the way is noticed."""

import io
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persistence.backup import archive, sealing
from persistence.backup.archive import ArchiveReader, ArchiveWriter, Origin
from persistence.backup.faults import BackupFault
from persistence.backup.reading import verify
from persistence.backup.sealing import PIECE_BYTES, opening
from persistence.backup.sealing import sealing as sealed_into

ORIGIN = Origin(
    version="1", created_at="2026-11-24T18:00:00+00:00", postgres_major=18, dump_major=18, migrations={}
)

FILES = {
    "database/000001": b"dump",
    "node": b"name",
    "keys/master.key": bytes(32),
    f"blobs/aa/{'a' * 64}": b"",
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A passphrase is worth a third of a second, but not in each test."""
    monkeypatch.setattr(sealing, "_SCRYPT", {"length": 32, "n": 2, "r": 8, "p": 1})


def nothing() -> None:
    """Of `check`."""


def written(files: Mapping[str, bytes], passphrase: bytes | None, origin: Origin = ORIGIN) -> bytes:
    file = io.BytesIO()
    writer = ArchiveWriter(sealed_into(file, passphrase), origin, nothing)
    for name, data in files.items():
        writer.add(name, len(data), io.BytesIO(data))
    writer.finish()
    return file.getvalue()


def read(data: bytes, passphrase: bytes | None) -> dict[str, bytes]:
    reader = ArchiveReader(opening(io.BytesIO(data), passphrase), nothing)
    assert reader.origin == ORIGIN
    return {name: b"".join(iter(lambda s=stream: s.read(1000), b"")) for name, _, stream in reader.files()}


@pytest.mark.parametrize("passphrase", [None, b"correct horse"])
def test_what_is_written_is_read(passphrase: bytes | None) -> None:
    data = written(FILES, passphrase)
    assert read(data, passphrase) == FILES
    assert (b"dump" in data) == (passphrase is None)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 3 * PIECE_BYTES), max_size=4))
def test_pieces_of_any_size_pass_through_the_seal(sizes: list[int]) -> None:
    file = io.BytesIO()
    sink = sealed_into(file, b"secret")
    whole = bytes(range(256)) * (sum(sizes) // 256 + 1)
    start = 0
    for size in sizes:
        sink.write(whole[start : start + size])
        start += size
    sink.finish()
    source = opening(io.BytesIO(file.getvalue()), b"secret")
    assert b"".join(iter(lambda: source.read(50_000), b"")) == whole[:start]


class _Zeros:
    """A source of any length."""

    def read(self, size: int) -> bytes:
        return bytes(size)


class _Nowhere(io.RawIOBase):
    def write(self, data: object) -> int:
        return len(data)  # type: ignore[arg-type]


def test_memory_is_bounded_by_neither_bytes_nor_files() -> None:
    tracemalloc.start()
    writer = ArchiveWriter(sealed_into(_Nowhere(), b"secret"), ORIGIN, nothing)  # type: ignore[arg-type]
    writer.add("blobs/large", 24 << 20, _Zeros())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 << 20
    # What a tar keeps of each file, for access in any order.
    assert writer._tar.members == []


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda data: data[: len(data) // 2],
    "cut by a byte": lambda data: data[:-1],
    "without its end": lambda data: data[:-10240],
    "more behind it": lambda data: data + b"more",
    "a bit of a key": lambda data: _flipped(data, len(data) // 2),
    "a bit near the beginning": lambda data: _flipped(data, 700),
    "nothing": lambda data: data[:60],
}


@pytest.mark.parametrize("passphrase", [None, b"correct horse"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(change: str, passphrase: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_bytes(CHANGES[change](written(FILES, passphrase)))
    with pytest.raises(BackupFault) as fault:
        verify(file, passphrase, nothing)
    assert str(fault.value) == "the backup was cut off or altered"


def test_pieces_cannot_change_places(tmp_path: Path) -> None:
    data = written({"node": bytes(4 * PIECE_BYTES)}, b"correct horse")
    head, size = 26 + 32, PIECE_BYTES + 16
    pieces = [data[start : start + size] for start in range(head, len(data), size)]
    pieces[1], pieces[2] = pieces[2], pieces[1]
    file = tmp_path / "backup"
    file.write_bytes(data[:head] + b"".join(pieces))
    with pytest.raises(BackupFault, match="cut off or altered"):
        verify(file, b"correct horse", nothing)


@pytest.mark.parametrize(
    ("data", "passphrase", "says"),
    [
        (b"PK\x03\x04 something else", None, "not a backup"),
        (b"", None, "not a backup"),
        (written(FILES, None).replace(b"backup 1 ", b"backup 2 "), None, "a newer version"),
        (None, None, "--passphrase-file"),
        (None, b"wrong horse", "the passphrase is wrong"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(
    data: bytes | None, passphrase: bytes | None, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    file.write_bytes(written(FILES, b"correct horse") if data is None else data)
    with pytest.raises(BackupFault, match=says) as fault:
        verify(file, passphrase, nothing)
    assert "\n" not in str(fault.value)


def test_a_newer_form_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "backup"
    newer = Origin(
        **{**{name: getattr(ORIGIN, name) for name in ORIGIN.__struct_fields__}, "format": archive.FORMAT + 1}
    )
    file.write_bytes(written(FILES, None, newer))
    with pytest.raises(BackupFault, match="version 1, which is newer"):
        verify(file, None, nothing)


@pytest.mark.parametrize(
    "name", ["../evil", "keys/..", "keys/../../evil", "/etc/passwd", "blobs/aa/short", "postgres/data/x"]
)
def test_names_that_lead_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_bytes(written({**FILES, name: b"x"}, None))
    with pytest.raises(BackupFault, match="does not belong there"):
        verify(file, None, nothing)
