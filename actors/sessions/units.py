"""Begin and end sessions: units of work, inside the caller's transaction.

Each locks the user's row before their sessions and links, so that two of them neither deadlock nor exceed a bound.
"""

from typing import TypeVar

import msgspec

from actors.change import Change
from actors.errors import NotFound, Revoked
from actors.sessions.events import SessionsEnded
from actors.sessions.lifetimes import MAX_SESSIONS
from actors.users.locking import require_user
from actors.users.permissions import Role
from persistence.connection import Connection
from persistence.sessions import links, sessions
from persistence.sessions.links import SignInLink
from persistence.sessions.sessions import EndedSession, Lineage, MadeBy, Session
from persistence.users.permissions import read_roles
from persistence.users.users import User, lock_user

_Value = TypeVar("_Value")


class NewSession(msgspec.Struct, frozen=True):
    """A session that is to begin.

    Args:
        id: a fresh objectId.
        secret_hash: the SHA-256 digest of the secret that the cookie will hold.
        address, browser: the client's IP address and browser, at most 64 and 200 characters.
        at_ms: when it begins, epoch milliseconds.
    """

    id: str
    secret_hash: bytes
    address: str
    browser: str
    at_ms: int

    def of(self, user_id: str, made_by: MadeBy, lineage: Lineage, identity_id: str | None = None) -> Session:
        """The session as it is stored."""
        return Session(
            id=self.id,
            user_id=user_id,
            made_by=made_by,
            parent_id=lineage.parent_id,
            bound_at_ms=lineage.bound_at_ms,
            capped=lineage.capped,
            identity_id=identity_id,
            created_at_ms=self.at_ms,
            used_at_ms=self.at_ms,
            address=self.address,
            browser=self.browser,
        )


class Proof(msgspec.Struct, frozen=True):
    """The token that lets a request make something lasting; it was verified before the lock on its user was held.

    Args:
        issued_at_s: the token's `iat`, epoch seconds.
        session_id: the session that the token belongs to; None for a token without a session.
    """

    issued_at_s: int
    session_id: str | None = None


async def require_proven(conn: Connection, user: User, proof: Proof | None) -> None:
    """Require that a token is still one that would be let in, by the rule of `Users.arrive` and `SignedIn.lives`.

    Args:
        user: the token's user, read with a lock on their row, so that no revocation is under way.
        proof: the token; None where none is required.

    Raises:
        Revoked: the user's tokens were revoked after it was issued, or its session has ended.
    """
    if proof is None:
        return
    if proof.issued_at_s < user.tokens_not_before_s:
        raise Revoked
    if proof.session_id is not None and not await sessions.living(conn, (proof.session_id,)):
        raise Revoked


async def begin(
    conn: Connection, session: Session, secret_hash: bytes, proof: Proof | None
) -> Change[Session]:
    """Begin a session; if the user has more than `MAX_SESSIONS` then, those not used for the longest time end.

    Args:
        session: the session, as it is stored.
        secret_hash: the SHA-256 digest of the secret that the cookie will hold.
        proof: the token with which the user asks for it; None where no token is required.

    Raises:
        NotFound: there is no such user, or the session that it is made from has ended.
        Revoked: the token was revoked before the user's row was locked.
    """
    await require_proven(conn, await require_user(conn, session.user_id), proof)
    await require_alive(conn, session.parent_id)
    await sessions.add(conn, session, secret_hash)
    others = [one.id for one in await sessions.of_user(conn, session.user_id) if one.id != session.id]
    ended = await sessions.end(conn, others[MAX_SESSIONS - 1 :])
    if session.id in {one.id for one in ended}:
        raise NotFound("the session that this one would be made from has just ended")
    return _change_that_ends(session, ended)


async def begin_by_code(conn: Connection, code_hash: bytes, new: NewSession) -> Change[Session]:
    """Begin the session of a sign-in link, which is used up by that.

    Args:
        code_hash: the SHA-256 digest of the link's code.
        new: the session that is to begin.

    Raises:
        NotFound: there is no such link, or it has expired or was used; or the session that it was made in has ended, or
            it could not be made for this user any more.
    """
    link = await links.find(conn, code_hash, new.at_ms)
    if link is None:
        raise NotFound("this link was used, or is over; ask for a new one")
    await require_user(conn, link.user_id)
    if not await links.take(conn, code_hash):
        raise NotFound("this link was used, or is over; ask for a new one")
    if link.maker_id not in {None, link.user_id} and not await _may_let_in(conn, link):
        raise NotFound("this link is no longer valid")
    # A revocation would have removed the link, so that nothing else has to be proven.
    return await begin(conn, new.of(link.user_id, "link", link.lineage), new.secret_hash, None)


async def end(conn: Connection, user_id: str, session_id: str) -> Change[None]:
    """End a session of a user, and all sessions that were made from it.

    Raises:
        NotFound: the user has no such session.
    """
    await require_user(conn, user_id)
    if session_id not in {one.id for one in await sessions.of_user(conn, user_id)}:
        raise NotFound("no such session")
    return _change_that_ends(None, await sessions.end(conn, (session_id,)))


async def end_others(conn: Connection, user_id: str, kept_id: str | None) -> Change[None]:
    """End all sessions of a user but one, and the links that would begin others.

    Args:
        kept_id: the session that stays, unless it was made from one that ends; None ends all.
    """
    await require_user(conn, user_id)
    others = [one.id for one in await sessions.of_user(conn, user_id) if one.id != kept_id]
    await links.remove_of(conn, user_id)
    return _change_that_ends(None, await sessions.end(conn, others))


async def end_by_secret(conn: Connection, secret_hash: bytes) -> Change[None]:
    """End the session of a cookie; nothing happens if there is none, or its user is just being erased.

    Args:
        secret_hash: the SHA-256 digest of the secret that the cookie holds.
    """
    chain = await sessions.with_ancestors(conn, secret_hash)
    if not chain or await lock_user(conn, chain[0].user_id) is None:
        return Change(None)
    return _change_that_ends(None, await sessions.end(conn, (chain[0].id,)))


async def end_overdue(
    conn: Connection, limit: int, *, now_ms: int, used_before_ms: int, created_before_ms: int
) -> Change[int]:
    """End sessions that are over; the value is how many were found.

    Args:
        limit: how many to end at most for each of these reasons.
        now_ms: epoch milliseconds; sessions end with the token that they were made from.
        used_before_ms: sessions end that were last used before this moment.
        created_before_ms: sessions end that began before this moment.
    """
    found = await sessions.overdue(
        conn, limit, now_ms=now_ms, used_before_ms=used_before_ms, created_before_ms=created_before_ms
    )
    return _change_that_ends(len(found), await sessions.end(conn, found))


async def require_alive(conn: Connection, session_id: str | None) -> None:
    """Require that a session has not ended; nothing is required for None.

    Raises:
        NotFound: the session has ended.
    """
    if session_id is not None and not await sessions.living(conn, (session_id,)):
        raise NotFound("the session of this token has ended")


async def is_super_admin(conn: Connection, user_id: str) -> bool:
    """Whether a user has the role Super Admin."""
    return Role.SUPER_ADMIN.value in await read_roles(conn, user_id)


async def _may_let_in(conn: Connection, link: SignInLink) -> bool:
    """Whether a link for somebody else could still be made: either of the two may have got or lost the role since."""
    made_by_one = link.maker_id is not None and await is_super_admin(conn, link.maker_id)
    return made_by_one and not await is_super_admin(conn, link.user_id)


def _change_that_ends(value: _Value, ended: tuple[EndedSession, ...]) -> Change[_Value]:
    return Change(value, (SessionsEnded(ended),) if ended else ())
