"""Locks for units of work: on the row of a user who has to exist, and on who is a super-admin.

Whoever takes both takes that of the super-admins first.
"""

from actors.errors import Forbidden, NotFound
from actors.users.permissions import Role
from persistence.connection import Connection
from persistence.users.audit import Stamp
from persistence.users.permissions import lock_super_admins, read_roles
from persistence.users.users import User, lock_user


async def require_user(conn: Connection, user_id: str) -> User:
    """One user, the row locked until the transaction ends.

    Raises:
        NotFound: there is no such user.
    """
    user = await lock_user(conn, user_id)
    if user is None:
        raise NotFound("no such user")
    return user


async def require_super_admin(conn: Connection, stamp: Stamp) -> None:
    """Check that the caller still is a super-admin, who stays one until the transaction ends: of two who dismiss or
    erase each other, the first one succeeds.

    The gate of the edge has asked before, but a request may have been on its way since.

    Args:
        stamp: its actor is the caller; None as actor is the command line, which needs no role.

    Raises:
        Forbidden: the caller has ceased to be a super-admin meanwhile.
    """
    await lock_super_admins(conn)
    if stamp.actor_id is not None and Role.SUPER_ADMIN.value not in await read_roles(conn, stamp.actor_id):
        raise Forbidden("only for the role super-admin", role=Role.SUPER_ADMIN.value)
