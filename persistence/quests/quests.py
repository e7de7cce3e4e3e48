"""The quests of users, by day. Rows only."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection


class QuestRow(msgspec.Struct, frozen=True):
    """A daily quest of a user.

    Args:
        day: counted from 1970.
        slot: its place among the user's quests of the day, from 0.
        completed_at_ms: when it was completed, epoch milliseconds; None before.
    """

    id: str
    user_id: str
    day: int
    slot: int
    kind: str
    goal: int
    xp: int
    progress: int
    completed_at_ms: int | None


class QuestDay(msgspec.Struct, frozen=True):
    """A user's quests of a day, by slot.

    Args:
        draws: how many draws of quests were made for the day; it seeds the next draw.
        rerolls: how often the user has asked for other quests.
    """

    draws: int
    rerolls: int
    quests: tuple[QuestRow, ...]


async def read(conn: Connection, user_id: str, day: int) -> QuestDay | None:
    """A user's quests of a day (counted from 1970), or None before they were drawn."""
    rows = await conn.fetch(_READ, user_id, day)
    if not rows:
        return None
    quests = tuple(QuestRow(*(row[name] for name in _COLUMNS)) for row in rows)
    return QuestDay(rows[0]["draws"], rows[0]["rerolls"], quests)


async def begin(conn: Connection, user_id: str, day: int, draws: int, quests: Sequence[QuestRow]) -> None:
    """Store the quests of a day that has none; the user is locked.

    Args:
        day: counted from 1970.
        draws: how many draws were made for them.
    """
    await conn.execute(
        "INSERT INTO quest_days (user_id, day, draws) VALUES ($1, $2, $3)", user_id, day, draws
    )
    await _add(conn, quests)


async def replace(conn: Connection, user_id: str, day: int, draws: int, quests: Sequence[QuestRow]) -> None:
    """Replace the quests that have the slots of these, and count a reroll; the user is locked.

    Args:
        day: counted from 1970.
        draws: how many draws were made for the day, earlier ones included.
    """
    slots = [one.slot for one in quests]
    await conn.execute(
        "DELETE FROM daily_quests WHERE user_id = $1 AND day = $2 AND slot = ANY ($3::smallint[])",
        user_id,
        day,
        slots,
    )
    await _add(conn, quests)
    await conn.execute(
        "UPDATE quest_days SET draws = $3, rerolls = rerolls + 1 WHERE user_id = $1 AND day = $2",
        user_id,
        day,
        draws,
    )


async def lock(conn: Connection, user_id: str, day: int) -> None:
    """Lock the quests of a day, if they were drawn: nobody moves one of them until the transaction ends."""
    await conn.execute(_LOCK, [user_id], [day])


async def lock_unfinished(conn: Connection, days: Sequence[tuple[str, int]]) -> list[QuestRow]:
    """The quests of these (user id, day) pairs that are not completed; the days stay locked until the transaction
    ends."""
    user_ids, numbers = [user_id for user_id, _ in days], [day for _, day in days]
    await conn.execute(_LOCK, user_ids, numbers)
    rows = await conn.fetch(_UNFINISHED, user_ids, numbers)
    return [QuestRow(*(row[name] for name in _COLUMNS)) for row in rows]


async def advance(conn: Connection, progress: dict[str, int], now_ms: int) -> None:
    """Store the progress of quests that are not completed. Those that reach their goal are completed, and their users
    get the experience in the same statement.

    Args:
        progress: {quest id: progress}.
        now_ms: epoch milliseconds.
    """
    await conn.execute(_ADVANCE, list(progress), list(progress.values()), now_ms)


async def prune(conn: Connection, limit: int, *, before_day: int) -> int:
    """Delete the quests of old days, of at most `limit` users and days; returns how many days of users.

    Args:
        before_day: the first day that stays, counted from 1970.
    """
    tag = await conn.execute(
        "DELETE FROM quest_days WHERE ctid = ANY (ARRAY("
        "SELECT ctid FROM quest_days WHERE day < $1 ORDER BY day LIMIT $2)) AND day < $1",
        before_day,
        limit,
    )
    return int(tag.rpartition(" ")[2])


async def _add(conn: Connection, quests: Sequence[QuestRow]) -> None:
    await conn.executemany(
        "INSERT INTO daily_quests (id, user_id, day, slot, kind, goal, xp, progress, completed_at_ms)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [msgspec.structs.astuple(one) for one in quests],
    )


_COLUMNS = QuestRow.__struct_fields__

_READ = """
SELECT d.draws, d.rerolls, q.* FROM quest_days d JOIN daily_quests q USING (user_id, day)
WHERE user_id = $1 AND day = $2 ORDER BY q.slot
"""

_LOCK = """
SELECT FROM quest_days d JOIN unnest($1::text[], $2::integer[]) AS asked (user_id, day) USING (user_id, day)
ORDER BY d.user_id, d.day FOR UPDATE OF d
"""

_UNFINISHED = """
SELECT q.* FROM daily_quests q JOIN unnest($1::text[], $2::integer[]) AS asked (user_id, day) USING (user_id, day)
WHERE q.completed_at_ms IS NULL
"""

_ADVANCE = """
WITH moved AS (
    UPDATE daily_quests q
    SET progress = new.progress, completed_at_ms = CASE WHEN new.progress >= q.goal THEN $3::bigint END
    FROM unnest($1::text[], $2::integer[]) AS new (id, progress)
    WHERE q.id = new.id AND q.completed_at_ms IS NULL
    RETURNING q.user_id, q.xp, q.completed_at_ms
)
INSERT INTO experience (user_id, total_xp)
SELECT user_id, sum(xp) FROM moved WHERE completed_at_ms IS NOT NULL GROUP BY user_id ORDER BY user_id
ON CONFLICT (user_id) DO UPDATE SET total_xp = experience.total_xp + excluded.total_xp
"""
