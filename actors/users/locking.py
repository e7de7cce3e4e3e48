"""The lock on a user's row, for units of work that need the user to exist."""

from actors.errors import NotFound
from persistence.connection import Connection
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
