"""With whom users played on a day: launch signals and sizes of their parties, and friends on the same server."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection
from persistence.quests.play import Stretch


class Launch(msgspec.Struct, frozen=True):
    """A launch signal that a user was part of."""

    user_id: str
    day: int
    signal_id: str


async def note_launches(conn: Connection, launches: Sequence[Launch], most: int) -> list[tuple[str, int]]:
    """Store launch signals that are not stored yet; returns (user id, day) of the users who have more than before.

    Args:
        launches: the signals, of users who exist and cannot be erased meanwhile.
        most: a user who has this many signals of a day gets no further ones.
    """
    rows = await conn.fetch(
        _NOTE_LAUNCHES,
        [one.user_id for one in launches],
        [one.day for one in launches],
        [one.signal_id for one in launches],
        most,
    )
    return sorted({(row["user_id"], row["day"]) for row in rows})


async def grown_parties(conn: Connection, day: int, most: int, limit: int) -> dict[str, int]:
    """{user id: present size of their party} of users whose party is larger than what is stored for the day.

    Args:
        day: the day, counted from 1970-01-01.
        most: larger parties count as having this size.
        limit: the most users that are returned.
    """
    rows = await conn.fetch(_GROWN_PARTIES, day, most, limit)
    return {row["user_id"]: row["size"] for row in rows}


async def note_parties(conn: Connection, day: int, sizes: dict[str, int]) -> None:
    """Store the sizes of users' parties, where they are larger than what is stored for the day.

    Args:
        day: counted from 1970.
        sizes: {user id: size of their party}; the users exist and cannot be erased meanwhile.
    """
    user_ids = sorted(sizes)
    await conn.execute(_NOTE_PARTIES, user_ids, day, [sizes[user_id] for user_id in user_ids])


async def meeting_friends(conn: Connection, players: Sequence[Stretch]) -> list[tuple[str, int]]:
    """(user id, day) of the users who have played with a friend during these stretches, and are not stored as such for
    the day: these players, and the friends whom they met. Who has left is met until their visit is forgotten.
    """
    rows = await conn.fetch(
        _MEETING_FRIENDS,
        [one.user_id for one in players],
        [one.day for one in players],
        [one.server_id for one in players],
        [one.begins_at_ms for one in players],
        [one.ends_at_ms for one in players],
        [one.own for one in players],
    )
    return [(row["user_id"], row["day"]) for row in rows]


async def note_friends(conn: Connection, days: Sequence[tuple[str, int]]) -> None:
    """Store that users have played with a friend.

    Args:
        days: (user id, day); the users exist and cannot be erased meanwhile.
    """
    await conn.execute(
        "INSERT INTO quest_company (user_id, day, friends)"
        " SELECT user_id, day, 1 FROM unnest($1::text[], $2::integer[]) AS new (user_id, day) ORDER BY user_id, day"
        " ON CONFLICT (user_id, day) DO UPDATE SET friends = 1",
        [user_id for user_id, _ in days],
        [day for _, day in days],
    )


async def prune_launches(conn: Connection, limit: int, *, before_day: int) -> int:
    """Delete old launch signals, at most `limit`; returns how many.

    Args:
        before_day: the first day that stays, counted from 1970.
    """
    tag = await conn.execute(
        "DELETE FROM quest_launches WHERE ctid = ANY (ARRAY("
        "SELECT ctid FROM quest_launches WHERE day < $1 ORDER BY day LIMIT $2)) AND day < $1",
        before_day,
        limit,
    )
    return int(tag.rpartition(" ")[2])


async def prune_company(conn: Connection, limit: int, *, before_day: int) -> int:
    """Delete what is stored of old days about parties and friends, at most `limit` rows; returns how many.

    Args:
        before_day: the first day that stays, counted from 1970.
    """
    tag = await conn.execute(
        "DELETE FROM quest_company WHERE ctid = ANY (ARRAY("
        "SELECT ctid FROM quest_company WHERE day < $1 ORDER BY day LIMIT $2)) AND day < $1",
        before_day,
        limit,
    )
    return int(tag.rpartition(" ")[2])


_NOTE_LAUNCHES = """
INSERT INTO quest_launches (user_id, day, signal_id)
SELECT user_id, day, signal_id FROM unnest($1::text[], $2::integer[], $3::text[]) AS new (user_id, day, signal_id)
WHERE (SELECT count(*) FROM quest_launches l WHERE l.user_id = new.user_id AND l.day = new.day) < $4
ORDER BY user_id, day, signal_id
ON CONFLICT DO NOTHING RETURNING user_id, day
"""

_GROWN_PARTIES = """
SELECT m.user_id, least(p.size, $2)::integer AS size
FROM (SELECT party_id, count(*) AS size FROM party_members GROUP BY party_id) AS p
JOIN party_members m USING (party_id)
LEFT JOIN quest_company kept ON kept.user_id = m.user_id AND kept.day = $1
WHERE least(p.size, $2) > coalesce(kept.party_size, 0)
ORDER BY m.user_id LIMIT $3
"""

_NOTE_PARTIES = """
INSERT INTO quest_company AS kept (user_id, day, party_size)
SELECT user_id, $2, size FROM unnest($1::text[], $3::integer[]) AS new (user_id, size) ORDER BY user_id
ON CONFLICT (user_id, day) DO UPDATE SET party_size = greatest(kept.party_size, excluded.party_size)
"""

_MEETING_FRIENDS = """
SELECT DISTINCT met.user_id, player.day
FROM unnest($1::text[], $2::integer[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])
     AS player (user_id, day, server_id, begins, ends, own)
JOIN friend_links link ON link.user_id = player.user_id
CROSS JOIN LATERAL (
    SELECT s.started_at_ms AS began, s.expires_at_ms AS ends, c.owner_id IS NOT DISTINCT FROM s.user_id AS own
    FROM connect_sessions s JOIN connect_servers c USING (server_id)
    WHERE s.server_id = player.server_id AND s.user_id = link.friend_id
    UNION ALL
    SELECT e.began_at_ms, e.ended_at_ms, e.own FROM quest_ended_visits e
    WHERE e.server_id = player.server_id AND e.user_id = link.friend_id
) AS friend
CROSS JOIN LATERAL (VALUES (player.user_id, player.own), (link.friend_id, friend.own)) AS met (user_id, own)
LEFT JOIN quest_company kept ON kept.user_id = met.user_id AND kept.day = player.day
WHERE friend.began < player.ends AND friend.ends > player.begins AND NOT met.own
AND coalesce(kept.friends, 0) = 0
"""
