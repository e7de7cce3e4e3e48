"""Verification of user tokens (contract §2, RFC 7519, RFC 8725), as pure functions of keys and time.

A token is parsed first, to find out which issuer it claims; then its signature is checked with that issuer's key and
algorithm. Its claims are used only after that. Whatever is wrong, the refusal is the same, except that a token that
is valid but expired says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from actors.ids import UserId, parse_uuid
from actors.time import LAST_MS
from routes.edge.errors import TokenExpired, Unauthenticated, UpstreamUnavailable
from routes.edge.identity.issuer_settings import OWN_ISSUER, IssuerSettings, known_as
from routes.edge.identity.issuers import Issuers, VerifyingKey
from routes.edge.identity.jws import Header, is_signed, read_unverified
from routes.edge.identity.keys import ALGORITHM, USER_AUDIENCE, USER_TYPE, Keys
from routes.edge.identity.names import is_name

ISSUED_AHEAD_SECONDS = 60
"""How far `iat` may lie ahead, for another machine's clock. `exp` and `nbf` have no leeway (contract §2)."""


class _Claims(msgspec.Struct, frozen=True):
    sub: str
    name: str
    exp: int | float
    iat: int | float
    nbf: int | float | None = None
    iss: str | None = None
    aud: str | list[str] | None = None
    # Read in our own tokens only: other issuers give `sid` a meaning of their own (OpenID Connect Front-Channel
    # Logout §3), so that it may be anything.
    sid: object = None
    capped: object = False


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """The contents of a token that passed all checks.

    Args:
        user_id: the user's id, from `sub`.
        name: the user's name: 1 to 64 characters, no control characters, no white space at its ends.
        issued_at_s: when the token was issued, epoch seconds.
        expires_at_ms: when it expires, epoch milliseconds.
        capped: whether its issuer may not vouch for super-admins.
        sid: the id of the session that it belongs to; None for a token without a session.
    """

    user_id: UserId
    name: str
    issued_at_s: int
    expires_at_ms: int
    capped: bool = False
    sid: str | None = None


def verify_user_token(token: str, keys: Keys, issuers: Issuers, now_ms: int) -> VerifiedToken:
    """Check a user token in full.

    Args:
        token: JWS compact serialisation, at most 8 KiB.
        keys: the service's own keys.
        issuers: the other issuers that are configured.
        now_ms: epoch milliseconds.

    Raises:
        TokenExpired: the token has expired, and is valid otherwise.
        Unauthenticated: anything else is wrong with the token.
        UpstreamUnavailable: the token's issuer is configured, but its keys could not be fetched yet.
    """
    header, claims = read_unverified(token, _Claims)
    settings = _issuer_of(token, header, claims, keys, issuers)
    return _checked(claims, settings, now_ms)


def _issuer_of(
    token: str, header: Header, claims: _Claims, keys: Keys, issuers: Issuers
) -> IssuerSettings | None:
    """The issuer whose key verifies the signature; None for the service itself."""
    if claims.iss == OWN_ISSUER:
        if _may_be_own(header, claims, keys) and keys.has_signed(token):
            return None
        raise Unauthenticated
    for algorithm, key, settings in _candidates(header, claims, issuers):
        if is_signed(token, key, algorithm):
            return settings
    raise Unauthenticated


def _may_be_own(header: Header, claims: _Claims, keys: Keys) -> bool:
    """Whether the service makes user tokens with this header and this audience."""
    named = header.typ == USER_TYPE and header.kid in {None, keys.key_id}
    return named and header.alg == ALGORITHM and claims.aud == USER_AUDIENCE


def _candidates(
    header: Header, claims: _Claims, issuers: Issuers
) -> Iterator[tuple[str, VerifyingKey, IssuerSettings]]:
    """The keys that may have signed a token with this header and these claims, with algorithm and issuer.

    Raises:
        UpstreamUnavailable: after the last key, if an issuer whose keys are not known yet may have signed it, too.
    """
    if not header.is_foreign:
        return
    unknown = False
    for issuer in issuers.named(claims.iss or ""):
        settings = issuer.settings
        if settings.client_id is not None and settings.aud is None:
            continue  # where browsers sign in, tokens that were made for other clients are no credentials here
        audiences = claims.aud if isinstance(claims.aud, list) else [claims.aud]
        if known_as(header.alg) != settings.alg or (
            settings.aud is not None and settings.aud not in audiences
        ):
            continue
        key = issuer.key_for(header.kid) if issuer.keys else None
        if key is not None:
            yield settings.alg, key, settings
        unknown = unknown or not issuer.keys
    if unknown:
        raise UpstreamUnavailable("the keys of the token's issuer are not known yet")


def _checked(claims: _Claims, settings: IssuerSettings | None, now_ms: int) -> VerifiedToken:
    """Check the claims of a token whose signature is good.

    Args:
        settings: the issuer's settings; None for a token of the service itself.
    """
    user_id = parse_uuid(claims.sub)
    times = (claims.exp, claims.iat, claims.nbf or 0)
    if user_id is None or not is_name(claims.name) or not all(0 <= time * 1000 <= LAST_MS for time in times):
        raise Unauthenticated
    if times[1] * 1000 > now_ms + ISSUED_AHEAD_SECONDS * 1000 or times[2] * 1000 > now_ms:
        raise Unauthenticated
    if settings is not None and not user_id.startswith(settings.subjects):
        raise Unauthenticated
    expires_at_ms = int(claims.exp * 1000)
    if expires_at_ms <= now_ms:
        raise TokenExpired
    verified = UserId(user_id), claims.name, int(claims.iat), expires_at_ms
    if settings is not None:
        return VerifiedToken(*verified, capped=not settings.super_admins)
    sid = claims.sid if isinstance(claims.sid, str) else None
    return VerifiedToken(*verified, capped=claims.capped is True, sid=sid)
