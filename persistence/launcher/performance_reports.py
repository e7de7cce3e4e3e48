"""Performance reports of launchers, and how many came. Rows only."""

from collections.abc import Sequence
from datetime import date

import msgspec

from persistence.connection import Connection, Row


class ReportHead(msgspec.Struct, frozen=True):
    """A report without its content.

    Args:
        seq: its place among all, for paging.
        id: objectId.
        user_id: the user whose launcher sent it.
        launcher_version, platform: as the launcher named them; None if it did not.
        created_at_ms: epoch milliseconds.
        bytes: the length of its content.
    """

    seq: int
    id: str
    user_id: str
    launcher_version: str | None
    platform: str | None
    created_at_ms: int
    bytes: int


class Wanted(msgspec.Struct, frozen=True):
    """Which reports to list.

    Args:
        since_ms: epoch milliseconds; only reports from then on. None = all.
        user_id: only of this user; None = of all.
        before: (created_at_ms, seq) of the last report of the page before; None for the first page.
        limit: the most reports, at least 1.
    """

    since_ms: int | None
    user_id: str | None
    before: tuple[int, int] | None
    limit: int


class ReportCount(msgspec.Struct, frozen=True):
    """How many reports came of one version on one platform.

    Args:
        platform, launcher_version: "" = not said.
    """

    platform: str
    launcher_version: str
    reports: int


async def add(conn: Connection, head: ReportHead, content: bytes) -> None:
    """Store a report; its `seq` is ignored.

    Args:
        content: its JSON, `head.bytes` long.
    """
    await conn.execute(
        "INSERT INTO performance_reports"
        " (id, user_id, launcher_version, platform, created_at_ms, bytes, report)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7)",
        head.id,
        head.user_id,
        head.launcher_version,
        head.platform,
        head.created_at_ms,
        head.bytes,
        content,
    )


async def thin_out(
    conn: Connection, user_id: str, *, day_starts_ms: int, most_a_day: int, most_bytes: int
) -> None:
    """Delete the oldest reports of a user, as many as are too many. The caller has locked the user.

    Args:
        day_starts_ms: when the present day began, epoch milliseconds.
        most_a_day: how many are kept of that day.
        most_bytes: how many bytes are kept of all days; the newest report is always kept.
    """
    await conn.execute(
        "DELETE FROM performance_reports WHERE seq IN ("
        " SELECT seq FROM (SELECT seq, created_at_ms, row_number() OVER newest AS place,"
        " sum(bytes) OVER newest AS total FROM performance_reports WHERE user_id = $1"
        " WINDOW newest AS (ORDER BY created_at_ms DESC, seq DESC)) AS ranked"
        " WHERE place > 1 AND (total > $4 OR (place > $3 AND created_at_ms >= $2)))",
        user_id,
        day_starts_ms,
        most_a_day,
        most_bytes,
    )


async def list_heads(conn: Connection, wanted: Wanted) -> list[ReportHead]:
    """The wanted reports, newest first."""
    rows = await conn.fetch(
        "SELECT seq, id, user_id, launcher_version, platform, created_at_ms, bytes FROM performance_reports"
        " WHERE ($1::bigint IS NULL OR created_at_ms >= $1) AND ($2::text IS NULL OR user_id = $2)"
        " AND ($3::bigint IS NULL OR (created_at_ms, seq) < ($3, $4::bigint))"
        " ORDER BY created_at_ms DESC, seq DESC LIMIT $5",
        wanted.since_ms,
        wanted.user_id,
        *(wanted.before or (None, None)),
        wanted.limit,
    )
    return [_head(row) for row in rows]


async def read_contents(conn: Connection, places: Sequence[int]) -> dict[int, bytes]:
    """The JSON of reports, {seq: JSON}; those that are gone are missing.

    Args:
        places: the `seq` of each.
    """
    rows = await conn.fetch(
        "SELECT seq, report FROM performance_reports WHERE seq = ANY ($1::bigint[])", list(places)
    )
    return {row["seq"]: row["report"] for row in rows}


async def count(conn: Connection, day: date, key: ReportCount, *, most_keys: int) -> None:
    """Add to the reports of a day.

    Args:
        day: UTC.
        key: `reports` are added to those of its platform and version.
        most_keys: how many platforms and versions are told apart on one day; what comes beyond is counted as not said.
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


async def read_counts(conn: Connection, since: date, limit: int) -> list[ReportCount]:
    """How many reports came since a day, of each platform and version, most first.

    Args:
        since: the first day, UTC.
        limit: the most platforms and versions.
    """
    rows = await conn.fetch(
        "SELECT platform, launcher_version, sum(reports)::bigint AS reports FROM performance_report_counts"
        ' WHERE day >= $1 GROUP BY platform, launcher_version ORDER BY reports DESC, platform COLLATE "C",'
        ' launcher_version COLLATE "C" LIMIT $2',
        since,
        limit,
    )
    return [ReportCount(*(row[name] for name in ReportCount.__struct_fields__)) for row in rows]


async def prune(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete at most `limit` of the reports older than a moment; returns how many.

    Args:
        before_ms: epoch milliseconds.
    """
    deleted = await conn.fetch(
        "DELETE FROM performance_reports WHERE seq IN (SELECT seq FROM performance_reports"
        " WHERE created_at_ms < $1 ORDER BY created_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING true",
        before_ms,
        limit,
    )
    return len(deleted)


async def prune_counts(conn: Connection, limit: int, *, before: date) -> int:
    """Delete at most `limit` of the counts of days before this one (UTC); returns how many."""
    deleted = await conn.fetch(
        "DELETE FROM performance_report_counts WHERE (day, platform, launcher_version) IN"
        " (SELECT day, platform, launcher_version FROM performance_report_counts WHERE day < $1 LIMIT $2"
        " FOR UPDATE SKIP LOCKED) RETURNING true",
        before,
        limit,
    )
    return len(deleted)


def _head(row: Row) -> ReportHead:
    return ReportHead(*(row[name] for name in ReportHead.__struct_fields__))
