"""The files of releases that this service stores: how they are received, where they lie, and when they go.

They are received one at a time, in pieces of half a megabyte: each piece is written and hashed in a worker thread while
the next one arrives. So an upload of any length takes a few megabytes of memory, and other requests do not wait for it.
A file is stored durably before its row says that it is there; files that no row names are swept.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import structlog
import trio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from actors.errors import Overloaded
from actors.versions.hosting import (
    Hosted,
    Named,
    PublisherKeys,
    check_hash,
    check_signature,
    check_size,
    publisher_key,
)
from persistence.blobs import STEP_BYTES, Blobs, NewBlob
from routes.edge.body_pieces import BodyPieces
from routes.part import Opening, Part

VERIFIED_BYTES_PER_SECOND = 32 * 1024 * 1024
"""How fast a signature is checked at least: in memory it is twenty times as fast, but a large file may have to be read
from the disk again."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class HostedFiles:
    """The stored files, and the turn of the one upload at a time.

    Args:
        blobs: the files, by their SHA-256.
        keys: the publishers' keys; empty where no signature is asked for.
        disk_free_min_bytes: how much free space on the disk uploads must leave.
        place: held while a file is received.
    """

    blobs: Blobs
    keys: PublisherKeys
    disk_free_min_bytes: int
    place: trio.Semaphore = field(default_factory=lambda: trio.Semaphore(1))

    async def receive(
        self, named: Named, body: BodyPieces, *, wait_longer: Callable[[float], None]
    ) -> Hosted:
        """Receive the bytes of an artifact, and store them durably if they are those that its release names.

        Cancellation leaves no file behind.

        Args:
            named: what the release says of the artifact's bytes.
            body: the request's body, not read yet.
            wait_longer: extends the request's deadline by so many seconds; called for the check, once all has come.

        Raises:
            Invalid: length, hash or signature differ (`MISMATCH`), or there is no signature that could be checked.
            Overloaded: another file is being received, or the disk has no room.
            Refused: what `BodyPieces` raises.
        """
        if body.length_bytes is not None:
            check_size(named, body.length_bytes)
        key = publisher_key(self.keys, named)
        try:
            self.place.acquire_nowait()
        except trio.WouldBlock:
            raise Overloaded("another file is being put here; try again when it is there") from None
        try:
            return await self._stored(named, key, body, wait_longer)
        except OSError as error:
            log.warning("a file of a release cannot be stored", error=repr(error))
            raise Overloaded("files cannot be stored right now") from error
        finally:
            self.place.release()

    async def _stored(
        self,
        named: Named,
        key: Ed25519PublicKey | None,
        body: BodyPieces,
        wait_longer: Callable[[float], None],
    ) -> Hosted:
        new = await trio.to_thread.run_sync(self._begin, named.size_bytes)
        try:
            sha512 = hashlib.sha512()
            step = bytearray()
            async for piece in body:
                if body.arrived_bytes > named.size_bytes:
                    check_size(named, body.arrived_bytes)
                step += piece
                if len(step) >= STEP_BYTES:
                    await trio.to_thread.run_sync(_write, new, sha512, bytes(step))
                    step.clear()
            await trio.to_thread.run_sync(_write, new, sha512, bytes(step))
            check_size(named, new.size_bytes)
            check_hash(named, new.sha256)
            if key is not None:
                wait_longer(new.size_bytes / VERIFIED_BYTES_PER_SECOND)
                await trio.to_thread.run_sync(_verify, new, partial(check_signature, key, named))
            await trio.to_thread.run_sync(new.keep)
            return Hosted(new.size_bytes, new.sha256, sha512.digest())
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(new.discard)

    def _begin(self, size_bytes: int) -> NewBlob:
        free_bytes = self.blobs.free_bytes()
        if free_bytes - size_bytes < self.disk_free_min_bytes:
            log.warning("an upload was refused: the disk is nearly full", free_bytes=free_bytes)
            raise Overloaded("the disk is nearly full: no files are taken")
        return self.blobs.begin()


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...


def _write(new: NewBlob, sha512: _Hash, step: bytes) -> None:
    sha512.update(step)
    new.write(step)


def _verify(new: NewBlob, check: Callable[[memoryview], None]) -> None:
    with new.mapped() as content:
        check(content)


async def _open(opening: Opening) -> HostedFiles:
    config = opening.config
    keys = {key.key_id: Ed25519PublicKey.from_public_bytes(key.raw) for key in config.release_keys}
    return HostedFiles(Blobs(config.shared_dir / "artifacts"), keys, config.disk_free_min_bytes)


HOSTED_FILES = Part(name="files of releases", open=_open)
"""The files of releases that this service stores."""
