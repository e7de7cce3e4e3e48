"""What a user may do, by the rows of the present transaction: for units of work that decide by it."""

from actors.users.permissions import Access, resolve
from persistence.connection import Connection
from persistence.users.permissions import read_rights, read_roles


async def access_in(conn: Connection, user_id: str, now_ms: int) -> Access:
    """The rights of a user, whose row the caller has locked; those that are granted by being absent from the catalog
    count as granted."""
    return resolve(await read_roles(conn, user_id), await read_rights(conn, user_id), frozenset(), now_ms)
