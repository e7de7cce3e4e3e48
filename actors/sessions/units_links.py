"""Make links that sign somebody in once: a unit of work, inside the caller's transaction.

A link for somebody else is a way to be them: only super-admins make one, never for another super-admin; it is on
record, as one of the command line is, and the user is notified. One for oneself is not on record: the audit trail is
kept for ever, and users could fill it.
"""

import msgspec

from actors.change import Change
from actors.errors import Forbidden, NotFound, Revoked
from actors.notifications.view import NotificationsChanged
from actors.sessions.lifetimes import MAX_LINKS
from actors.sessions.units import Proof, is_super_admin, require_alive, require_proven
from persistence.connection import Connection
from persistence.notifications import notifications
from persistence.notifications.kinds import NotificationKind
from persistence.notifications.notifications import NewNotification
from persistence.sessions import links
from persistence.sessions.links import SignInLink
from persistence.users.audit import Stamp, write_audit
from persistence.users.users import User, lock_user

NOTIFICATION: NotificationKind = "sign_in_link"
"""The kind of the notification to a user for whom a super-admin has made a link."""


async def make_link(
    conn: Connection, link: SignInLink, proof: Proof | None, stamp: Stamp, notification_id: str
) -> Change[User]:
    """Store a link; the value is the user whom it signs in. If its maker has more than `MAX_LINKS`, the oldest end.

    Args:
        link: the link, as it is stored.
        proof: the maker's token; None for the command line.
        stamp: identifies the maker and their request in the audit trail.
        notification_id: a fresh objectId for the user's notification.

    Raises:
        NotFound: there is no such user, or the session in which the link is made has ended.
        Revoked: the maker's token was revoked before their row was locked.
        Forbidden: the link is for another user, and the maker is no super-admin or that user is one.
    """
    user = await _held(conn, link, proof)
    await require_alive(conn, link.lineage.parent_id)
    for_another = link.maker_id not in {None, link.user_id}
    if link.maker_id is not None and for_another:
        if not await is_super_admin(conn, link.maker_id):
            raise Forbidden("only super-admins make links for others", role="super-admin")
        if await is_super_admin(conn, link.user_id):
            raise Forbidden("there are no links for another super-admin")
    await links.add(conn, link)
    if link.maker_id is not None:
        await links.keep_newest(conn, link.maker_id, MAX_LINKS)
    if link.maker_id == link.user_id:
        return Change(user)
    detail = msgspec.json.encode({})
    await write_audit(conn, stamp, "sign-in-link.made", target_id=link.user_id, detail=detail)
    if not for_another:
        return Change(user)
    told = NewNotification(notification_id, user.id, NOTIFICATION, link.maker_id, detail, stamp.at_ms)
    await notifications.add(conn, (told,))
    return Change(user, (NotificationsChanged(user.id),))


async def _held(conn: Connection, link: SignInLink, proof: Proof | None) -> User:
    """The user whom the link signs in; their row and the maker's are locked, always in the same order."""
    ids = {link.user_id} if link.maker_id is None else {link.user_id, link.maker_id}
    held = {id: await lock_user(conn, id) for id in sorted(ids)}
    if link.maker_id is not None:
        maker = held[link.maker_id]
        if maker is None:
            raise Revoked
        await require_proven(conn, maker, proof)
    user = held[link.user_id]
    if user is None:
        raise NotFound("no such user")
    return user
