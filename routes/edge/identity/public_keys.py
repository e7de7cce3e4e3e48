"""Public keys of other issuers, and which algorithms they may be used with.

Apart from the settings that name them, because what reads them takes long to import.
"""

from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

RSA_MIN_BITS = 2048
"""RFC 7518 §3.3."""

# {algorithm: the sort of public key that it takes, and the curve's name where there are several}
_PUBLIC: dict[str, tuple[type, str | None]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), (RSAPublicKey, None)),
    "ES256": (EllipticCurvePublicKey, "secp256r1"),
    "ES384": (EllipticCurvePublicKey, "secp384r1"),
    "ES512": (EllipticCurvePublicKey, "secp521r1"),
    "EdDSA": (Ed25519PublicKey, None),
}

PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey


def pem_key(issuer: str, algorithm: str, text: str) -> PublicKey:
    """The public key that a setting names.

    Args:
        issuer: whose, for what is said of it.
        algorithm: that it is used with, such as `ES256`.
        text: PEM.

    Raises:
        ValueError: with one line: it is none, or not one for the algorithm.
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
    """The key, if it is one that this algorithm may be used with."""
    sort, curve = _PUBLIC[algorithm]
    if not isinstance(key, sort):
        return None
    if isinstance(key, RSAPublicKey):
        return key if key.key_size >= RSA_MIN_BITS else None
    if isinstance(key, EllipticCurvePublicKey):
        return key if key.curve.name == curve else None
    return key if isinstance(key, Ed25519PublicKey) else None
