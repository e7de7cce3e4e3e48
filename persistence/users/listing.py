"""The list of users, by name, page by page. Rows only."""

import msgspec

from persistence.connection import Connection, Row
from persistence.users.names import beginning


class ListedUser(msgspec.Struct, frozen=True):
    """A user of the list. Times are epoch milliseconds; None = never.

    Args:
        name_lower: the name as the list is sorted by it.
        roles: as stored, sorted.
        last_seen_at_ms: as far as that was written.
    """

    id: str
    name: str
    name_lower: str
    roles: tuple[str, ...]
    home_region: str | None
    created_at_ms: int
    last_seen_at_ms: int | None


class WantedUsers(msgspec.Struct, frozen=True, kw_only=True):
    """Which users.

    Args:
        prefix: only those whose name begins so, in any case; empty for all.
        role: only those with this role, as stored; None for all.
        after: (`name_lower`, id) of the last user of the page before; None from the start.
        limit: at most so many.
    """

    prefix: str = ""
    role: str | None = None
    after: tuple[str, str] | None = None
    limit: int


async def list_users(conn: Connection, wanted: WantedUsers) -> list[ListedUser]:
    """The wanted users, ordered by name."""
    place = (*beginning(wanted.prefix), *(wanted.after or ("", "")), wanted.limit)
    if wanted.role is None:
        rows = await conn.fetch(_ALL, *place)
    else:
        rows = await conn.fetch(_WITH_ROLE, *place, wanted.role)
    return [_listed(row) for row in rows]


async def read_listed(conn: Connection, user_id: str) -> ListedUser | None:
    """One user as the list shows them, or None."""
    row = await conn.fetchrow(f"{_SELECT} WHERE id = $1", user_id)
    return None if row is None else _listed(row)


def _listed(row: Row) -> ListedUser:
    return ListedUser(**{**dict(row), "roles": tuple(row["roles"])})


_SELECT = """
SELECT id, name, name_lower, home_region, created_at_ms, last_seen_at_ms,
       ARRAY(SELECT role FROM user_roles WHERE user_id = users.id ORDER BY role) AS roles
FROM users
"""

# Two bounds in place of LIKE: the index can be used under generic plans, too.
_PAGE = (
    _SELECT
    + """
WHERE name_lower ~>=~ $1 AND name_lower ~<~ $2
    AND name_lower ~>=~ $3 AND (name_lower ~>~ $3 OR id > $4){}
ORDER BY name_lower USING ~<~, id LIMIT $5
"""
)

_ALL = _PAGE.format("")

# A statement of its own: few users have a role, and all users have a name.
_WITH_ROLE = _PAGE.format(" AND id = ANY (ARRAY(SELECT user_id FROM user_roles WHERE role = $6))")
