"""The short-lived tokens of game servers (contract §2): signed by our own key, each sort with its own `typ` and `aud`,
so that none of them passes for a user's.
"""

from collections.abc import Collection

import jwt
import msgspec

from actors.ids import RandomBytes, new_uuid
from routes.edge.errors import BadServerCredentials, TokenExpired
from routes.edge.identity.issuer_settings import OWN_ISSUER
from routes.edge.identity.keys import ALGORITHM, Keys, MintedToken

DELEGATED_TYPE = "server+jwt"
DELEGATED_AUDIENCE = "partyline:server"

PERMISSION_TYPE = "permissions+jwt"
PERMISSION_AUDIENCE = "partyline:permissions"

PERMISSION_TTL_SECONDS = 300
"""How long a server may believe what a permission token says."""


class Delegation(msgspec.Struct, frozen=True):
    """What a delegated token says.

    Args:
        sub: the server.
        scopes: what it is for.
        num: the number of the secret that it was made with; it ends with that.
        exp: epoch seconds.
    """

    sub: str
    scopes: tuple[str, ...]
    num: int
    exp: int
    iss: str
    aud: str


class _Header(msgspec.Struct, frozen=True):
    typ: str


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
    """A token that stands for the server's secret, for some things and a short time.

    Args:
        secret_number: of the secret that the server came with.
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
    """A token that says what a player may do, for the server that they play on. It opens nothing here."""
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
    """What a delegated token says, after all checks but the one of its secret's number.

    Raises:
        TokenExpired: everything is right but the time.
        BadServerCredentials: anything else is wrong.
    """
    try:
        parts = jwt.PyJWS().decode_complete(token, keys.public_key, algorithms=[ALGORITHM])
        header = msgspec.convert(parts["header"], _Header)
        claims = msgspec.json.decode(parts["payload"], type=Delegation)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise BadServerCredentials from None
    if (header.typ, claims.aud, claims.iss) != (DELEGATED_TYPE, DELEGATED_AUDIENCE, OWN_ISSUER):
        raise BadServerCredentials
    if claims.exp * 1000 <= now_ms:
        raise TokenExpired
    return claims
