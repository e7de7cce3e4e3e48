"""Sessions: beginning, renewing and ending the one of this browser, and seeing and ending one's others.

A session is 256 random bits in a cookie that no script can read; what the page holds is a token of ten minutes (IETF,
OAuth 2.0 for Browser-Based Applications, token-mediating backend). Only the routes that begin, renew and end look at
the cookie, and they want to be asked by our own pages.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from actors.errors import NotFound
from actors.ids import ObjectId
from actors.sessions import units
from actors.sessions.lifetimes import chain_of, ends_at_ms, lifetime_of
from actors.time import iso
from actors.users.permissions import capped_to
from persistence.sessions import sessions as rows
from persistence.sessions.sessions import MadeBy, Session
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import OriginRefused, TokenExpired, Unauthenticated
from routes.edge.identity.credentials import bearer
from routes.edge.pipeline.guessing import count_guess, refuse_guessing
from routes.edge.principal import AUTHENTICATED, PUBLIC, UserPrincipal
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.sessions.browser import (
    ADDRESS_MAX,
    browser_of,
    hash_of,
    new_secret,
    new_session,
    require_same_origin,
    secret_of,
    session_cookie,
)
from routes.sessions.tokens import SessionToken, chain_of_secret, lineage_of, proof_of, rights_in, token_of
from routes.users.parts import USER_DIRECTORY


class NewSessionBody(Wire, frozen=True):
    """How to sign in.

    Args:
        code: of a sign-in link. Without one, the request's token signs in.
    """

    code: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None


class OwnSession(Wire, frozen=True):
    """Where the caller is signed in.

    Args:
        current: the caller's token belongs to this one.
        made_by: what began it: `setup`, `link`, `token` or `issuer`.
        last_used_at: when its browser last got a token, and from `address`.
        expires_at: when it ends if it is not used again.
        address: the network address that it was last used from.
        browser: as it describes itself.
    """

    id: str
    current: bool
    made_by: MadeBy
    created_at: str
    last_used_at: str
    expires_at: str
    address: str
    browser: str


class OwnSessions(Wire, frozen=True):
    """Everywhere that the caller is signed in, the one used last first; at most 32."""

    items: list[OwnSession]


@endpoint(
    "POST",
    "/v1/sessions",
    needs=PUBLIC,
    status=201,
    cookies=True,
    refusals=(Unauthenticated, TokenExpired, OriginRefused, NotFound),
)
async def begin_session(call: Call, body: NewSessionBody | None) -> Reply[SessionToken]:
    """Signs this browser in, with the code of a sign-in link or with the request's token: sets the session's cookie,
    and answers its first token. Only our own pages may ask. A code that was used or is over is a 404. A session that a
    token has begun ends with that token.
    """
    require_same_origin(call)
    refuse_guessing(call)
    secret = new_secret(call)
    if body is not None and body.code is not None:
        new = new_session(call, secret)
        try:
            session = await change(call, units.begin_by_code, hash_of(body.code), new, about=None)
        except NotFound:
            count_guess(call)
            raise
    else:
        principal = await _bearer_of(call)
        new = new_session(call, secret)
        begun = new.of(principal.user_id, "token", lineage_of(principal, None))
        session = await change(call, units.begin, begun, new.secret_hash, proof_of(principal), about=None)
    return await signed_in(call, session, secret)


@endpoint(
    "POST",
    "/v1/sessions/renew",
    needs=PUBLIC,
    cookies=True,
    refusals=(Unauthenticated, OriginRefused),
)
async def renew_session(call: Call) -> SessionToken:
    """Answers a fresh token for the session of this browser's cookie. Only our own pages may ask. A 401 means that the
    session has ended; it removes the cookie.
    """
    require_same_origin(call)
    refuse_guessing(call)
    secret = secret_of(call)
    if secret is None:
        raise _session_ended(call)
    chain = await chain_of_secret(call, secret)
    if not chain:
        count_guess(call)
        raise _session_ended(call)
    try:
        user, access = await rights_in(call, chain[0])
    except NotFound:
        raise _session_ended(call) from None
    if ends_at_ms(chain, lifetime_of(access)) <= call.now_ms:
        await change(call, units.end_by_secret, hash_of(secret), about=None)
        raise _session_ended(call)
    touch = partial(
        rows.touch, now_ms=call.now_ms, address=call.client_address[:ADDRESS_MAX], browser=browser_of(call)
    )
    if not await change(call, touch, chain[0].id, about=None):
        raise _session_ended(call)
    used = msgspec.structs.replace(chain[0], used_at_ms=call.now_ms)
    return token_of(call, (used, *chain[1:]), user, access)


@endpoint("DELETE", "/v1/sessions/current", needs=PUBLIC, cookies=True, refusals=(OriginRefused,))
async def end_current_session(call: Call) -> Reply[None]:
    """Signs this browser out: ends the session of its cookie, with all that were made from it and their tokens, and
    removes the cookie. Only our own pages may ask. Answers 204, also where nobody is signed in.
    """
    require_same_origin(call)
    secret = secret_of(call)
    if secret is not None:
        await change(call, units.end_by_secret, hash_of(secret), about=None)
    return Reply(None, cookies=(session_cookie(call.service.config).removal(),))


@endpoint("GET", "/v1/sessions", needs=AUTHENTICATED)
async def list_own_sessions(call: Call) -> OwnSessions:
    """Everywhere that the caller is signed in with a browser."""
    found = await call.service.database.read(rows.of_user, call.user_id)
    try:
        access = await call.service.of(USER_DIRECTORY).access_of(call.user_id)
    except NotFound:
        raise Unauthenticated from None  # erased meanwhile
    # Each with the rights that its own tokens have: one without a super-admin's rights lasts as long as anybody's.
    ends = {
        one.id: ends_at_ms(chain_of(one, found), lifetime_of(capped_to(access, capped=one.capped)))
        for one in found
    }
    return OwnSessions(
        [_shown(one, ends[one.id], call.user.sid) for one in found if ends[one.id] > call.now_ms]
    )


@endpoint("DELETE", "/v1/sessions/{sessionId}", needs=AUTHENTICATED, refusals=(NotFound,))
async def end_own_session(call: Call, session_id: ObjectId) -> None:
    """Ends a session of the caller, with all that were made from it: their tokens are refused at once, and live sockets
    that were opened with one close with 4401.
    """
    await change(call, units.end, call.user_id, session_id, about=None)


@endpoint("DELETE", "/v1/sessions", needs=AUTHENTICATED, refusals=(NotFound,))
async def end_other_sessions(call: Call) -> None:
    """Ends all sessions of the caller but the one of the request's token, and the sign-in links that were not used yet.
    The caller's own ends as well where it was made from another one.
    """
    await change(call, units.end_others, call.user_id, call.user.sid, about=None)


async def signed_in(call: Call, session: Session, secret: str) -> Reply[SessionToken]:
    """The answer to a user who has just signed in, with the cookie.

    Args:
        call: the request.
        session: the session that has just begun.
        secret: the value of its cookie.

    Raises:
        Unauthenticated: the session has ended meanwhile, or ends within this second.
    """
    chain = await chain_of_secret(call, secret)
    if not chain:
        raise Unauthenticated
    user, access = await rights_in(call, session)
    token = token_of(call, chain, user, access)
    return Reply(token, cookies=(setting_of(call, chain, lifetime_of(access).whole_ms, secret),))


def setting_of(call: Call, chain: Sequence[Session], whole_ms: int, secret: str) -> str:
    """The value of Set-Cookie that keeps a session that has just begun for as long as it can last.

    Args:
        call: the request.
        chain: the session, the one that it was made from, and so on.
        whole_ms: how long sessions of its user last at most.
        secret: the value of the cookie.
    """
    bounds = [one.bound_at_ms for one in chain if one.bound_at_ms is not None]
    until_ms = min([call.now_ms + whole_ms, *bounds])
    return session_cookie(call.service.config).setting(
        secret, seconds=max(1, (until_ms - call.now_ms) // 1000)
    )


async def _bearer_of(call: Call) -> UserPrincipal:
    """The user of the request's token, which the gate does not read for routes that need none."""
    token = bearer(call.header(b"authorization"))
    if token is None:
        raise Unauthenticated
    try:
        return await call.service.authenticator.user(token)
    except TokenExpired:
        raise
    except Unauthenticated:
        count_guess(call)
        raise


def _session_ended(call: Call) -> Unauthenticated:
    removal = session_cookie(call.service.config).removal()
    return Unauthenticated("the session has ended; sign in again", headers={"set-cookie": removal})


def _shown(session: Session, at_ms: int, current: str | None) -> OwnSession:
    return OwnSession(
        session.id,
        session.id == current,
        session.made_by,
        iso(session.created_at_ms),
        iso(session.used_at_ms),
        iso(at_ms),
        session.address,
        session.browser,
    )
