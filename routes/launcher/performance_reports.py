"""Performance reports: launchers send them, and those who track versions read them (contract §10)."""

from typing import Annotated

import msgspec

from actors.bounds import IdText, JsonObject, ruled
from actors.errors import Invalid, NotFound
from actors.field_errors import FieldError
from actors.ids import ObjectId, UserId
from actors.launcher.units_reports import KEPT_DAYS, REPORT_MAX_BYTES, keep
from actors.pages import MAX_PAGE_BYTES, fitting
from actors.time import DAY_MS, iso, parse_iso
from persistence.launcher.performance_reports import Report, ReportCount, Wanted, list_reports, read_counts
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.downloads import disposition
from routes.edge.errors import bad_parameter
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Reply
from routes.edge.wire import Wire

TRACK = "versions:track"

TOTALS_MAX = 100
"""How many platforms and versions a list shows, those with the most reports."""

_PAGES = Cursor("performance-reports", tuple[int, int])


class ReportTaken(Wire, frozen=True):
    """The report has arrived."""

    id: ObjectId


class ReportsQuery(PageQuery, frozen=True):
    """Which reports.

    Args:
        since: ISO 8601; only reports from then on, and counts from that day on. Left out = all that are kept.
        user_id: only reports of this user; the counts are of all.
    """

    since: Annotated[IdText, ruled(format="date-time")] | None = None
    user_id: UserId | None = None


class PerformanceReport(Wire, frozen=True):
    """One report, as it came.

    Args:
        launcher_version, platform: as the report's own members of these names; null unless they are short lines.
        report: the JSON object that the launcher sent.
    """

    id: ObjectId
    user_id: str
    launcher_version: str | None
    platform: str | None
    created_at: str
    report: JsonObject


class ReportTotal(Wire, frozen=True):
    """How many reports came, also of those that were not kept.

    Args:
        platform, launcher_version: null = not said, or beyond the 200 that are told apart on a day.
        reports: how many came.
    """

    platform: str | None
    launcher_version: str | None
    reports: int


class ReportsPage(Wire, frozen=True):
    """Reports, newest first. A page has about 1 MB at most, so it may be shorter than `limit`.

    Args:
        totals: of all users since the day of `since` (UTC), by platform and version, most first, at most 100.
    """

    items: list[PerformanceReport]
    next_cursor: str | None
    has_more: bool
    totals: list[ReportTotal]


@endpoint(
    "POST",
    "/v1/launcher/performance-reports",
    needs=AUTHENTICATED,
    status=202,
    max_bytes=REPORT_MAX_BYTES,
    refusals=(Invalid, NotFound),
)
async def send_performance_report(call: Call, body: JsonObject) -> ReportTaken:
    """Takes any JSON object of at most 256 KiB.

    Its members `launcherVersion` and `platform`, where they are lines of at most 64 characters, sort it. Of each user
    the newest 20 of a day (UTC) are kept, 16 MiB in all, for 30 days; all are counted.
    """
    content = bytes(body).strip()
    if not content.startswith(b"{"):
        raise Invalid(FieldError("", "WRONG_TYPE", "expected an object"))
    return await change(
        call, keep, call.new_id(), call.user_id, content, call.now_ms, about=None, shape=_taken
    )


@endpoint("GET", "/v1/admin/launcher/performance-reports", needs=TRACK)
async def list_performance_reports(call: Call, query: ReportsQuery) -> Reply[ReportsPage]:
    """What launchers have reported, newest first.

    Needs `versions:track`. Answered as an attachment, since strangers wrote it. A malformed `since`, `userId` or
    `cursor` is a 400.
    """
    since_ms = max(_since_ms(query.since), call.now_ms - KEPT_DAYS * DAY_MS)
    wanted = Wanted(
        since_ms=since_ms,
        user_id=query.user_id,
        before=_PAGES.place(query.cursor),
        limit=query.limit + 1,
        max_bytes=MAX_PAGE_BYTES,
    )
    rows = await call.service.database.read(list_reports, wanted)
    counts = await call.service.database.read(read_counts, since_ms // DAY_MS, TOTALS_MAX)
    page = _PAGES.page(rows, len(fitting(rows[: query.limit], lambda row: len(row.report))), _place_of)
    shown = ReportsPage(
        [_item(row) for row in page.rows], page.next_cursor, page.has_more, [_total(one) for one in counts]
    )
    return Reply(
        shown, headers={"content-disposition": disposition("performance-reports.json").decode("ascii")}
    )


def _taken(id: str) -> ReportTaken:
    return ReportTaken(ObjectId(id))


def _place_of(row: Report) -> tuple[int, int]:
    return row.created_at_ms, row.seq


def _item(row: Report) -> PerformanceReport:
    return PerformanceReport(
        ObjectId(row.id),
        row.user_id,
        row.launcher_version,
        row.platform,
        iso(row.created_at_ms),
        msgspec.Raw(row.report),
    )


def _total(count: ReportCount) -> ReportTotal:
    return ReportTotal(count.platform or None, count.launcher_version or None, count.reports)


def _since_ms(text: str | None) -> int:
    if text is None:
        return 0
    try:
        return parse_iso(text)
    except ValueError:
        raise bad_parameter("since") from None
