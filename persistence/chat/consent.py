"""Which users another user may add to a group, in one query. Rows only."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection

_SELECT = """
SELECT u.id,
       EXISTS (SELECT FROM blocks b WHERE b.user_id = u.id AND b.target_id = $1
                                       OR b.user_id = $1 AND b.target_id = u.id) AS barred,
       u.group_invites = 'NOBODY' OR u.group_invites = 'FRIENDS' AND NOT EXISTS (
           SELECT FROM friend_links l WHERE l.user_id = u.id AND l.friend_id = $1) AS unwilling
FROM users u WHERE u.id = ANY ($2::text[])
"""


class Consent(msgspec.Struct, frozen=True):
    """Those of some users whom another user, the adder, may not add to a group.

    Args:
        barred: users who block the adder, or whom the adder blocks.
        unwilling: users whose settings do not let the adder add them.
    """

    barred: frozenset[str] = frozenset()
    unwilling: frozenset[str] = frozenset()


async def among(conn: Connection, adder_id: str, user_ids: Sequence[str]) -> Consent:
    """Those of the users whom the adder may not add to a group."""
    rows = await conn.fetch(_SELECT, adder_id, list(user_ids))
    return Consent(
        frozenset(row["id"] for row in rows if row["barred"]),
        frozenset(row["id"] for row in rows if row["unwilling"]),
    )
