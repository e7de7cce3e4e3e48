"""The short-lived tokens of game servers (contract §2): signed with the service's own key, each kind with its own `typ`
and `aud`, so that none of them is accepted as a user's token.
"""

from collections.abc import Collection

import msgspec

from actors.ids import RandomBytes, new_uuid
from routes.edge.errors import BadServerCredentials, TokenExpired, Unauthenticated
from routes.edge.identity.issuer_settings import OWN_ISSUER
from routes.edge.identity.jws import read_unverified
from routes.edge.identity.keys import ALGORITHM, Keys, MintedToken

DELEGATED_TYPE = "server+jwt"
DELEGATED_AUDIENCE = "partyline:server"

PERMISSION_TYPE = "permissions+jwt"
PERMISSION_AUDIENCE = "partyline:permissions"

PERMISSION_TTL_SECONDS = 300
"""Lifetime of a permission token: how long a server may rely on it."""


class Delegation(msgspec.Struct, frozen=True):
    """The claims of a delegated token.

    Args:
        sub: the server's id.
        scopes: what it may be used for.
        num: the number of the secret that it was made with; the token ends with that secret.
        exp: expiry, epoch seconds.
    """

    sub: str
    scopes: tuple[str, ...]
    num: int
    exp: int
    iss: str
    aud: str


def mint_delegated(
    keys: Keys,
    server_id: str,
    scopes: Collection[str],
    secret_number: int,
    *,
    now_ms: int,
    ttl_seconds: int,
    random_bytes: RandomBytes,
) -> MintedToken:
    """Mint a token that a server uses in place of its secret, for some scopes and a short time.

    Args:
        scopes: scopes out of `SCOPES`.
        secret_number: the number of the secret that the server came with.
        ttl_seconds: lifetime, at most 900.
    """
    claims = {"sub": server_id, "scopes": sorted(scopes), "num": secret_number, "jti": new_uuid(random_bytes)}
    return keys.mint(DELEGATED_TYPE, DELEGATED_AUDIENCE, claims, now_ms=now_ms, ttl_seconds=ttl_seconds)


def mint_permissions(
    keys: Keys,
    server_id: str,
    user_id: str,
    permissions: Collection[str],
    *,
    now_ms: int,
    random_bytes: RandomBytes,
) -> MintedToken:
    """Mint a token that tells a server the permissions of a player on it; this service does not accept it.

    Args:
        permissions: the permission nodes that the player holds.
    """
    claims = {
        "sub": user_id,
        "server": server_id,
        "permissions": sorted(permissions),
        "jti": new_uuid(random_bytes),
    }
    return keys.mint(
        PERMISSION_TYPE, PERMISSION_AUDIENCE, claims, now_ms=now_ms, ttl_seconds=PERMISSION_TTL_SECONDS
    )


def verify_delegated(keys: Keys, token: str, now_ms: int) -> Delegation:
    """Verify a delegated token and return its claims; the caller checks the server and the number of the secret.

    Args:
        token: the JWT, without `Bearer`.
        now_ms: epoch milliseconds.

    Raises:
        TokenExpired: the token is valid but for its time.
        BadServerCredentials: its signature, type, audience, issuer or claims are wrong.
    """
    try:
        header, claims = read_unverified(token, Delegation)
    except Unauthenticated:
        raise BadServerCredentials from None
    kind = (header.alg, header.typ, claims.aud, claims.iss)
    if kind != (ALGORITHM, DELEGATED_TYPE, DELEGATED_AUDIENCE, OWN_ISSUER) or not keys.has_signed(token):
        raise BadServerCredentials
    if claims.exp * 1000 <= now_ms:
        raise TokenExpired
    return claims
