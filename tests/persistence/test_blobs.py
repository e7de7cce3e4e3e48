"""The blob store: durable, shared, ranged, swept."""

import hashlib
import os
from pathlib import Path

import pytest

from persistence.blobs import Blobs

FUTURE_SECONDS = 2.0**40


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "data" / "blobs")


def test_equal_bytes_are_kept_once(blobs: Blobs, tmp_path: Path):
    digest = blobs.store(b"hello")
    assert digest == hashlib.sha256(b"hello").digest() == blobs.store(b"hello")
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
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
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file()] == []


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
