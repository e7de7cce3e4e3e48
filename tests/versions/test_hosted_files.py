"""Files that come in pieces: stored whole and durable, or not at all."""

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import trio
import trio.testing
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from actors.errors import Invalid, Overloaded
from actors.versions.hosting import Named
from persistence.blobs import Blobs
from routes.edge.body_pieces import BodyPieces
from routes.edge.deadline import Deadline
from routes.edge.errors import CutShort, PayloadTooLarge
from routes.edge.incoming import Incoming
from routes.versions.hosted import HostedFiles

DATA = Random(7).randbytes(1_500_000)
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
NAMED = Named(len(DATA), hashlib.sha256(DATA).digest(), PRIVATE.sign(DATA), "ours")


@pytest.fixture
def files(tmp_path: Path) -> HostedFiles:
    return HostedFiles(Blobs(tmp_path / "artifacts"), {"ours": PRIVATE.public_key()}, 0)


def left(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "artifacts").rglob("*") if path.is_file()]


def body(
    *pieces: bytes,
    length: int | None = None,
    max_bytes: int = 1 << 30,
    cut: bool = False,
    go: trio.Event | None = None,
) -> BodyPieces:
    """Pieces as a client sends them; the last waits for `go`, or never comes because it is `cut`."""
    coming = list(pieces)

    async def receive() -> tuple[bytes, bool]:
        await trio.lowlevel.checkpoint()
        if len(coming) == 1 and cut:
            raise CutShort
        if len(coming) == 1 and go is not None:
            await go.wait()
        return coming.pop(0), bool(coming)

    headers = [] if length is None else [(b"content-length", b"%d" % length)]
    incoming = Incoming("PUT", "/", {}, query=b"", headers=headers, peer="", receive=receive)
    return BodyPieces(incoming, max_bytes=max_bytes, deadline=Deadline(math.inf), request_seconds=60)


def cuts(data: bytes, size: int = 100_000) -> Sequence[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1_000, 65_536, 600_000, len(DATA)])
async def test_what_was_named_is_stored(files: HostedFiles, tmp_path: Path, size: int) -> None:
    for _ in range(2):
        stored = await files.receive(NAMED, body(*cuts(DATA, size), length=len(DATA)))
        assert (stored.size_bytes, stored.sha256) == (len(DATA), NAMED.sha256)
        assert stored.sha512 == hashlib.sha512(DATA).digest()
        assert files.blobs.read(stored.sha256) == DATA
        assert left(tmp_path) == [stored.sha256.hex()]


@pytest.mark.parametrize(
    ("named", "sent", "pointer"),
    [
        (NAMED, body(b"", length=5), "/sizeBytes"),
        (NAMED, body(*cuts(DATA[:-1])), "/sizeBytes"),
        (NAMED, body(*cuts(DATA), b"x"), "/sizeBytes"),
        (NAMED, body(*cuts(DATA[:-1]), b"x"), "/sha256"),
        (replace(NAMED, sha256=None), body(*cuts(DATA[:-1]), b"x"), "/signature"),
        (replace(NAMED, signature=None), body(*cuts(DATA)), "/signature"),
        (replace(NAMED, key_id="gone"), body(*cuts(DATA)), "/keyId"),
    ],
)
async def test_anything_else_leaves_nothing(
    files: HostedFiles, tmp_path: Path, named: Named, sent: BodyPieces, pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await files.receive(named, sent)
    assert [error.pointer for error in refused.value.errors] == [pointer]
    assert left(tmp_path) == []
    await files.receive(NAMED, body(*cuts(DATA)))


async def test_a_file_that_is_too_long_is_not_read_to_its_end(files: HostedFiles) -> None:
    endless = body(*[bytes(100_000)] * 10_000)
    with pytest.raises(Invalid):
        await files.receive(NAMED, endless)
    assert endless.arrived_bytes < len(DATA) + 700_000


async def test_a_cut_upload_leaves_nothing(files: HostedFiles, tmp_path: Path) -> None:
    with pytest.raises(CutShort):
        await files.receive(NAMED, body(*cuts(DATA), cut=True))
    with pytest.raises(PayloadTooLarge):
        await files.receive(NAMED, body(*cuts(DATA), max_bytes=1_000_000))
    assert left(tmp_path) == []


async def test_a_cancelled_upload_leaves_nothing(files: HostedFiles, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(files.receive, NAMED, body(*cuts(DATA), go=trio.Event()))
        while not left(tmp_path):
            await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert left(tmp_path) == []
    await files.receive(NAMED, body(*cuts(DATA)))


async def test_one_file_comes_at_a_time(files: HostedFiles) -> None:
    go = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(files.receive, NAMED, body(*cuts(DATA), go=go))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(Overloaded):
            await files.receive(NAMED, body(*cuts(DATA)))
        go.set()
    await files.receive(NAMED, body(*cuts(DATA)))


async def test_a_disk_that_is_nearly_full_takes_none(files: HostedFiles, tmp_path: Path) -> None:
    full = replace(files, disk_free_min_bytes=2**50)
    with pytest.raises(Overloaded):
        await full.receive(NAMED, body(*cuts(DATA)))
    assert left(tmp_path) == []


@pytest.mark.parametrize("step", ["fdatasync", "fsync"])
async def test_a_disk_that_fills_up_meanwhile_keeps_nothing(
    files: HostedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(Overloaded):
        patch.setattr(os, step, full)
        await files.receive(NAMED, body(*cuts(DATA)))
    assert left(tmp_path) == []
    await files.receive(NAMED, body(*cuts(DATA)))
