"""Artifacts whose bytes the service stores: an upload counts only if it has the length and hash that the release names.

The signature is Ed25519 over the bytes themselves (RFC 8032), as Sparkle's `edSignature`; whose keys count is the
operator's to say.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from actors.errors import Invalid
from actors.field_errors import FieldError
from persistence.versions.releases import Artifact

PublisherKeys = Mapping[str, Ed25519PublicKey]
"""The keys of publishers that count, {keyId: key}; empty where no signature is required."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a release says of an artifact's bytes.

    Args:
        size_bytes: how many bytes there are.
        sha256: the SHA-256 digest of the bytes, or None.
        signature: the Ed25519 signature over the bytes, 64 bytes, or None.
        key_id: the id of the key that has signed them, or None.
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
    """The bytes that have come, and are stored.

    Args:
        size_bytes: how many bytes there are.
        sha256, sha512: the digests of the bytes.
    """

    size_bytes: int
    sha256: bytes
    sha512: bytes


def check_size(named: Named, size_bytes: int) -> None:
    """Check the length of the bytes.

    Args:
        named: what the release says of the bytes.
        size_bytes: their length, as announced or as it turned out.

    Raises:
        Invalid: the length is not the one that the release names.
    """
    if size_bytes != named.size_bytes:
        raise _mismatch("/sizeBytes", f"the artifact has {named.size_bytes} bytes")


def check_hash(named: Named, sha256: bytes) -> None:
    """Check the SHA-256 of the bytes, where the release names one.

    Args:
        named: what the release says of the bytes.
        sha256: the SHA-256 digest of the bytes that came.

    Raises:
        Invalid: the digest is not the one that the release names.
    """
    if named.sha256 is not None and named.sha256 != sha256:
        raise _mismatch("/sha256", "these bytes have another SHA-256")


def publisher_key(keys: PublisherKeys, named: Named) -> Ed25519PublicKey | None:
    """The key that has to verify the bytes; None where no signature is required.

    Args:
        keys: the keys that count.
        named: what the release says of the bytes.

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
        key: the key that `publisher_key` has returned.
        named: what the release says of the bytes, with a signature.
        content: the bytes.

    Raises:
        Invalid: the signature is not over these bytes, or is by another key.
    """
    try:
        key.verify(named.signature or b"", content)
    except InvalidSignature:
        raise _mismatch("/signature", "the signature is not over these bytes") from None


def _mismatch(pointer: str, message: str) -> Invalid:
    return Invalid(FieldError(pointer, "MISMATCH", message))
