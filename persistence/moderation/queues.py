"""How much waits for moderators, and what has come last. Rows only."""

import msgspec

from persistence.connection import Connection


class Queues(msgspec.Struct, frozen=True):
    """What waits for one moderator.

    Args:
        reports: open reports that they may settle: none about themselves, unless they are a super-admin.
        reports_of_others: open reports about others.
        capes: pending capes.
        newest_report, newest_report_of_others: the last made of these reports; None where there are none.
        newest_cape: the pending cape that was submitted, or renamed by a moderator, last; None where there are none.
    """

    reports: int = 0
    reports_of_others: int = 0
    capes: int = 0
    newest_report: str | None = None
    newest_report_of_others: str | None = None
    newest_cape: str | None = None


async def count(conn: Connection, user_id: str, most: int) -> Queues:
    """How much waits for a moderator, each counted up to `most`."""
    row = await conn.fetchrow(_COUNT, user_id, most)
    return Queues() if row is None else Queues(*(row[name] for name in Queues.__struct_fields__))


_COUNT = """
WITH others AS (
    SELECT (SELECT count(*) FROM (
               SELECT FROM reports WHERE status = 'open' AND target_id <> $1 LIMIT $2
           ) AS open) AS number,
           (SELECT id FROM reports WHERE status = 'open' AND target_id <> $1 ORDER BY seq DESC LIMIT 1) AS newest
), viewer AS (
    SELECT EXISTS (SELECT FROM user_roles WHERE user_id = $1 AND role = 'super-admin') AS sees_all
)
SELECT CASE WHEN sees_all THEN (SELECT count(*) FROM (SELECT FROM reports WHERE status = 'open' LIMIT $2) AS open)
            ELSE number END AS reports,
       number AS reports_of_others,
       (SELECT count(*) FROM (SELECT FROM capes WHERE status = 'pending' LIMIT $2) AS pending) AS capes,
       CASE WHEN sees_all THEN (SELECT id FROM reports WHERE status = 'open' ORDER BY seq DESC LIMIT 1)
            ELSE newest END AS newest_report,
       newest AS newest_report_of_others,
       (SELECT id FROM capes WHERE status = 'pending' ORDER BY updated_at_ms DESC, id DESC LIMIT 1) AS newest_cape
FROM others, viewer
"""
