"""Signed tokens as text: JWS compact serialisation (RFC 7515 §7.1), read strictly, and their signatures."""

from typing import TypeVar

import jwt
import msgspec
from jwt.algorithms import get_default_algorithms

from routes.edge.errors import Unauthenticated
from routes.edge.identity.base64url import from_base64url
from routes.edge.identity.issuers import VerifyingKey

TOKEN_MAX_BYTES = 8_192
"""Longest bearer token that is read: no longer one fits the header bound of a common proxy."""

FOREIGN_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""`typ` of other issuers' tokens, lower case (RFC 9068 §2.1); it may be absent."""

_ALGORITHMS = get_default_algorithms()

Claims = TypeVar("Claims", bound=msgspec.Struct)


class Header(msgspec.Struct, frozen=True):
    """The members of a JOSE header that decide anything here."""

    alg: str
    typ: str | None = None
    kid: str | None = None
    crit: msgspec.Raw | None = None
    b64: msgspec.Raw | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether another issuer's token may have this `typ`."""
        return self.typ is None or self.typ.lower() in FOREIGN_TYPES


def read_unverified(
    token: str, claims: type[Claims], *, max_bytes: int = TOKEN_MAX_BYTES
) -> tuple[Header, Claims]:
    """The header and claims of a token whose signature is still to be checked.

    Args:
        token: JWS compact serialisation, of any length.
        claims: the struct that its claims must fit; other claims are ignored.
        max_bytes: the longest that is read.

    Raises:
        Unauthenticated: the text is no such token.
    """
    parts = token.split(".")
    if len(token) > max_bytes or len(parts) != 3:
        raise Unauthenticated
    try:
        # The signature too is decoded strictly: with leftover bits ignored, a changed token would pass.
        head, body, _ = (from_base64url(part) for part in parts)
        header = msgspec.json.decode(head, type=Header)
        found = msgspec.json.decode(body, type=claims)
    except (ValueError, RecursionError):
        raise Unauthenticated from None
    if header.crit is not None or header.b64 is not None:
        # RFC 7515 §4.1.11: an extension that must be understood; none is supported.
        raise Unauthenticated
    return header, found


def is_signed(token: str, key: VerifyingKey, algorithm: str) -> bool:
    """Whether the signature of a token is good. Its header and claims were read by `read_unverified`.

    Args:
        token: a token that `read_unverified` has read.
        key: the key of the token's issuer.
        algorithm: the one that belongs to the key, never the token's own claim (RFC 8725 §3.1).
    """
    signed, _, signature = token.rpartition(".")
    verifier = _ALGORITHMS[algorithm]
    try:
        return verifier.verify(signed.encode(), verifier.prepare_key(key), from_base64url(signature))
    except (jwt.PyJWTError, ValueError):
        return False
