"""The blob store: durable, shared, ranged, swept."""

import fcntl
import hashlib
import os
from pathlib import Path
from random import Random

import pytest

from persistence.blobs import STEP_BYTES, Blobs

FUTURE_SECONDS = 2.0**40


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "data" / "blobs")


def test_equal_bytes_are_kept_once(blobs: Blobs, tmp_path: Path):
    digest = blobs.store(b"hello")
    assert digest == hashlib.sha256(b"hello").digest() == blobs.store(b"hello")
    files = [path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]
    assert files == [blobs.path(digest)]
    assert blobs.read(digest) == b"hello"
    assert blobs.size(digest) == 5
    assert (tmp_path / "data" / "blobs").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [(0, -1, b"hello"), (1, 3, b"ell"), (4, 10, b"o"), (9, 1, b""), (2, -1, b"llo")],
)
def test_ranges_are_clipped(blobs: Blobs, start: int, length: int, expected: bytes):
    assert blobs.read(blobs.store(b"hello"), start=start, length=length) == expected


def test_what_is_not_there_is_none(blobs: Blobs):
    assert blobs.read(bytes(32)) is None
    assert blobs.size(bytes(32)) is None
    assert blobs.drop([bytes(32)], before_seconds=FUTURE_SECONDS) == {bytes(32)}


def test_a_full_disk_leaves_nothing(blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        blobs.store(b"hello")
    assert [path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()] == []


def test_orphans_go_by_age(blobs: Blobs):
    old, young = blobs.store(b"old"), blobs.store(b"young")
    half = blobs.path(old).with_name("half.part")
    half.write_bytes(b"")
    for path in (blobs.path(old), half):
        os.utime(path, (1_000, 1_000))
    assert list(blobs.older_than(2_000)) == [old]
    assert not half.exists()
    blobs.store(b"old")  # again: it is young now, and must survive a sweep that has seen it old
    assert blobs.drop([old], before_seconds=2_000) == set()
    os.utime(blobs.path(old), (1_000, 1_000))
    assert blobs.drop([old, young], before_seconds=2_000) == {old}
    assert blobs.read(old) is None
    assert blobs.read(young) == b"young"


def test_who_sweeps_keeps_other_processes_out(blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    digest = blobs.store(b"hello")
    tried: list[type[Exception]] = []

    def look(_path: Path) -> float:
        with (tmp_path / "data" / "blobs.lock").open("r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as busy:
                tried.append(type(busy))
        return FUTURE_SECONDS

    monkeypatch.setattr("persistence.blobs._changed_seconds", look)
    assert blobs.drop([digest], before_seconds=2_000) == set()
    assert tried == [BlockingIOError]


def files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]


def test_a_blob_may_come_in_pieces(blobs: Blobs, tmp_path: Path):
    data = Random(1).randbytes(3 * STEP_BYTES + 5)
    new = blobs.begin()
    for at in range(0, len(data), 700_001):
        new.write(data[at : at + 700_001])
    assert new.size_bytes == len(data)
    with new.mapped() as memory:
        assert bytes(memory) == data
    assert blobs.size(new.sha256) is None
    new.keep()
    new.discard()
    assert new.sha256 == hashlib.sha256(data).digest()
    assert blobs.read(new.sha256) == data
    assert files(tmp_path) == [blobs.path(new.sha256)]


def test_pieces_of_a_blob_that_is_there_only_renew_it(blobs: Blobs, tmp_path: Path):
    digest = blobs.store(b"hello")
    os.utime(blobs.path(digest), (1_000, 1_000))
    new = blobs.begin()
    new.write(b"hel")
    new.write(b"lo")
    new.keep()
    new.discard()
    assert files(tmp_path) == [blobs.path(digest)]
    assert blobs.path(digest).stat().st_mtime > 2_000


def test_an_empty_blob_is_one(blobs: Blobs):
    new = blobs.begin()
    with new.mapped() as memory:
        assert bytes(memory) == b""
    new.keep()
    new.discard()
    assert blobs.read(hashlib.sha256().digest()) == b""


def test_pieces_that_are_not_kept_leave_nothing(blobs: Blobs, tmp_path: Path):
    new = blobs.begin()
    new.write(b"hello")
    assert len(files(tmp_path)) == 1
    new.discard()
    new.discard()
    assert files(tmp_path) == []


@pytest.mark.parametrize("step", ["fdatasync", "fsync"])
def test_pieces_for_which_there_is_no_room_leave_nothing(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
):
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    new = blobs.begin()
    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space"):
        new.write(b"hello")
        new.keep()
    new.discard()
    assert files(tmp_path) == []
