"""How much waits for moderators. Rows only."""

import msgspec

from persistence.connection import Connection


class Queues(msgspec.Struct, frozen=True):
    """What waits for one moderator.

    Args:
        reports: open reports that they may settle: none about themselves, unless they are a super-admin.
        reports_of_others: open reports about others.
        capes: pending capes.
    """

    reports: int = 0
    reports_of_others: int = 0
    capes: int = 0


async def count(conn: Connection, user_id: str, most: int) -> Queues:
    """How much waits for a moderator, each counted up to `most`."""
    row = await conn.fetchrow(_COUNT, user_id, most)
    return Queues() if row is None else Queues(*(row[name] for name in Queues.__struct_fields__))


_COUNT = """
WITH others AS (
    SELECT count(*) AS number FROM (
        SELECT FROM reports WHERE status = 'open' AND target_id <> $1 LIMIT $2
    ) AS open
)
SELECT CASE WHEN EXISTS (SELECT FROM user_roles WHERE user_id = $1 AND role = 'super-admin')
            THEN (SELECT count(*) FROM (SELECT FROM reports WHERE status = 'open' LIMIT $2) AS open)
            ELSE number END AS reports,
       number AS reports_of_others,
       (SELECT count(*) FROM (SELECT FROM capes WHERE status = 'pending' LIMIT $2) AS pending) AS capes
FROM others
"""
