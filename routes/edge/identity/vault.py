"""Secrets of others that we must be able to use again, and so cannot keep as hashes: sealed before they are stored.

AES-256-GCM under a key that is derived from the service's master key, one for each purpose (`keys.py`); so a copy of
the database alone opens nothing. What is sealed is bound to its row: moved to another, it does not open.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.ids import RandomBytes
from routes.edge.identity.keys import Keys

VERSION = b"\x01"
"""Of key and form, in front of everything sealed: both can be replaced while old secrets are there."""

_NONCE_BYTES = 12


class Vault:
    """Seals and opens secrets of one purpose.

    Args:
        keys: the service's own.
        purpose: another one gives an unrelated key.
        random_bytes: for nonces.
    """

    def __init__(self, keys: Keys, purpose: str, random_bytes: RandomBytes) -> None:
        self._cipher = AESGCM(keys.derive(purpose))
        self._random_bytes = random_bytes

    def seal(self, plain: bytes, bound_to: bytes) -> bytes:
        """Version, nonce and sealed text.

        Args:
            bound_to: what names the row; needed again to open it.
            plain: the secret.
        """
        nonce = self._random_bytes(_NONCE_BYTES)
        return VERSION + nonce + self._cipher.encrypt(nonce, plain, VERSION + bound_to)

    def open(self, sealed: bytes, bound_to: bytes) -> bytes | None:
        """The secret, or None when it was not sealed here, for this row.

        Args:
            bound_to: what `seal` was given.
        """
        if sealed[:1] != VERSION:
            return None
        nonce, text = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, text, VERSION + bound_to)
        except (InvalidTag, ValueError):
            return None
