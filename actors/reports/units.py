"""Reports of users, and what moderators make of them: units of work, inside the caller's transaction.

| status    | may become          | who                        |
|-----------|---------------------|----------------------------|
| open      | dismissed, actioned | a moderator                |
| dismissed | open, actioned      | a moderator, another look  |
| actioned  | open, dismissed     | a moderator, another look  |

Who is a moderator is the edge's business. Each change of status is in the audit trail.
"""

import msgspec
from msgspec.structs import replace

from actors.errors import FieldError, Invalid, NotFound, QuotaExceeded
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.reports.reports import (
    Report,
    ReportStatus,
    add_report,
    count_since,
    lock_report,
    settle_report,
)
from persistence.users.audit import Stamp, write_audit
from persistence.users.users import read_user

REASON_MAX = 500
"""Characters of a reason."""

REPORTS_A_DAY = 20
"""Of one reporter, within any 24 hours."""

DAY_MS = 24 * 60 * 60 * 1000


async def report(
    conn: Connection, id: str, reporter_id: str, target_id: str, *, reason: str | None, now_ms: int
) -> Report:
    """Report a user to the moderators.

    Args:
        id: a fresh objectId.
        reporter_id, target_id: uuids.
        reason: at most 500 characters, or None.
        now_ms: epoch milliseconds.

    Raises:
        Invalid: oneself.
        NotFound: there is no such user.
        QuotaExceeded: 20 reports within a day.
    """
    if target_id == reporter_id:
        raise Invalid(FieldError("/targetId", "NOT_ALLOWED", "you cannot report yourself"))
    # The lock makes reports of one user take turns, so that none slips past the bound.
    reporter, target = await require_user(conn, reporter_id), await read_user(conn, target_id)
    if target is None:
        raise NotFound("no such user")
    if await count_since(conn, reporter_id, now_ms - DAY_MS) >= REPORTS_A_DAY:
        raise QuotaExceeded(message=f"at most {REPORTS_A_DAY} reports a day", max=REPORTS_A_DAY)
    made = Report(
        0, id, reporter_id, reporter.name, target_id, target.name, reason, "open", now_ms, None, None
    )
    await add_report(conn, made)
    return made


async def settle(conn: Connection, report_id: str, status: ReportStatus, stamp: Stamp) -> Report:
    """Give a report a status; nothing happens when it has it already.

    Raises:
        NotFound: there is no such report.
    """
    found = await lock_report(conn, report_id)
    if found is None:
        raise NotFound("no such report")
    if found.status == status:
        return found
    settled = status != "open"
    after = replace(
        found,
        status=status,
        settled_at_ms=stamp.at_ms if settled else None,
        settled_by=stamp.actor_id if settled else None,
    )
    await settle_report(conn, found.id, status, at_ms=after.settled_at_ms, by=after.settled_by)
    detail = msgspec.json.encode({"reportId": found.id, "before": found.status, "after": status})
    await write_audit(conn, stamp, "report.settled", target_id=found.target_id, detail=detail)
    return after
