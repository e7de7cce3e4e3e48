"""Secrets that must be read again, and so cannot be kept as hashes: sealed before they are stored.

AES-256-GCM (NIST SP 800-38D). The keys are derived from a master key that is not in the database, so a copy of the
database alone opens nothing. What is sealed is bound to where it is kept: moved elsewhere, it does not open.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12


class Vault:
    """Seals and opens secrets under one key.

    Args:
        key: 32 secret bytes, the same at every start.
        version: the version of key and format, which stands in front of everything sealed, so that both can be replaced
            while old secrets are kept; empty for a format without one.
    """

    __slots__ = ("_cipher", "_version")

    def __init__(self, key: bytes, version: bytes = b"") -> None:
        self._cipher = AESGCM(key)
        self._version = version

    def seal(self, plain: bytes, bound_to: bytes, nonce: bytes) -> bytes:
        """Version, nonce, and encrypted text with its tag.

        Args:
            plain: the secret.
            bound_to: names the place where it is kept; needed again to open it.
            nonce: `NONCE_BYTES` random bytes, never used before with this key.
        """
        return self._version + nonce + self._cipher.encrypt(nonce, plain, self._version + bound_to)

    def open(self, sealed: bytes, bound_to: bytes) -> bytes | None:
        """The secret, or None when it was not sealed with this key and version, for this place.

        Args:
            bound_to: the name of the place, as it was given to `seal`.
        """
        if not sealed.startswith(self._version):
            return None
        nonce_end = len(self._version) + NONCE_BYTES
        nonce, text = sealed[len(self._version) : nonce_end], sealed[nonce_end:]
        try:
            return self._cipher.decrypt(nonce, text, self._version + bound_to)
        except (InvalidTag, ValueError):
            return None
