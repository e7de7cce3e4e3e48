"""How many clients have said what about a release, by day. Rows only."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Connection
from persistence.versions.releases import Platform

VersionEvent: TypeAlias = Literal["check", "download", "installed", "launched", "failed", "rolled_back"]
"""What a client says about a release (contract §10)."""


class VersionCount(msgspec.Struct, frozen=True):
    """How often something was said.

    Args:
        day: days since 1970 (UTC).
    """

    day: int
    release_id: str
    event: VersionEvent
    platform: Platform
    count: int


async def add_counts(conn: Connection, counts: Sequence[VersionCount]) -> None:
    """Add to the counts; those of releases that do not exist are dropped. The others stay until the transaction ends.

    Args:
        counts: each day, release, event and platform once.
    """
    ordered = sorted(counts, key=lambda one: (one.day, one.release_id, one.event, one.platform))
    columns = [[getattr(one, name) for one in ordered] for name in VersionCount.__struct_fields__]
    await conn.execute(_ADD, *columns)


async def list_counts(
    conn: Connection, release_id: str | None, first_day: int, last_day: int, limit: int
) -> list[VersionCount]:
    """The counts of some days, the newest day first, at most `limit`; of one release, or of all (None).

    Args:
        first_day, last_day: both included.
    """
    # Two statements: one that may have no release is planned as if it had none, and walks all days.
    if release_id is None:
        rows = await conn.fetch(_LIST, first_day, last_day, limit)
    else:
        rows = await conn.fetch(_LIST_OF_RELEASE, first_day, last_day, limit, release_id)
    return [VersionCount(*(row[name] for name in VersionCount.__struct_fields__)) for row in rows]


async def prune_counts(conn: Connection, limit: int, *, before_day: int) -> int:
    """Delete counts of days before `before_day` (days since 1970), at most `limit`; returns how many."""
    tag = await conn.execute(
        "DELETE FROM version_counts WHERE ctid = ANY (ARRAY(SELECT ctid FROM version_counts WHERE day < $1 LIMIT $2))"
        " AND day < $1",
        before_day,
        limit,
    )
    return int(tag.rpartition(" ")[2])


_LIST = """
SELECT * FROM version_counts WHERE day BETWEEN $1 AND $2
ORDER BY day DESC, release_id, event, platform LIMIT $3
"""
_LIST_OF_RELEASE = _LIST.replace("WHERE", "WHERE release_id = $4 AND")

# Releases are locked before their counts, as whoever deletes one does.
_ADD = """
WITH known AS MATERIALIZED (SELECT id FROM releases WHERE id = ANY ($2::text[]) ORDER BY id FOR KEY SHARE)
INSERT INTO version_counts AS kept (day, release_id, event, platform, count)
SELECT new.* FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::bigint[])
    AS new (day, release_id, event, platform, count)
WHERE new.release_id IN (SELECT id FROM known)
ON CONFLICT (day, release_id, event, platform) DO UPDATE SET count = kept.count + excluded.count
"""
