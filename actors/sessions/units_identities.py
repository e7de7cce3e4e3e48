"""Sign in with another issuer, and link accounts with it: units of work, inside the caller's transaction.

Users are found by (issuer, subject) alone, never by a name or a mail address that an issuer tells. Where a subject is
a uuid, it is the user's id, as in the issuer's tokens.
"""

import msgspec

from actors.change import Change
from actors.errors import Conflict, NotFound, QuotaExceeded
from actors.ids import parse_uuid
from actors.sessions.events import SessionsEnded
from actors.sessions.lifetimes import MAX_IDENTITIES
from actors.sessions.units import NewSession, Proof, begin, require_alive
from actors.users.events import UserChanged
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.sessions import identities, sessions
from persistence.sessions.identities import Identity
from persistence.sessions.sessions import Lineage, Session
from persistence.users.users import arrive, read_user

NAMELESS = "Player"
"""The name of a new user whose issuer tells none."""


class Presented(msgspec.Struct, frozen=True):
    """An account that an issuer has vouched for.

    Args:
        issuer: the issuer's `iss`.
        subject: the account's `sub`, 1 to 255 characters.
        name: the account's name, valid by the edge's `is_name`; None without one.
        issued_at_s: when the issuer's token was issued, epoch seconds.
        capped: whether the issuer may not vouch for super-admins.
    """

    issuer: str
    subject: str
    name: str | None
    issued_at_s: int
    capped: bool


class Linking(msgspec.Struct, frozen=True):
    """Who wants to be linked with an account.

    Args:
        session_id: the session in which they have asked for it.
        capped: whether that session does not vouch for super-admins: then the account does not either, even if its
            issuer may.
    """

    user_id: str
    session_id: str
    capped: bool = False


async def begin_by_identity(
    conn: Connection, presented: Presented, new: NewSession, *, identity_id: str, user_id: str
) -> Change[Session]:
    """Begin the session of a user who has signed in with an issuer; creates the user when it is the first time.

    Args:
        identity_id, user_id: a fresh objectId and a fresh uuid, in case it is the first time.

    Raises:
        NotFound: the user was erased since the issuer vouched for them.
        Revoked: the user's tokens were revoked since.
    """
    known = await identities.hold(conn, presented.issuer, presented.subject)
    if known is None:
        known = await _arrived(conn, presented, new.at_ms, identity_id=identity_id, user_id=user_id)
    else:
        # The user before the identity, as whoever removes one locks them in this order.
        await require_user(conn, known.user_id)
        if not await identities.touch(conn, known.id, name=presented.name, now_ms=new.at_ms):
            raise NotFound("this account is no longer linked")
    lineage = Lineage(capped=presented.capped or known.capped)
    session = new.of(known.user_id, "issuer", lineage, known.id)
    begun = await begin(conn, session, new.secret_hash, Proof(presented.issued_at_s))
    return Change(begun.value, (UserChanged(known.user_id), *begun.events))


async def _arrived(
    conn: Connection, presented: Presented, now_ms: int, *, identity_id: str, user_id: str
) -> Identity:
    meant = parse_uuid(presented.subject) or user_id
    before = await read_user(conn, meant)
    name = presented.name or (NAMELESS if before is None else before.name)
    user = await arrive(conn, meant, name, issued_at_s=presented.issued_at_s, now_ms=now_ms)
    if user is None:
        raise NotFound("this user was erased")
    return await _add(conn, user.id, presented, now_ms, identity_id)


async def link(
    conn: Connection, wish: Linking, presented: Presented, identity_id: str, now_ms: int
) -> Change[Identity]:
    """Link a user with their account at an issuer, so that they can sign in with it.

    Args:
        identity_id: a fresh objectId.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: the user was erased, or the session has ended.
        Conflict: the account is linked with another user, or is another user's own.
        QuotaExceeded: the user is linked with `MAX_IDENTITIES` accounts.
    """
    known = await identities.hold(conn, presented.issuer, presented.subject)
    user_id = wish.user_id
    await require_user(conn, user_id)
    await require_alive(conn, wish.session_id)
    if known is not None:
        if known.user_id != user_id:
            raise Conflict("this account is linked with another user")
        await identities.touch(conn, known.id, name=presented.name, now_ms=now_ms)
        if not wish.capped:
            await identities.uncap(conn, known.id)
        return Change(known)
    meant = parse_uuid(presented.subject)
    if meant not in {None, user_id} and await read_user(conn, meant or "") is not None:
        raise Conflict("this account is another user's own")
    if len(await identities.of_user(conn, user_id)) >= MAX_IDENTITIES:
        raise QuotaExceeded(message=f"you may link {MAX_IDENTITIES} accounts", max=MAX_IDENTITIES)
    # Who the issuer itself calls by the user's id is the user to it, whoever links them.
    capped = wish.capped and meant != user_id
    return Change(await _add(conn, user_id, presented, now_ms, identity_id, capped=capped))


async def unlink(conn: Connection, user_id: str, identity_id: str) -> Change[None]:
    """Remove an identity of a user; sessions that began with it end.

    Raises:
        NotFound: the user has no such identity.
        Conflict: it is the user's last one, without which they could not sign in any more.
    """
    await require_user(conn, user_id)
    mine = {one.id for one in await identities.of_user(conn, user_id)}
    if identity_id not in mine:
        raise NotFound("no such identity")
    if len(mine) == 1:
        raise Conflict("this is the last account that you can sign in with")
    ended = await sessions.end(conn, await sessions.of_identity(conn, identity_id))
    await identities.remove(conn, identity_id)
    return Change(None, (SessionsEnded(ended),) if ended else ())


async def _add(
    conn: Connection,
    user_id: str,
    presented: Presented,
    now_ms: int,
    identity_id: str,
    *,
    capped: bool = False,
) -> Identity:
    identity = Identity(
        identity_id, user_id, presented.issuer, presented.subject, presented.name, now_ms, now_ms, capped
    )
    await identities.add(conn, identity)
    return identity
