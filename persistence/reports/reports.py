"""Reports of users to the moderators. Rows only."""

from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Connection, Row
from persistence.statements import filtered

ReportStatus: TypeAlias = Literal["open", "dismissed", "actioned"]
"""The state of a report (contract §5)."""


class Report(msgspec.Struct, frozen=True):
    """A report of one user about another.

    Args:
        seq: its place among all, for paging.
        id: objectId.
        reporter_id, target_id: uuids of the user who reports and the user who is reported.
        reporter_name, target_name: their present names; None once they are erased.
        reason: as the reporter wrote it, or None.
        created_at_ms, settled_at_ms: epoch milliseconds.
        settled_by: the moderator who gave it its status; None until then.
        settled_by_name: the moderator's present name; None once they are erased, and while the report is open.
        settled_reason: why the moderator settled it so, or None.
    """

    seq: int
    id: str
    reporter_id: str
    reporter_name: str | None
    target_id: str
    target_name: str | None
    reason: str | None
    status: ReportStatus
    created_at_ms: int
    settled_at_ms: int | None
    settled_by: str | None
    settled_by_name: str | None
    settled_reason: str | None


async def add_report(conn: Connection, report: Report) -> None:
    """Store an open report; its `seq` and the names are ignored."""
    await conn.execute(
        "INSERT INTO reports (id, reporter_id, target_id, reason, created_at_ms) VALUES ($1, $2, $3, $4, $5)",
        report.id,
        report.reporter_id,
        report.target_id,
        report.reason,
        report.created_at_ms,
    )


async def count_since(conn: Connection, reporter_id: str, since_ms: int) -> int:
    """How many reports a user has made since a time in epoch milliseconds."""
    count: int = await conn.fetchval(
        "SELECT count(*) FROM reports WHERE reporter_id = $1 AND created_at_ms > $2", reporter_id, since_ms
    )
    return count


class WantedReports(msgspec.Struct, frozen=True, kw_only=True):
    """Which reports a page of the list shows.

    Args:
        status, reporter_id, target_id: only reports with this one; None for all.
        not_about: leave out reports about this user; None leaves out none.
        before_seq: only reports with a lower `seq`; None from the newest.
        limit: at most so many.
    """

    status: ReportStatus | None = None
    reporter_id: str | None = None
    target_id: str | None = None
    not_about: str | None = None
    before_seq: int | None = None
    limit: int


async def list_reports(conn: Connection, wanted: WantedReports) -> list[Report]:
    """The wanted reports, newest first."""
    filters = (wanted.status, wanted.reporter_id, wanted.target_id, wanted.not_about)
    rows = await conn.fetch(
        _LISTS[tuple(value is not None for value in filters)],
        2**62 if wanted.before_seq is None else wanted.before_seq,
        wanted.limit,
        *(value for value in filters if value is not None),
    )
    return [_report(row) for row in rows]


async def target_of(conn: Connection, id: str) -> str | None:
    """The id of the user whom a report is about; None where there is no such report."""
    target_id: str | None = await conn.fetchval("SELECT target_id FROM reports WHERE id = $1", id)
    return target_id


async def lock_report(conn: Connection, id: str) -> Report | None:
    """One report, its row locked until the transaction ends, or None."""
    row = await conn.fetchrow(_LOCK, id)
    return None if row is None else _report(row)


async def settle_report(conn: Connection, report: Report) -> None:
    """Store a report's status: when it was settled, by whom, and why."""
    await conn.execute(
        "UPDATE reports SET status = $2, settled_at_ms = $3, settled_by = $4, settled_reason = $5 WHERE id = $1",
        report.id,
        report.status,
        report.settled_at_ms,
        report.settled_by,
        report.settled_reason,
    )


_SELECT = (
    "SELECT report.*, reporter.name AS reporter_name, target.name AS target_name,"
    " settler.name AS settled_by_name FROM reports AS report"
    " LEFT JOIN users AS reporter ON reporter.id = report.reporter_id"
    " LEFT JOIN users AS target ON target.id = report.target_id"
    " LEFT JOIN users AS settler ON settler.id = report.settled_by"
)

_LISTS = filtered(
    _SELECT + " WHERE report.seq < $1{} ORDER BY report.seq DESC LIMIT $2",
    ("report.status = ${}", "report.reporter_id = ${}", "report.target_id = ${}", "report.target_id <> ${}"),
    taken=2,
)

_LOCK = _SELECT + " WHERE report.id = $1 FOR UPDATE OF report"


def _report(row: Row) -> Report:
    return Report(*(row[name] for name in Report.__struct_fields__))
