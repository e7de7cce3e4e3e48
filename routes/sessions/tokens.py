"""The tokens of sessions, and which credentials a new session must not outlive."""

from collections.abc import Sequence

from actors.sessions.lifetimes import ends_at_ms, lifetime_of
from actors.sessions.units import Proof
from actors.time import iso
from actors.users.permissions import Access, capped_to
from persistence.sessions.sessions import Lineage, Session, with_ancestors
from persistence.users.users import User
from routes.call import Call
from routes.edge.errors import Unauthenticated
from routes.edge.identity.keys import SessionClaims
from routes.edge.principal import UserPrincipal
from routes.edge.wire import Wire
from routes.sessions.browser import hash_of, is_same_origin, secret_of
from routes.users.parts import USER_DIRECTORY


class SignedInUser(Wire, frozen=True):
    """Who is signed in."""

    id: str
    name: str


class SessionToken(Wire, frozen=True):
    """A token of a session.

    Args:
        token: for `Authorization: Bearer`; ends with its session.
        expires_at: when it is to be renewed at the latest.
        user: whose session it is.
        permissions: every permission node that the user holds with it, sorted.
    """

    token: str
    expires_at: str
    user: SignedInUser
    permissions: tuple[str, ...]


async def chain_of_secret(call: Call, secret: str) -> Sequence[Session]:
    """The session of a cookie, the one that it was made from, and so on; empty when there is none."""
    return await call.service.database.read(with_ancestors, hash_of(secret))


async def rights_in(call: Call, session: Session) -> tuple[User, Access]:
    """The user of a session, and their rights in it.

    Raises:
        NotFound: the user was erased.
    """
    user, access = await _user(call, session.user_id)
    return user, capped_to(access, capped=session.capped)


async def _user(call: Call, user_id: str) -> tuple[User, Access]:
    directory = call.service.of(USER_DIRECTORY)
    return await directory.user_of(user_id), await directory.access_of(user_id)


def token_of(call: Call, chain: Sequence[Session], user: User, access: Access) -> SessionToken:
    """A fresh token of a session that is alive.

    Args:
        call: the request.
        chain: the session, the one that it was made from, and so on.
        user, access: what `rights_in` returns for the session.

    Raises:
        Unauthenticated: the session ends within this second.
    """
    service, session = call.service, chain[0]
    not_before_s = service.of(USER_DIRECTORY).not_before_s(user.id)
    left_ms = ends_at_ms(chain, lifetime_of(access)) - max(call.now_ms, not_before_s * 1000)
    if left_ms < 1000:
        raise Unauthenticated
    minted = service.keys.mint_user_token(
        user.id,
        user.name,
        now_ms=call.now_ms,
        ttl_seconds=min(service.config.session_token_seconds, left_ms // 1000),
        random_bytes=service.random_bytes,
        not_before_s=not_before_s,
        session=SessionClaims(session.id, session.capped),
    )
    return SessionToken(
        minted.token, iso(minted.expires_at_ms), SignedInUser(user.id, user.name), access.held
    )


def lineage_of(user: UserPrincipal, session: Session | None) -> Lineage:
    """What a new session that a user asks for must not outlive: the user's present session, if its cookie shows that
    the browser itself asks, else their token. So whoever steals a token of ten minutes has ten minutes.

    Args:
        user: the user of the request's token.
        session: what `proven_session` returns; None also if a token alone is used.
    """
    if session is not None:
        return Lineage(session.id, session.bound_at_ms, session.capped)
    return Lineage(user.sid, user.expires_at_ms, user.capped)


def proof_of(user: UserPrincipal) -> Proof:
    """The proof of a request's token, for a unit of work that makes something lasting with it."""
    return Proof(user.issued_at_s, user.sid)


async def proven_session(call: Call) -> Session | None:
    """The session of the caller's token, if the same browser carries its cookie and one of our pages asks; else None.

    Cancellation changes nothing.
    """
    secret = secret_of(call) if call.user.sid is not None and is_same_origin(call) else None
    chain = await chain_of_secret(call, secret) if secret is not None else ()
    return chain[0] if chain and chain[0].id == call.user.sid else None
