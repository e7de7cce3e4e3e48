"""Reporting a user, and settling reports: one route for players, two for moderators (contract §5)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.errors import Forbidden, Invalid, NotFound, QuotaExceeded
from actors.id_fields import uuid_in
from actors.ids import ObjectId, UserId
from actors.moderation.events import QUEUES
from actors.reports.units import REASON_MAX, Verdict, report, require_settler, settle
from actors.texts import lines_or_none
from actors.time import iso, iso_or_none
from persistence.reports.reports import Report, ReportStatus, WantedReports, list_reports, target_of
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import MODERATOR
from routes.edge.wire import Wire

WRITE = "social:friends.write"

_PAGES = Cursor("reports", int)


class ReportBody(Wire, frozen=True):
    """The user to report, and the reason.

    Args:
        target_id: uuid.
        reason: at most 500 characters.
    """

    target_id: UuidText
    reason: Annotated[str, msgspec.Meta(max_length=REASON_MAX)] | None = None


class ReportMade(Wire, frozen=True):
    """The report, as its author sees it.

    Args:
        target_id: the user who is reported.
        reason: why; null without a reason.
    """

    id: ObjectId
    target_id: str
    reason: str | None
    created_at: str


class ReportQuery(PageQuery, frozen=True):
    """Which reports; what is left out counts for all.

    Args:
        status: only reports with this status.
        reporter_id: only what this user has reported.
        target_id: only what was reported of this user.
    """

    status: ReportStatus | None = None
    reporter_id: UserId | None = None
    target_id: UserId | None = None


class ReportItem(Wire, frozen=True):
    """A report, as moderators see it.

    Args:
        reporter_id: the user who reports.
        reporter_name, target_name: current names; null for users who no longer exist.
        target_id: the user who is reported.
        reason: why, as the reporter wrote it; null without a reason.
        status: `open` until a moderator settles it.
        settled_at: when it got its status; null while it is open.
        settled_by: the moderator who set the status.
        settled_by_name: what they are called now; null for users who no longer exist.
        settled_reason: why, as the moderator wrote it; null where they have not.
    """

    id: ObjectId
    reporter_id: str
    reporter_name: str | None
    target_id: str
    target_name: str | None
    reason: str | None
    status: ReportStatus
    created_at: str
    settled_at: str | None
    settled_by: str | None
    settled_by_name: str | None
    settled_reason: str | None


class ReportPage(Wire, frozen=True):
    """A page of reports, newest first."""

    items: list[ReportItem]
    next_cursor: str | None
    has_more: bool


class Settlement(Wire, frozen=True):
    """The new status of a report.

    Args:
        status: `open` reopens it.
        reason: why, for moderators alone; at most 500 characters. Left out, nothing is said; an open report has none.
    """

    status: ReportStatus
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=REASON_MAX)] | None = None


@endpoint(
    "POST",
    "/v1/social/friends/reports",
    needs=WRITE,
    status=201,
    refusals=(NotFound, Invalid, QuotaExceeded),
)
async def report_user(call: Call, body: ReportBody) -> ReportMade:
    """Reports a user to the moderators; at most 20 a day. Oneself is a 422, an unknown user a 404."""
    target_id = uuid_in(body.target_id, "/targetId")
    id = call.new_id()
    reason = lines_or_none(body.reason, "/reason", REASON_MAX)
    unit = partial(report, reason=reason, now_ms=call.now_ms)
    return await change(call, unit, id, call.user_id, target_id, about=QUEUES, shape=_report_made)


@endpoint("GET", "/v1/admin/reports", needs=MODERATOR)
async def read_reports(call: Call, query: ReportQuery) -> ReportPage:
    """Lists reports of users, newest first: all, those that wait, what somebody has reported, or what was reported of
    somebody. Those about the caller are left out, unless they are a super-admin."""
    wanted = WantedReports(
        status=query.status,
        reporter_id=query.reporter_id,
        target_id=query.target_id,
        not_about=None if call.user.access.is_super_admin else call.user_id,
        before_seq=_PAGES.place(query.cursor),
        limit=query.limit + 1,
    )
    rows = await call.service.database.read(list_reports, wanted)
    page = _PAGES.page(rows, query.limit, lambda row: row.seq)
    return ReportPage([_item(row) for row in page.rows], page.next_cursor, page.has_more)


async def may_settle(call: Call, id: ObjectId) -> None:
    """Guard: requires that there is such a report, not about the caller; checked again in the transaction.

    Raises:
        NotFound: there is no such report.
        Forbidden: it is about the caller, who is no super-admin.
    """
    target_id = await call.service.database.read(target_of, id)
    if target_id is None:
        raise NotFound("no such report")
    require_settler(target_id, call.user_id, also_own=call.user.access.is_super_admin)


@endpoint(
    "PATCH",
    "/v1/admin/reports/{id}",
    needs=MODERATOR,
    refusals=(NotFound, Forbidden, Invalid),
    guard=may_settle,
)
async def settle_user_report(call: Call, id: ObjectId, body: Settlement) -> ReportItem:
    """Settles a report and says why, or reopens it; the audit trail records each change. One about oneself is a 403,
    unless the caller is a super-admin."""
    also_own = call.user.access.is_super_admin
    reason = lines_or_none(body.reason, "/reason", REASON_MAX)
    verdict = Verdict(body.status, reason, call.user.name, stamp_of(call), also_own)
    return await change(call, settle, id, verdict, about=QUEUES, shape=_item)


def _report_made(made: Report) -> ReportMade:
    return ReportMade(ObjectId(made.id), made.target_id, made.reason, iso(made.created_at_ms))


def _item(row: Report) -> ReportItem:
    return ReportItem(
        ObjectId(row.id),
        row.reporter_id,
        row.reporter_name,
        row.target_id,
        row.target_name,
        row.reason,
        row.status,
        iso(row.created_at_ms),
        iso_or_none(row.settled_at_ms),
        row.settled_by,
        row.settled_by_name,
        row.settled_reason,
    )
