"""Public keys of other issuers, and the algorithms that they may be used with.

A module apart from `issuer_settings.py`, because the libraries that parse keys take long to import.
"""

from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

RSA_MIN_BITS = 2048
"""Shortest RSA key that is accepted (RFC 7518 §3.3)."""

# {algorithm: (type of its public keys, the curve's name if the type has several)}
_PUBLIC: dict[str, tuple[type, str | None]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), (RSAPublicKey, None)),
    "ES256": (EllipticCurvePublicKey, "secp256r1"),
    "ES384": (EllipticCurvePublicKey, "secp384r1"),
    "ES512": (EllipticCurvePublicKey, "secp521r1"),
    "EdDSA": (Ed25519PublicKey, None),
}

PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey


def pem_key(issuer: str, algorithm: str, text: str) -> PublicKey:
    """Parse a configured public key.

    Args:
        issuer: the issuer's name, for the error's message.
        algorithm: the algorithm that the key is used with, such as `ES256`.
        text: the key as PEM.

    Raises:
        ValueError: the text is no public key, or none for this algorithm; the message is one line.
    """
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError(f"issuer {issuer}: publicKey is not a PEM public key") from None
    fit = fitting(key, algorithm)
    if fit is None:
        raise ValueError(f"issuer {issuer}: publicKey does not fit {algorithm}, or is too short")
    return fit


def fitting(key: object, algorithm: str) -> PublicKey | None:
    """The `key`, if it may be used with this `algorithm` and is long enough; else None."""
    sort, curve = _PUBLIC[algorithm]
    if not isinstance(key, sort):
        return None
    if isinstance(key, RSAPublicKey):
        return key if key.key_size >= RSA_MIN_BITS else None
    if isinstance(key, EllipticCurvePublicKey):
        return key if key.curve.name == curve else None
    return key if isinstance(key, Ed25519PublicKey) else None
