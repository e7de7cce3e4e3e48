"""Verification of ID tokens, by which an issuer says who has just signed in (OpenID Connect Core §3.1.3.7)."""

from hmac import compare_digest

import msgspec

from actors.time import LAST_MS
from routes.edge.errors import Unauthenticated, UpstreamUnavailable
from routes.edge.identity.issuer_settings import known_as
from routes.edge.identity.issuers import Issuer
from routes.edge.identity.jws import is_signed, read_unverified
from routes.edge.identity.names import NAME_MAX, is_name
from routes.edge.identity.tokens import ISSUED_AHEAD_SECONDS

ID_TOKEN_MAX_BYTES = 32 * 1024
"""Longest ID token that is read. It passes no header, and some issuers list all groups of a user in it."""

SUBJECT_MAX = 255
"""Most characters of a subject (OpenID Connect Core §2)."""


class Names(msgspec.Struct, frozen=True):
    """What an issuer calls a user (OpenID Connect Core §5.1). These names decide nothing, so that a strange one is no
    reason to refuse."""

    name: object = None
    preferred_username: object = None
    nickname: object = None

    def best(self) -> str | None:
        """The first of them that `is_name` accepts, shortened if need be; None if there is none."""
        names = (self.preferred_username, self.name, self.nickname)
        return next(filter(None, map(_name, names)), None)


class _Claims(Names, frozen=True, kw_only=True):
    iss: str
    sub: str
    aud: str | list[str]
    exp: int | float
    iat: int | float
    nonce: str
    azp: str | None = None


class UnknownKey(Exception):
    """The token is signed with none of the keys of its issuer that are known."""


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
        Unauthenticated: anything is wrong with the token; the message says what, for the operator.
        UnknownKey: it is signed with none of the issuer's keys.
        UpstreamUnavailable: no keys of the issuer could be fetched yet.
    """
    header, claims = read_unverified(token, _Claims, max_bytes=ID_TOKEN_MAX_BYTES)
    settings = issuer.settings
    if known_as(header.alg) != settings.alg or not header.is_foreign:
        raise Unauthenticated("the ID token is not of the configured alg")
    if not issuer.keys:
        raise UpstreamUnavailable("the keys of this issuer are not known yet")
    key = issuer.key_for(header.kid)
    if key is None or not is_signed(token, key, settings.alg):
        raise UnknownKey("the ID token is signed with no key that jwksUrl has")
    _check(claims, issuer, nonce, now_ms)
    return SignedIn(claims.sub, claims.best(), int(claims.iat))


def _check(claims: _Claims, issuer: Issuer, nonce: str, now_ms: int) -> None:
    client_id = issuer.settings.client_id
    audiences = claims.aud if isinstance(claims.aud, list) else [claims.aud]
    party = claims.azp if claims.azp is not None or len(audiences) > 1 else client_id
    if claims.iss != issuer.settings.iss or client_id not in audiences or party != client_id:
        raise Unauthenticated("the ID token is of another issuer, or for another client")
    if not all(0 <= time * 1000 <= LAST_MS for time in (claims.exp, claims.iat)):
        raise Unauthenticated("the ID token tells no time")
    if claims.exp * 1000 <= now_ms or claims.iat * 1000 > now_ms + ISSUED_AHEAD_SECONDS * 1000:
        raise Unauthenticated("the ID token has expired, or is of later: the clocks differ")
    if not compare_digest(claims.nonce.encode(), nonce.encode()):
        raise Unauthenticated("the ID token is of another sign-in")
    if not 0 < len(claims.sub) <= SUBJECT_MAX or not claims.sub.isprintable():
        raise Unauthenticated("the subject of the ID token is none")


def _name(said: object) -> str | None:
    if not isinstance(said, str):
        return None
    name = said.strip()[:NAME_MAX].strip()
    return name if is_name(name) else None
