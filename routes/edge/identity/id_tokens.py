"""Verification of ID tokens, by which an issuer says who has just signed in (OpenID Connect Core §3.1.3.7)."""

from hmac import compare_digest

import msgspec

from actors.time import LAST_MS
from routes.edge.errors import Unauthenticated, UpstreamUnavailable
from routes.edge.identity.issuers import Issuer
from routes.edge.identity.jws import is_signed, read_unverified
from routes.edge.identity.names import NAME_MAX, is_name
from routes.edge.identity.tokens import ISSUED_AHEAD_SECONDS

SUBJECT_MAX = 255
"""Most characters of a subject (OpenID Connect Core §2)."""


class _Claims(msgspec.Struct, frozen=True):
    iss: str
    sub: str
    aud: str | list[str]
    exp: int | float
    iat: int | float
    nonce: str
    azp: str | None = None
    # Display names decide nothing, so that a strange one is no reason to refuse.
    name: object = None
    preferred_username: object = None
    nickname: object = None


class SignedIn(msgspec.Struct, frozen=True):
    """A user who has signed in with an issuer.

    Args:
        subject: the user's `sub`, unique and never reused at the issuer, 1 to 255 characters.
        name: the user's name at the issuer; None where the issuer gives none that `is_name` accepts.
        issued_at_s: when the ID token was issued, epoch seconds.
    """

    subject: str
    name: str | None
    issued_at_s: int


def verify_id_token(token: str, issuer: Issuer, *, nonce: str, now_ms: int) -> SignedIn:
    """Check the ID token in the response of an issuer's token endpoint.

    Args:
        token: the ID token as it was received.
        issuer: the issuer, whose settings have the client id of this service; its key and algorithm verify the token.
        nonce: the nonce that was sent with the authorisation request.
        now_ms: epoch milliseconds.

    Raises:
        Unauthenticated: anything is wrong with the token.
        UpstreamUnavailable: no keys of the issuer could be fetched yet.
    """
    header, claims = read_unverified(token, _Claims)
    settings = issuer.settings
    if not issuer.keys:
        raise UpstreamUnavailable("the keys of this issuer are not known yet")
    key = issuer.key_for(header.kid)
    if key is None or header.alg != settings.alg or not header.is_foreign:
        raise Unauthenticated
    if not is_signed(token, key, settings.alg):
        raise Unauthenticated
    _check(claims, issuer, nonce, now_ms)
    names = (claims.preferred_username, claims.name, claims.nickname)
    return SignedIn(claims.sub, next(filter(None, map(_name, names)), None), int(claims.iat))


def _check(claims: _Claims, issuer: Issuer, nonce: str, now_ms: int) -> None:
    client_id = issuer.settings.client_id
    audiences = claims.aud if isinstance(claims.aud, list) else [claims.aud]
    party = claims.azp if claims.azp is not None or len(audiences) > 1 else client_id
    if claims.iss != issuer.settings.iss or client_id not in audiences or party != client_id:
        raise Unauthenticated
    if not all(0 <= time * 1000 <= LAST_MS for time in (claims.exp, claims.iat)):
        raise Unauthenticated
    if claims.exp * 1000 <= now_ms or claims.iat * 1000 > now_ms + ISSUED_AHEAD_SECONDS * 1000:
        raise Unauthenticated
    if not compare_digest(claims.nonce.encode(), nonce.encode()):
        raise Unauthenticated
    if not 0 < len(claims.sub) <= SUBJECT_MAX or not claims.sub.isprintable():
        raise Unauthenticated


def _name(said: object) -> str | None:
    if not isinstance(said, str):
        return None
    name = said.strip()[:NAME_MAX].strip()
    return name if is_name(name) else None
