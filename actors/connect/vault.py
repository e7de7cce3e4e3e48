"""Encrypt secret values of settings: sealed wherever they are stored, opened for their server alone (contract §7)."""

from collections.abc import Mapping

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12

_PURPOSE = b"settings of a game server"


class Vault:
    """Seals and opens secret values with AES-GCM.

    Args:
        key: 32 secret bytes, the same at every start, and not in the database.
    """

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def seal(self, hidden: Mapping[str, str], nonce: bytes) -> bytes:
        """Encrypt {key: secret value}; returns the nonce followed by the ciphertext.

        Args:
            nonce: 12 bytes that were never used before.
        """
        return nonce + self._cipher.encrypt(nonce, msgspec.msgpack.encode(dict(hidden)), _PURPOSE)

    def open(self, sealed: bytes | None) -> dict[str, str]:
        """Decrypt to {key: secret value}; empty for None, and where they were sealed under another key."""
        if sealed is None:
            return {}
        try:
            opened = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _PURPOSE)
        except InvalidTag:
            return {}
        return msgspec.msgpack.decode(opened, type=dict[str, str])
