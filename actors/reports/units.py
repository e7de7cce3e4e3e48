"""Reports of users, and what moderators decide about them: units of work, inside the caller's transaction.

| status    | may become          | who                        |
|-----------|---------------------|----------------------------|
| open      | dismissed, actioned | a moderator                |
| dismissed | open, actioned      | a moderator, another look  |
| actioned  | open, dismissed     | a moderator, another look  |

The edge checks that the caller is a moderator. Nobody settles a report about themselves but a super-admin, who may be
the only one to do it. Each verdict is written to the audit trail, without its reason: that is
read with the report.
"""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.errors import Forbidden, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.moderation.events import QueueMoved
from actors.time import DAY_MS
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
"""The longest reason, of a report and of a verdict, in characters."""

REPORTS_A_DAY = 20
"""The most reports of one reporter within any 24 hours."""


async def report(
    conn: Connection, id: str, reporter_id: str, target_id: str, *, reason: str | None, now_ms: int
) -> Change[Report]:
    """Report a user to the moderators.

    Args:
        id: a fresh objectId.
        reporter_id, target_id: the uuids of who reports, and of who is reported.
        reason: why, at most 500 characters; None without one.
        now_ms: epoch milliseconds.

    Raises:
        Invalid: reporter and target are the same user.
        NotFound: one of the two does not exist.
        QuotaExceeded: the reporter has made 20 reports within a day.
    """
    if target_id == reporter_id:
        raise Invalid(FieldError("/targetId", "NOT_ALLOWED", "you cannot report yourself"))
    # Locking the reporter's row serialises their reports, so that concurrent ones cannot exceed the limit.
    reporter, target = await require_user(conn, reporter_id), await read_user(conn, target_id)
    if target is None:
        raise NotFound("no such user")
    if await count_since(conn, reporter_id, now_ms - DAY_MS) >= REPORTS_A_DAY:
        raise QuotaExceeded(message=f"at most {REPORTS_A_DAY} reports a day", max=REPORTS_A_DAY)
    made = Report(
        seq=0,
        id=id,
        reporter_id=reporter_id,
        reporter_name=reporter.name,
        target_id=target_id,
        target_name=target.name,
        reason=reason,
        status="open",
        created_at_ms=now_ms,
        settled_at_ms=None,
        settled_by=None,
        settled_by_name=None,
        settled_reason=None,
    )
    await add_report(conn, made)
    return Change(made, (QueueMoved(),))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a moderator says of a report.

    Args:
        status: `open` reopens it; the others close it in the moderator's name.
        reason: why, at most 500 characters, for moderators alone; None says nothing. An open report has none.
        by_name: the moderator's name.
        stamp: identifies the moderator, its actor, and their request in the audit trail.
        also_own: whether they may settle reports about themselves (a super-admin, who may be the only one).
    """

    status: ReportStatus
    reason: str | None
    by_name: str
    stamp: Stamp
    also_own: bool


def require_settler(target_id: str, moderator_id: str | None, *, also_own: bool) -> None:
    """Refuse that a moderator settles a report about themselves; checked in the route's guard, and again in the
    transaction.

    Args:
        target_id: the user whom the report is about.
        moderator_id: the id of the moderator.
        also_own: whether they may settle reports about themselves all the same (a super-admin).

    Raises:
        Forbidden: the report is about the moderator.
    """
    if target_id == moderator_id and not also_own:
        raise Forbidden("a moderator may not settle a report about themselves")


async def settle(conn: Connection, report_id: str, verdict: Verdict) -> Change[Report]:
    """Set a report's status; without effect where it has that status already, and nothing else is said of it.

    Raises:
        Invalid: there is a reason for reopening it, which would be kept nowhere.
        NotFound: there is no such report.
        Forbidden: the report is about the moderator.
    """
    status, stamp = verdict.status, verdict.stamp
    if status == "open" and verdict.reason is not None:
        raise Invalid(
            FieldError("/reason", "NOT_ALLOWED", "an open report has no verdict to give a reason for")
        )
    found = await lock_report(conn, report_id)
    if found is None:
        raise NotFound("no such report")
    require_settler(found.target_id, stamp.actor_id, also_own=verdict.also_own)
    if found.status == status and verdict.reason in (None, found.settled_reason):
        return Change(found)
    settled = status != "open"
    after = replace(
        found,
        status=status,
        settled_at_ms=stamp.at_ms if settled else None,
        settled_by=stamp.actor_id if settled else None,
        settled_by_name=verdict.by_name if settled else None,
        settled_reason=verdict.reason,
    )
    await settle_report(conn, after)
    detail = msgspec.json.encode({"reportId": found.id, "before": found.status, "after": status})
    await write_audit(conn, stamp, "report.settled", target_id=found.target_id, detail=detail)
    return Change(after, (QueueMoved(),))
