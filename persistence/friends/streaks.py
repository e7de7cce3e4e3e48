"""Flame streaks: one row for each pair of friends who were in touch. Rows only."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection

# Days come in rising order; one that is no newer than the stored ones changes nothing, not even the time of the last
# contact: a process that has just started does not know what was written, and tells each party of the day again. The
# link is locked, so that no streak outlives a friendship that is ended concurrently.
_TOUCH = """
INSERT INTO flame_streaks AS old (low_id, high_id, low_day, high_day, first_day, last_day, last_contact_ms)
SELECT new.low_id, new.high_id,
    CASE WHEN new.low THEN $1::integer END, CASE WHEN new.high THEN $1::integer END,
    CASE WHEN new.low AND new.high THEN $1::integer END, CASE WHEN new.low AND new.high THEN $1::integer END,
    new.at_ms
FROM unnest($2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::bigint[])
    AS new (low_id, high_id, low, high, at_ms)
JOIN friend_links link ON link.user_id = new.low_id AND link.friend_id = new.high_id
ORDER BY new.low_id, new.high_id
FOR KEY SHARE OF link
ON CONFLICT (low_id, high_id) DO UPDATE SET
    low_day = greatest(old.low_day, excluded.low_day),
    high_day = greatest(old.high_day, excluded.high_day),
    first_day = CASE
        WHEN greatest(old.low_day, excluded.low_day) = $1 AND greatest(old.high_day, excluded.high_day) = $1
            AND (old.last_day IS NULL OR old.last_day < $1 - 1) THEN $1
        ELSE old.first_day END,
    last_day = CASE
        WHEN greatest(old.low_day, excluded.low_day) = $1 AND greatest(old.high_day, excluded.high_day) = $1 THEN $1
        ELSE old.last_day END,
    last_contact_ms = greatest(old.last_contact_ms, excluded.last_contact_ms)
WHERE greatest(old.low_day, excluded.low_day) IS DISTINCT FROM old.low_day
    OR greatest(old.high_day, excluded.high_day) IS DISTINCT FROM old.high_day
RETURNING low_id, high_id
"""


class Contact(msgspec.Struct, frozen=True):
    """A pair of users who were in touch on a day, with `low_id` < `high_id`.

    Args:
        low, high: whether `low_id`, or `high_id`, wrote to the other or was together with them.
        at_ms: when they were last in touch on that day, epoch milliseconds.
    """

    low_id: str
    high_id: str
    low: bool
    high: bool
    at_ms: int


async def touch(conn: Connection, day: int, contacts: Sequence[Contact]) -> list[tuple[str, str]]:
    """Update the streaks of pairs who were in touch on a day.

    Args:
        day: the UTC day, counted from 1970-01-01.
        contacts: at most one for each pair of users.

    Returns:
        Those of the pairs of whom a side was in touch for the first time on that day. Only friends have a streak.
    """
    rows = await conn.fetch(
        _TOUCH,
        day,
        [one.low_id for one in contacts],
        [one.high_id for one in contacts],
        [one.low for one in contacts],
        [one.high for one in contacts],
        [one.at_ms for one in contacts],
    )
    return [(row["low_id"], row["high_id"]) for row in rows]
