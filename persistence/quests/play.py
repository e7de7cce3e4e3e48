"""How long users have played, by day and server. Rows only."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection

VISITS_MAX = 1_000
"""How many visits of a user to a server count on one day, those that follow one another without a gap as one: the
moments of each are kept."""


class Stretch(msgspec.Struct, frozen=True):
    """A stretch of time for which a user has played on a server, within one day.

    Args:
        day: counted from 1970.
        begins_at_ms, ends_at_ms: epoch milliseconds; the end is the first that is not part of it.
        own: the server is the user's own; they do not earn anything on it.
    """

    user_id: str
    day: int
    server_id: str
    begins_at_ms: int
    ends_at_ms: int
    own: bool = False


class Counted(msgspec.Struct, frozen=True):
    """A row of play time that has grown, or is new, which `fresh` says."""

    user_id: str
    day: int
    server_id: str
    fresh: bool


async def count(conn: Connection, stretches: Sequence[Stretch]) -> list[Counted]:
    """Add the play time of these stretches that was not counted yet, up to `VISITS_MAX` visits a row; returns the rows
    that have changed.

    Args:
        stretches: at most one for each user, day and server, the earlier of them told before the later; the users
            exist and cannot be erased meanwhile.
    """
    rows = await conn.fetch(
        _COUNT,
        [one.user_id for one in stretches],
        [one.day for one in stretches],
        [one.server_id for one in stretches],
        [one.begins_at_ms for one in stretches],
        [one.ends_at_ms for one in stretches],
        VISITS_MAX,
    )
    return [Counted(*row) for row in rows]


async def first_players(conn: Connection, counted: Sequence[Counted]) -> list[tuple[str, int]]:
    """(user id, day) of up to two earlier players of each day and server in `counted`; among them is any user who was
    alone there until now.

    Args:
        counted: the new rows. They are company for a user who was alone, whose minutes there count whole from now on.
    """
    places = sorted({(one.day, one.server_id) for one in counted})
    rows = await conn.fetch(
        _FIRST_PLAYERS,
        [day for day, _ in places],
        [server_id for _, server_id in places],
        [one.user_id for one in counted],
    )
    return [(row["user_id"], row["day"]) for row in rows]


async def prune(conn: Connection, limit: int, *, before_day: int) -> int:
    """Delete the play time of old days, at most `limit` rows; returns how many.

    Args:
        before_day: the first day that stays, counted from 1970.
    """
    tag = await conn.execute(
        "DELETE FROM quest_play WHERE ctid = ANY (ARRAY("
        "SELECT ctid FROM quest_play WHERE day < $1 ORDER BY day LIMIT $2)) AND day < $1",
        before_day,
        limit,
    )
    return int(tag.rpartition(" ")[2])


# Of a row that is there, what was counted before does not count again.
_COUNT = """
INSERT INTO quest_play AS kept (user_id, day, server_id, played_ms, counted_until_ms, moments)
SELECT user_id, day, server_id, ends - begins, ends, int8multirange(int8range(begins, ends))
FROM unnest($1::text[], $2::integer[], $3::text[], $4::bigint[], $5::bigint[])
     AS new (user_id, day, server_id, begins, ends)
ORDER BY user_id, day, server_id
ON CONFLICT (user_id, day, server_id) DO UPDATE
SET played_ms = kept.played_ms + least(
        excluded.played_ms, excluded.counted_until_ms - kept.counted_until_ms
    ),
    counted_until_ms = excluded.counted_until_ms,
    moments = kept.moments + excluded.moments * int8multirange(int8range(kept.counted_until_ms, NULL))
WHERE kept.counted_until_ms < excluded.counted_until_ms
AND (SELECT count(*) FROM unnest(kept.moments)) < $6
RETURNING user_id, day, server_id, xmax = 0 AS fresh
"""

_FIRST_PLAYERS = """
SELECT DISTINCT first.user_id, place.day
FROM unnest($1::integer[], $2::text[]) AS place (day, server_id)
CROSS JOIN LATERAL (
    SELECT user_id FROM quest_play p
    WHERE p.day = place.day AND p.server_id = place.server_id AND p.user_id <> ALL ($3::text[]) LIMIT 2
) AS first
"""
