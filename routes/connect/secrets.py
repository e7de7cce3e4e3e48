"""Credentials of game servers: claim keys, secrets, delegated tokens, and permission tokens (contract §2)."""

from typing import Annotated

import msgspec

from actors.bounds import IdText, UuidText, ruled
from actors.connect.access import SCOPES
from actors.connect.claim_keys import digest, new_claim_key
from actors.connect.commands import IssueClaimKey, RotateSecret
from actors.errors import Forbidden, Invalid, NotFound
from actors.field_errors import FieldError
from actors.ids import Uuid
from actors.time import iso
from routes.call import Call
from routes.connect.consent import SCOPE as CONSENT_SCOPE
from routes.connect.consent import acting_for
from routes.connect.guards import by_secret, itself_for, owner_of
from routes.connect.parts import GAME_SERVERS
from routes.connect.servers import SECRET_BYTES
from routes.connect.tokens import mint_delegated, mint_permissions
from routes.edge.declare.endpoint import endpoint
from routes.edge.identity.base64url import to_base64url
from routes.edge.principal import AUTHENTICATED, SERVER
from routes.edge.reply import Ask
from routes.edge.wire import Wire
from routes.rates import CLAIM_KEY
from routes.users.parts import USER_DIRECTORY

MAX_TTL_SECONDS = 900
"""Longest lifetime of a delegated token (contract §2)."""

_ONE = "/v1/connect/servers/{serverId}"


class ClaimKey(Wire, frozen=True):
    """A claim key, or the information that the server is claimed.

    Args:
        claim_key: to be shown to the future owner; null once the server is claimed.
        claimed: whether the server has an owner.
        expires_at: when the key expires; null without a key.
    """

    claim_key: str | None
    claimed: bool
    expires_at: str | None


class RotatedSecret(Wire, frozen=True):
    """The new secret, shown this once.

    Args:
        server_secret: the new secret, shown this once.
        former_valid_until: until then the former secret is accepted too.
    """

    server_id: str
    server_secret: str
    former_valid_until: str


class TokenWish(Wire, frozen=True):
    """The scopes and lifetime of a delegated token.

    Args:
        scopes: 1 to 10 capability names, `server.status.write`, `server.sessions.write`, `server.social.act`.
        ttl_seconds: lifetime, 1 to 900.
    """

    scopes: Annotated[
        tuple[Annotated[IdText, ruled(enum=sorted(SCOPES))], ...], msgspec.Meta(min_length=1, max_length=10)
    ]
    ttl_seconds: Annotated[int, msgspec.Meta(ge=1, le=MAX_TTL_SECONDS)] = MAX_TTL_SECONDS


class DelegatedToken(Wire, frozen=True):
    """A token to be used in place of the secret, with X-Server-Id.

    Args:
        token: to be sent in place of the secret; shown this once.
    """

    token: str
    expires_at: str


class PlayerBody(Wire, frozen=True):
    """The player whose permissions are asked for."""

    user_id: UuidText


class PermissionToken(Wire, frozen=True):
    """The permissions of a player.

    Args:
        token: a JWT with the same permissions; this service does not accept it as a credential.
        permissions: every permission node that the player holds, sorted.
    """

    token: str
    permissions: tuple[str, ...]
    expires_at: str


@endpoint(
    "GET",
    _ONE + "/claim-key",
    needs=SERVER,
    rate=CLAIM_KEY,
    refusals=(NotFound, Forbidden),
    guard=by_secret,
)
async def make_claim_key(call: Call, server_id: Uuid) -> ClaimKey:
    """A fresh claim key for the calling server, valid for five minutes.

    Needs the server's secret. Earlier keys stay valid until they expire, 16 of them at most; older ones become unknown.
    """
    key = new_claim_key(call.service.random_bytes)

    def shape(expires_at_ms: int | None) -> ClaimKey:
        if expires_at_ms is None:
            return ClaimKey(None, claimed=True, expires_at=None)
        return ClaimKey(key, claimed=False, expires_at=iso(expires_at_ms))

    return await call.ask(call.service.of(GAME_SERVERS).server, server_id, IssueClaimKey(digest(key)), shape)


@endpoint(
    "POST",
    _ONE + "/secret/rotate",
    needs=AUTHENTICATED,
    secret_reply=True,
    refusals=(NotFound, Forbidden),
    guard=owner_of,
)
def rotate_secret(call: Call, server_id: Uuid) -> Ask[RotatedSecret]:
    """Makes a new secret; the former one is accepted for 10 more minutes.

    For the server's owner. Only one former secret is kept: rotating twice ends one that has leaked at once.
    """
    secret = to_base64url(call.service.random_bytes(SECRET_BYTES))

    def shape(former_until_ms: int) -> RotatedSecret:
        return RotatedSecret(server_id, secret, iso(former_until_ms))

    command = RotateSecret(call.user_id, digest(secret))
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, command, shape)


@endpoint(
    "POST",
    _ONE + "/tokens",
    needs=SERVER,
    status=201,
    secret_reply=True,
    refusals=(NotFound, Forbidden, Invalid),
    guard=by_secret,
)
async def make_token(call: Call, server_id: Uuid, body: TokenWish) -> DelegatedToken:
    """Mints a token to use in place of the secret, for some scopes, up to 15 minutes.

    Needs the server's secret. The token ends with the secret that it was made with, so that `expiresAt` is earlier
    where that is a former one. An unknown scope is a 422.
    """
    unknown = [
        FieldError(f"/scopes/{place}", "UNKNOWN_VALUE", "no such scope")
        for place, scope in enumerate(body.scopes)
        if scope not in SCOPES
    ]
    if unknown:
        raise Invalid(*unknown)
    minted = mint_delegated(
        call.service.keys,
        server_id,
        frozenset(body.scopes),
        call.server.secret_number,
        now_ms=call.now_ms,
        ttl_seconds=_seconds_left(call, body.ttl_seconds),
        random_bytes=call.service.random_bytes,
    )
    return DelegatedToken(minted.token, iso(minted.expires_at_ms))


def _seconds_left(call: Call, wanted: int) -> int:
    """How long a token lives: as long as is wanted, and no longer than the secret that it is made with."""
    ends_at_ms = call.server.expires_at_ms
    return wanted if ends_at_ms is None else max(1, min(wanted, (ends_at_ms - call.now_ms) // 1000))


@endpoint(
    "POST",
    _ONE + "/permission-tokens",
    needs=SERVER,
    status=201,
    secret_reply=True,
    refusals=(NotFound, Forbidden, Invalid),
    guard=itself_for(CONSENT_SCOPE),
)
async def make_permission_token(call: Call, server_id: Uuid, body: PlayerBody) -> PermissionToken:
    """The permissions of a player, for the server that they play on.

    The server must be allowed to act for the player (403 otherwise).
    """
    user_id = await acting_for(call, body.user_id, pointer="/userId")
    access = await call.service.of(USER_DIRECTORY).access_of(user_id)
    minted = mint_permissions(
        call.service.keys,
        server_id,
        user_id,
        access.held,
        now_ms=call.now_ms,
        random_bytes=call.service.random_bytes,
    )
    return PermissionToken(minted.token, access.held, iso(minted.expires_at_ms))
