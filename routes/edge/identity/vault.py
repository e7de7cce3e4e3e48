"""Encryption of secrets that the service must be able to use again, and so cannot store as hashes.

AES-256-GCM under a key derived from the service's master key, one per purpose (`keys.py`): a copy of the database
alone reveals none of them. A sealed secret is bound to its row and does not open in another.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.ids import RandomBytes
from routes.edge.identity.keys import Keys

VERSION = b"\x01"
"""Version of key and format, the first byte of everything sealed, so that both can change while old secrets exist."""

_NONCE_BYTES = 12


class Vault:
    """Seals and opens the secrets of one purpose.

    Args:
        keys: the service's own.
        purpose: a name; each has an unrelated key.
        random_bytes: source of nonces.
    """

    def __init__(self, keys: Keys, purpose: str, random_bytes: RandomBytes) -> None:
        self._cipher = AESGCM(keys.derive(purpose))
        self._random_bytes = random_bytes

    def seal(self, plain: bytes, bound_to: bytes) -> bytes:
        """Encrypt a secret, to version byte, nonce and ciphertext.

        Args:
            plain: the secret.
            bound_to: identifies the row; needed again to open it.
        """
        nonce = self._random_bytes(_NONCE_BYTES)
        return VERSION + nonce + self._cipher.encrypt(nonce, plain, VERSION + bound_to)

    def open(self, sealed: bytes, bound_to: bytes) -> bytes | None:
        """The secret, or None when it was not sealed here with the same `bound_to`."""
        if sealed[:1] != VERSION:
            return None
        nonce, text = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, text, VERSION + bound_to)
        except (InvalidTag, ValueError):
            return None
