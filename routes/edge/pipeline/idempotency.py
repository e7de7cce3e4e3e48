"""Receipts of requests with an Idempotency-Key: how they are found, checked and sealed (contract §3).

The answer is stored as a `Receipt`, which commits in the very transaction of the effect, by way of `Call.ask` or
`Call.transact`, so that one never exists without the other. Only answers of 200 to 299 have receipts. A receipt is
found by SHA-256 over caller, method, path and key, so that callers never share one.

Replies that hold a secret are sealed with AES-GCM under HKDF(server's key, Idempotency-Key). A copy of the database
opens none of them, not even together with the server's key, since the Idempotency-Key itself is not stored.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from actors.vault import NONCE_BYTES, Vault
from persistence.journal.turn import MARK_BYTES, Receipt
from routes.edge.errors import BadQuery, IdempotencyInProgress, IdempotencyKeyReused

KEPT_MS = 24 * 60 * 60 * 1000
"""How long an answer is kept (contract §3)."""

MAX_KEY_CHARACTERS = 255
"""The longest Idempotency-Key that is taken."""


class Identified(msgspec.Struct, frozen=True):
    """The stored part of an answer that is made anew for repeats: the id of its object."""

    id: str


_identified = msgspec.json.Decoder(Identified)


@dataclass(frozen=True, slots=True)
class Sealer:
    """Encrypts the replies to one Idempotency-Key.

    Args:
        vault: encrypts under the key that is derived from the Idempotency-Key.
        receipt_key: the receipt's key, bound to the sealed text as associated data.
        random_bytes: source of nonces; must be cryptographic.
    """

    vault: Vault
    receipt_key: bytes
    random_bytes: Callable[[int], bytes]

    def seal(self, reply: bytes) -> bytes:
        """Encrypt a reply; returns nonce and ciphertext, joined."""
        return self.vault.seal(reply, self.receipt_key, self.random_bytes(NONCE_BYTES))

    def open(self, sealed: bytes) -> bytes | None:
        """The reply, or None when it was not sealed with this key."""
        return self.vault.open(sealed, self.receipt_key)


@dataclass(slots=True)
class Attempt:
    """One request with an Idempotency-Key.

    Args:
        key: the key of its receipt (`Receipt.key`), 32 bytes.
        mark: the caller's mark (`mark_of`).
        body_digest: SHA-256 of the body, 32 bytes; None until a body that is read piece by piece is complete.
        expires_at_ms: when the receipt expires, epoch milliseconds.
        sealer: encrypts the reply if it holds a secret; else None.
        id_only: whether to store only the reply's `id`.
        kept: whether a receipt was made already; a request has one effect.
        kept_bytes: size of the stored reply; 0 while there is none.
    """

    key: bytes
    mark: bytes
    body_digest: bytes | None
    expires_at_ms: int
    sealer: Sealer | None
    id_only: bool = False
    kept: bool = field(default=False)
    kept_bytes: int = field(default=0)

    @property
    def fingerprint(self) -> bytes:
        """The bytes by which a repeated request is recognised.

        Raises:
            RuntimeError: the body is not complete yet.
        """
        if self.body_digest is None:
            raise RuntimeError("a request under an Idempotency-Key reads its whole body before its effect")
        return self.body_digest + self.mark

    def read(self, body_digest: bytes) -> None:
        """Store the SHA-256 of the body, which is complete now."""
        self.body_digest = body_digest

    def receipt(self, status: int, reply: bytes, etag: bytes = b"") -> Receipt:
        """The receipt that is to commit with the effect.

        Args:
            status: 200 to 299.
            reply: the encoded body, empty for a 204.
            etag: the reply's ETag; empty where it has none.
        """
        self.kept = True
        if self.id_only:
            reply = msgspec.json.encode(_identified.decode(reply))
        if self.sealer is not None:
            # An ETag is a hash over what is secret too.
            reply, etag = self.sealer.seal(reply), etag and self.sealer.seal(etag)
        self.kept_bytes = len(reply) + len(etag)
        return Receipt(self.key, self.fingerprint, status, reply, self.expires_at_ms, etag)

    def replay(self, kept: Receipt) -> tuple[int, bytes, bytes]:
        """(status, body, ETag or nothing) of the first answer, from its receipt.

        Raises:
            IdempotencyKeyReused: that answer was to another body, or its reply was removed or cannot be decrypted any
                more.
        """
        # A receipt of an older version has the body's hash only, without the caller's mark.
        if not self.fingerprint.startswith(kept.fingerprint):
            raise IdempotencyKeyReused
        if kept.forgotten:
            raise IdempotencyKeyReused("the answer to this key is no longer kept")
        if self.sealer is None:
            return kept.status, kept.reply, kept.etag
        reply, etag = self.sealer.open(kept.reply), kept.etag and self.sealer.open(kept.etag)
        if reply is None or etag is None:
            # The server's key was replaced since. The effect has happened, and the client has to be told that its
            # answer is lost.
            raise IdempotencyKeyReused("the answer to this key can no longer be opened")
        return kept.status, reply, etag


def id_kept(reply: bytes) -> str:
    """The `id` in a stored reply: all of it, or, from older versions, a field of the whole reply."""
    return _identified.decode(reply).id


def mark_of(scope: str) -> bytes:
    """16 bytes by which all receipts of one caller can be found.

    Args:
        scope: the principal's key, or the client address of an anonymous caller.
    """
    return hashlib.sha256(scope.encode()).digest()[:MARK_BYTES]


def digest_of(body: bytes) -> bytes:
    """SHA-256 of a body, by which a repeated request is recognised."""
    return hashlib.sha256(body).digest()


class Idempotency:
    """The keys of requests that are in progress in this process.

    Args:
        server_key: 32 secret bytes, the same at every start.
        random_bytes: source of nonces.
    """

    def __init__(
        self, server_key: bytes, *, random_bytes: Callable[[int], bytes] = secrets.token_bytes
    ) -> None:
        self._server_key = server_key
        self._random_bytes = random_bytes
        self._in_flight: set[bytes] = set()

    def begin(
        self,
        text: bytes,
        *,
        scope: str,
        line: str,
        body_digest: bytes | None,
        secret: bool,
        now_ms: int,
        id_only: bool = False,
    ) -> Attempt:
        """Mark a key as in progress; `end` must follow.

        Args:
            text: the Idempotency-Key header.
            scope: the principal's key, or the client address of an anonymous caller.
            line: the request's method and actual path.
            body_digest: SHA-256 of the whole body; None when it is still to be read (`Attempt.read`).
            secret: whether the reply is to be sealed.
            now_ms: epoch milliseconds.
            id_only: whether only the reply's `id` is to be stored.

        Raises:
            BadQuery: the header is not 1 to 255 visible ASCII characters.
            IdempotencyInProgress: a request with the same key is in progress.
        """
        if not 0 < len(text) <= MAX_KEY_CHARACTERS or not all(0x21 <= byte <= 0x7E for byte in text):
            raise BadQuery(
                "Idempotency-Key must be 1 to 255 visible ASCII characters", header="Idempotency-Key"
            )
        key = hashlib.sha256("\n".join((scope, line, text.decode("ascii"))).encode()).digest()
        if key in self._in_flight:
            raise IdempotencyInProgress
        attempt = Attempt(
            key,
            mark_of(scope),
            body_digest,
            now_ms + KEPT_MS,
            self._sealer(text, key) if secret else None,
            id_only,
        )
        self._in_flight.add(key)
        return attempt

    def end(self, attempt: Attempt) -> None:
        """Free the key of a request that has ended, with whatever result."""
        self._in_flight.discard(attempt.key)

    def _sealer(self, text: bytes, key: bytes) -> Sealer:
        derived = HKDF(SHA256(), length=32, salt=text, info=b"partyline idempotent reply").derive(
            self._server_key
        )
        return Sealer(Vault(derived), key, self._random_bytes)
