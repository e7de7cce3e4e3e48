"""The bytes of an artifact that are put with us: they count only if they are those that its release names.

The signature is Ed25519 over the bytes themselves (RFC 8032), as Sparkle's `edSignature`; whose keys count is the
operator's to say.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from actors.errors import FieldError, Invalid
from persistence.versions.releases import Artifact

PublisherKeys = Mapping[str, Ed25519PublicKey]
"""{keyId: key}; empty where no signature is asked for."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a release says of an artifact's bytes.

    Args:
        size_bytes: how many.
        sha256: their SHA-256, or None.
        signature: Ed25519 over them, 64 bytes, or None.
        key_id: of the key that signed them, or None.
    """

    size_bytes: int
    sha256: bytes | None
    signature: bytes | None
    key_id: str | None


def named_by(artifact: Artifact) -> Named:
    """What the artifact says of its bytes. A signature that is no base64 counts as one that fits no bytes."""
    try:
        signature = None if artifact.signature is None else b64decode(artifact.signature, validate=True)
    except (binascii.Error, ValueError):
        signature = b""
    sha256 = None if artifact.sha256 is None else bytes.fromhex(artifact.sha256)
    return Named(artifact.size_bytes, sha256, signature, artifact.key_id)


@dataclass(frozen=True, slots=True)
class Hosted:
    """What has come, and is stored.

    Args:
        size_bytes: how many bytes.
        sha256, sha512: of them.
    """

    size_bytes: int
    sha256: bytes
    sha512: bytes


def check_size(named: Named, size_bytes: int) -> None:
    """Check the length of the bytes.

    Args:
        named: by the release.
        size_bytes: as announced, or as it turned out.

    Raises:
        Invalid: it is another one.
    """
    if size_bytes != named.size_bytes:
        raise _mismatch("/sizeBytes", f"the artifact has {named.size_bytes} bytes")


def check_hash(named: Named, sha256: bytes) -> None:
    """Check the SHA-256 of the bytes, where the release names one.

    Args:
        named: by the release.
        sha256: of the bytes that came.

    Raises:
        Invalid: it is another one.
    """
    if named.sha256 is not None and named.sha256 != sha256:
        raise _mismatch("/sha256", "these bytes have another SHA-256")


def publisher_key(keys: PublisherKeys, named: Named) -> Ed25519PublicKey | None:
    """The key that has to verify the bytes; None where no signature is asked for.

    Args:
        keys: those that count.
        named: by the release.

    Raises:
        Invalid: the artifact has no signature, or names a key that does not count.
    """
    if not keys:
        return None
    if named.signature is None or named.key_id is None:
        missing = "/signature" if named.signature is None else "/keyId"
        raise Invalid(FieldError(missing, "REQUIRED", "what is put here has to be signed"))
    key = keys.get(named.key_id)
    if key is None:
        raise Invalid(FieldError("/keyId", "UNKNOWN", "no publisher has this key"))
    return key


def check_signature(key: Ed25519PublicKey, named: Named, content: memoryview | bytes) -> None:
    """Check the signature over all bytes; blocks, for 64 MiB a tenth of a second.

    Args:
        key: by `publisher_key`.
        named: by the release, with a signature.
        content: the bytes.

    Raises:
        Invalid: the signature is not over these bytes, or by another key.
    """
    try:
        key.verify(named.signature or b"", content)
    except InvalidSignature:
        raise _mismatch("/signature", "the signature is not over these bytes") from None


def _mismatch(pointer: str, message: str) -> Invalid:
    return Invalid(FieldError(pointer, "MISMATCH", message))
