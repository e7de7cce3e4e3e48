"""Secret values of settings: sealed wherever they are kept, opened for their server alone (contract §7)."""

from collections.abc import Mapping

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12

_PURPOSE = b"settings of a game server"


class Vault:
    """Seals and opens.

    Args:
        key: 32 secret bytes, the same at every start, and not in the database.
    """

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def seal(self, hidden: Mapping[str, str], nonce: bytes) -> bytes:
        """{key: secret value} as nonce and sealed text.

        Args:
            nonce: 12 bytes that were never used before.
        """
        return nonce + self._cipher.encrypt(nonce, msgspec.msgpack.encode(dict(hidden)), _PURPOSE)

    def open(self, sealed: bytes | None) -> dict[str, str]:
        """{key: secret value}; nothing where they were sealed under a key that is lost."""
        if sealed is None:
            return {}
        try:
            opened = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _PURPOSE)
        except InvalidTag:
            return {}
        return msgspec.msgpack.decode(opened, type=dict[str, str])
