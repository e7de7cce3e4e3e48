"""The key that signs what clients are offered: Ed25519 over canonical JSON (RFC 8032, RFC 8785).

A signature alone does not stop an old answer from being sent again: so clients remember the highest revision of a
channel, and refuse an answer that has expired.
"""

import base64
import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from actors.canonical_json import canonical


class ReleaseKey:
    """The key that signs answers.

    Args:
        seed: 32 secret bytes.

    Attributes:
        public_key: the 32 bytes of the public key in base64.
        key_id: the name of the key: the first 16 hexadecimal digits of the SHA-256 digest of these bytes.
    """

    def __init__(self, seed: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        raw = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public_key = base64.b64encode(raw).decode("ascii")
        self.key_id = hashlib.sha256(raw).hexdigest()[:16]

    def sign(self, document: object) -> str:
        """The base64 signature of a JSON value.

        Raises:
            NotCanonical: the value has no canonical form.
        """
        return base64.b64encode(self._private.sign(canonical(document).encode())).decode("ascii")
