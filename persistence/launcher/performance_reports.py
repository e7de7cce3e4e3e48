"""Performance reports of launchers, and how many came. Rows only."""

import msgspec

from persistence.connection import Connection


class Report(msgspec.Struct, frozen=True):
    """A performance report of a launcher.

    Args:
        seq: its place among all, for paging.
        id: objectId.
        user_id: the user whose launcher sent it.
        launcher_version, platform: as the launcher named them; None if it did not.
        created_at_ms: when it arrived, epoch milliseconds.
        report: the report as encoded JSON object.
    """

    seq: int
    id: str
    user_id: str
    launcher_version: str | None
    platform: str | None
    created_at_ms: int
    report: bytes


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of a page of reports.

    Args:
        since_ms: only reports from this time on, epoch milliseconds.
        user_id: only reports of this user; None for those of all.
        before: (created_at_ms, seq) of the last report of the page before; None for the first page.
        limit: at most so many.
        max_bytes: the page ends with the first report that brings the bytes of their JSON above this.
    """

    since_ms: int
    user_id: str | None
    before: tuple[int, int] | None
    limit: int
    max_bytes: int


class ReportCount(msgspec.Struct, frozen=True):
    """How many reports came from one launcher version on one platform.

    Args:
        platform, launcher_version: as launchers named them; "" where they did not.
    """

    platform: str
    launcher_version: str
    reports: int


async def add(conn: Connection, report: Report) -> None:
    """Store a report; its `seq` is ignored."""
    await conn.execute(
        "INSERT INTO performance_reports (id, user_id, launcher_version, platform, created_at_ms, report)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        report.id,
        report.user_id,
        report.launcher_version,
        report.platform,
        report.created_at_ms,
        report.report,
    )


async def thin_out(
    conn: Connection, user_id: str, *, day_starts_ms: int, most_a_day: int, most_bytes: int
) -> None:
    """Delete the oldest reports of a user beyond two limits. The caller has locked the user's row.

    Args:
        day_starts_ms: when the present day began, epoch milliseconds.
        most_a_day: how many reports of that day are kept.
        most_bytes: how many bytes of reports of all days are kept; the newest report is always kept.
    """
    await conn.execute(
        "DELETE FROM performance_reports WHERE seq IN ("
        " SELECT seq FROM (SELECT seq, created_at_ms, row_number() OVER newest AS place,"
        " sum(octet_length(report)) OVER newest AS total FROM performance_reports WHERE user_id = $1"
        " WINDOW newest AS (ORDER BY created_at_ms DESC, seq DESC)) AS ranked"
        " WHERE place > 1 AND (total > $4 OR (place > $3 AND created_at_ms >= $2)))",
        user_id,
        day_starts_ms,
        most_a_day,
        most_bytes,
    )


async def list_reports(conn: Connection, wanted: Wanted) -> list[Report]:
    """The wanted reports, newest first."""
    place = (wanted.since_ms, *(wanted.before or _LAST), wanted.limit, wanted.max_bytes)
    if wanted.user_id is None:
        rows = await conn.fetch(_PAGE, *place)
    else:
        rows = await conn.fetch(_PAGE_OF_USER, *place, wanted.user_id)
    return [Report(*(row[name] for name in Report.__struct_fields__)) for row in rows]


async def count(conn: Connection, day: int, key: ReportCount, *, most_keys: int) -> None:
    """Add to the reports of a day.

    Args:
        day: days since 1970 (UTC).
        key: its `reports` are added to the count of its platform and version.
        most_keys: how many pairs of platform and version are counted apart on one day; further ones count under "".
    """
    if await conn.fetchval(
        "UPDATE performance_report_counts SET reports = reports + $4"
        " WHERE day = $1 AND platform = $2 AND launcher_version = $3 RETURNING true",
        day,
        key.platform,
        key.launcher_version,
        key.reports,
    ):
        return
    # New names of one day wait for each other, so that together they do not exceed the bound.
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('performance report counts', 30))")
    known = await conn.fetchval("SELECT count(*) FROM performance_report_counts WHERE day = $1", day)
    told_apart = known < most_keys
    await conn.execute(
        "INSERT INTO performance_report_counts AS kept (day, platform, launcher_version, reports)"
        " VALUES ($1, $2, $3, $4) ON CONFLICT (day, platform, launcher_version)"
        " DO UPDATE SET reports = kept.reports + excluded.reports",
        day,
        key.platform if told_apart else "",
        key.launcher_version if told_apart else "",
        key.reports,
    )


async def read_counts(conn: Connection, since_day: int, limit: int) -> list[ReportCount]:
    """How many reports came since a day, of each platform and version, most first.

    Args:
        since_day: the first day that is counted; days since 1970 (UTC).
        limit: the most pairs of platform and version that are returned.
    """
    rows = await conn.fetch(
        "SELECT platform, launcher_version, sum(reports)::bigint AS reports FROM performance_report_counts"
        ' WHERE day >= $1 GROUP BY platform, launcher_version ORDER BY reports DESC, platform COLLATE "C",'
        ' launcher_version COLLATE "C" LIMIT $2',
        since_day,
        limit,
    )
    return [ReportCount(*(row[name] for name in ReportCount.__struct_fields__)) for row in rows]


async def prune(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete reports older than a moment (epoch milliseconds), at most `limit`, the oldest first; returns how many."""
    tag = await conn.execute(
        "DELETE FROM performance_reports WHERE seq = ANY (ARRAY(SELECT seq FROM performance_reports"
        " WHERE created_at_ms < $1 ORDER BY created_at_ms LIMIT $2))",
        before_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])


async def prune_counts(conn: Connection, limit: int, *, before_day: int) -> int:
    """Delete counts of old days, at most `limit`; returns how many.

    Args:
        before_day: the first day that stays; days since 1970 (UTC).
    """
    tag = await conn.execute(
        "DELETE FROM performance_report_counts WHERE ctid = ANY (ARRAY(SELECT ctid FROM performance_report_counts"
        " WHERE day < $1 LIMIT $2)) AND day < $1",
        before_day,
        limit,
    )
    return int(tag.rpartition(" ")[2])


_LAST = (2**63 - 1, 2**63 - 1)
"""The position before the newest report: no report has such a time or `seq`."""

_PAGE = """
SELECT seq, id, user_id, launcher_version, platform, created_at_ms, report FROM (
    SELECT *, sum(octet_length(report)) OVER newest - octet_length(report) AS bytes_before FROM (
        SELECT * FROM performance_reports WHERE created_at_ms >= $1 AND (created_at_ms, seq) < ($2, $3)
        ORDER BY created_at_ms DESC, seq DESC LIMIT $4
    ) AS wanted
    WINDOW newest AS (ORDER BY created_at_ms DESC, seq DESC)
) AS weighed
WHERE bytes_before <= $5 ORDER BY created_at_ms DESC, seq DESC
"""

# A statement of its own: where a parameter leaves a condition out, PostgreSQL may walk the reports of all users.
_PAGE_OF_USER = _PAGE.replace("WHERE created_at_ms", "WHERE user_id = $6 AND created_at_ms")
