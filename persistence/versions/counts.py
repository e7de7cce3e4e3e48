"""How often clients have reported which event of a release, by day. Rows only."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Connection
from persistence.versions.releases import Platform

VersionEvent: TypeAlias = Literal["check", "download", "installed", "launched", "failed", "rolled_back"]
"""What a client reports of a release (contract §10)."""


class VersionCount(msgspec.Struct, frozen=True):
    """How often clients on a platform have reported an event of a release on a day.

    Args:
        day: days since 1970 (UTC).
    """

    day: int
    release_id: str
    event: VersionEvent
    platform: Platform
    count: int


class CountPlace(msgspec.Struct, frozen=True, array_like=True):
    """A count's position in a list: the newest day first, within a day by release, event and platform, descending."""

    day: int
    release_id: str
    event: str
    platform: str


FIRST = CountPlace(2**31 - 1, "", "", "")
"""The position before the first count."""


class WantedCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of a page of counts.

    Args:
        release_id: only counts of this release; None for all.
        first_day, last_day: days since 1970 (UTC), both included.
        after: the position of the last count of the page before.
        limit: at most so many.
    """

    release_id: str | None
    first_day: int
    last_day: int
    after: CountPlace = FIRST
    limit: int


class CountBatch(msgspec.Struct, frozen=True):
    """Counts that are added in one transaction, and only once.

    Args:
        id: objectId, by which a repeated batch is recognised.
        counts: the counts to add; each day, release, event and platform at most once.
    """

    id: str
    counts: Sequence[VersionCount]


async def add_counts(conn: Connection, batch: CountBatch, now_ms: int) -> None:
    """Add a batch to the counts, unless it has been added before. Counts of releases that do not exist are dropped; the
    other releases are locked until the transaction ends, so that they are not deleted meanwhile.

    Args:
        now_ms: epoch milliseconds.
    """
    if not await conn.fetchval(_TAKE_BATCH, batch.id, now_ms):
        return
    ordered = sorted(batch.counts, key=lambda one: (one.day, one.release_id, one.event, one.platform))
    columns = [[getattr(one, name) for one in ordered] for name in VersionCount.__struct_fields__]
    await conn.execute(_ADD, *columns)


async def list_counts(conn: Connection, wanted: WantedCounts) -> list[VersionCount]:
    """The wanted counts, the newest day first."""
    last_day, after = min(wanted.last_day, wanted.after.day), msgspec.structs.astuple(wanted.after)
    # Two statements: one that may have no release is planned as if it had none, and walks all days.
    if wanted.release_id is None:
        rows = await conn.fetch(_LIST, wanted.first_day, last_day, *after, wanted.limit)
    else:
        rows = await conn.fetch(
            _LIST_OF_RELEASE, wanted.first_day, last_day, *after, wanted.limit, wanted.release_id
        )
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


async def prune_batches(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Forget which batches were added before a moment (epoch milliseconds), at most `limit`; returns how many."""
    tag = await conn.execute(
        "DELETE FROM version_count_batches WHERE id = ANY (ARRAY(SELECT id FROM version_count_batches"
        " WHERE added_at_ms < $1 ORDER BY added_at_ms LIMIT $2))",
        before_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])


_TAKE_BATCH = """
INSERT INTO version_count_batches (id, added_at_ms) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING RETURNING true
"""

_LIST = """
SELECT * FROM version_counts WHERE day BETWEEN $1 AND $2::bigint
AND (day, release_id, event, platform) < ($3::bigint, $4, $5, $6)
ORDER BY day DESC, release_id DESC, event DESC, platform DESC LIMIT $7
"""
_LIST_OF_RELEASE = _LIST.replace("WHERE", "WHERE release_id = $8 AND")

# Releases are locked before their counts, as whoever deletes one does.
_ADD = """
WITH known AS MATERIALIZED (SELECT id FROM releases WHERE id = ANY ($2::text[]) ORDER BY id FOR KEY SHARE)
INSERT INTO version_counts AS kept (day, release_id, event, platform, count)
SELECT new.* FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::bigint[])
    AS new (day, release_id, event, platform, count)
WHERE new.release_id IN (SELECT id FROM known)
ON CONFLICT (day, release_id, event, platform) DO UPDATE SET count = kept.count + excluded.count
"""
