"""What users have done on a day, added up over servers and parties. Rows only."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection

PRESENT_MS = 60_000
"""How long a user must have played on a server for it to count."""


class DayTotals(msgspec.Struct, frozen=True):
    """What a user has done on a day.

    Args:
        minutes: minutes played on servers that others own; they count half where nobody else played there that day.
            Time on several servers at once counts once.
        servers: how many servers that others own they have played on for at least `PRESENT_MS`.
        launches: how many launch signals they were part of.
        party_size: the size of the largest party that they were in.
        friends: 1 when a friend has played on the same server at the same time.
    """

    minutes: int
    servers: int
    launches: int
    party_size: int
    friends: int


async def read(conn: Connection, days: Sequence[tuple[str, int]]) -> dict[tuple[str, int], DayTotals]:
    """{(user id, day): totals} of these pairs."""
    rows = await conn.fetch(_TOTALS, [user_id for user_id, _ in days], [day for _, day in days], PRESENT_MS)
    return {
        (row["user_id"], row["day"]): DayTotals(
            row["played_ms"] // 60_000, row["servers"], row["launches"], row["party_size"], row["friends"]
        )
        for row in rows
    }


# Whole is the time on servers where somebody else played as well, half that on others; what is in both is whole. What
# rows have beyond their moments (the migration says why) is added as it is.
_TOTALS = """
SELECT asked.user_id, asked.day,
       (play.untold_ms + whole_time.ms + (all_time.ms - whole_time.ms) / 2)::bigint AS played_ms,
       play.servers, launches.launches,
       coalesce(company.party_size, 0) AS party_size, coalesce(company.friends, 0) AS friends
FROM unnest($1::text[], $2::integer[]) AS asked (user_id, day)
CROSS JOIN LATERAL (
    SELECT coalesce(sum(CASE WHEN own.shared THEN own.untold_ms ELSE own.untold_ms / 2 END), 0)::bigint AS untold_ms,
           range_agg(own.moments) FILTER (WHERE own.shared) AS whole, range_agg(own.moments) AS all_of_it,
           count(*) FILTER (WHERE own.played_ms >= $3) AS servers
    FROM (
        SELECT p.played_ms, p.moments,
               p.played_ms - (SELECT coalesce(sum(upper(one) - lower(one)), 0) FROM unnest(p.moments) one)::bigint
                   AS untold_ms,
               EXISTS (
                   SELECT FROM quest_play other
                   WHERE other.day = p.day AND other.server_id = p.server_id AND other.user_id <> p.user_id
               ) AS shared
        FROM quest_play p WHERE p.user_id = asked.user_id AND p.day = asked.day
    ) AS own
) AS play
CROSS JOIN LATERAL (
    SELECT coalesce(sum(upper(one) - lower(one)), 0)::bigint AS ms FROM unnest(play.whole) one
) AS whole_time
CROSS JOIN LATERAL (
    SELECT coalesce(sum(upper(one) - lower(one)), 0)::bigint AS ms FROM unnest(play.all_of_it) one
) AS all_time
CROSS JOIN LATERAL (
    SELECT count(*) AS launches FROM quest_launches l WHERE l.user_id = asked.user_id AND l.day = asked.day
) AS launches
LEFT JOIN quest_company company ON company.user_id = asked.user_id AND company.day = asked.day
"""
