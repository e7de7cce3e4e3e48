"""What users do counts for their quests: units of work, inside the caller's transaction.

All of it is read from committed rows, but for launch signals, which no row keeps. A unit first keeps what was done,
once however often it is told, and then sets the progress of the quests of those for whom there is more. Users are
locked before their rows, so that no unit waits for an erasure that waits for it.
"""

from collections.abc import Sequence

import msgspec

from actors.quests.day import day_of, stretches
from actors.quests.table import progress_of
from actors.time import DAY_MS
from persistence.connect.rows import SessionRow
from persistence.connection import Connection
from persistence.quests import company, play, quests, totals
from persistence.quests.company import Launch
from persistence.users.users import keep_users

LAUNCHES_KEPT = 3
"""How many launch signals of one user and day are kept: no quest asks for more."""

PARTY_SIZE_KEPT = 3
"""The size as which larger parties count: no quest asks for more."""


class PlayPage(msgspec.Struct, frozen=True):
    """One page of the walk over all sessions; `last` is (server id, user id) of its last session, None at the end."""

    last: tuple[str, str] | None


async def count_play(
    conn: Connection, after: tuple[str, str] | None, limit: int, since_ms: int, now_ms: int
) -> PlayPage:
    """Count the time that players have had since it was last counted, for one page of sessions.

    Args:
        after: the `last` of the page before; None for the first page.
        limit: how many sessions at most.
        since_ms: a moment, epoch milliseconds: friends are looked for of players who came after it, and on a new day of
            all players.
        now_ms: epoch milliseconds.
    """
    page = await play.read_sessions(conn, after, limit)
    there = await keep_users(conn, {one.user_id for one in page.sessions})
    sessions = [one for one in page.sessions if one.user_id in there]
    counted = await play.count(conn, list(stretches(sessions, now_ms)))
    moved = {(one.user_id, one.day) for one in counted}
    moved.update(await play.first_players(conn, [one for one in counted if one.fresh]))
    moved.update(await _count_friends(conn, sessions, since_ms, now_ms))
    there = await keep_users(conn, {user_id for user_id, _ in moved})
    await advance(conn, sorted(one for one in moved if one[0] in there), now_ms)
    return PlayPage(page.last)


async def count_parties(conn: Connection, limit: int, now_ms: int) -> int:
    """Count the parties that have grown larger than any that their members were in today; returns how many members.

    Args:
        limit: how many members at most.
        now_ms: epoch milliseconds.
    """
    day = day_of(now_ms)
    sizes = await company.grown_parties(conn, day, PARTY_SIZE_KEPT, limit)
    there = await keep_users(conn, sizes)
    await company.note_parties(conn, day, {user_id: sizes[user_id] for user_id in there})
    await advance(conn, [(user_id, day) for user_id in sorted(there)], now_ms)
    return len(there)


async def count_launches(conn: Connection, launches: Sequence[Launch], now_ms: int) -> None:
    """Count launch signals.

    Args:
        launches: the launches, which may have been counted before or be named twice: each counts once.
        now_ms: epoch milliseconds.
    """
    there = await keep_users(conn, {one.user_id for one in launches})
    known = [one for one in launches if one.user_id in there]
    await advance(conn, await company.note_launches(conn, known, LAUNCHES_KEPT), now_ms)


async def advance(conn: Connection, days: Sequence[tuple[str, int]], now_ms: int) -> None:
    """Set the progress of quests to what their users have done; those that reach their goal are completed, and earn.

    Args:
        days: (user id, day), sorted. The caller has made sure that these users are not erased meanwhile.
        now_ms: epoch milliseconds.
    """
    if not days:
        return
    unfinished = await quests.lock_unfinished(conn, days)
    if not unfinished:
        return
    done = await totals.read(conn, sorted({(one.user_id, one.day) for one in unfinished}))
    progress = {one.id: progress_of(one.kind, one.goal, done[one.user_id, one.day]) for one in unfinished}
    moved = {one.id: progress[one.id] for one in unfinished if progress[one.id] != one.progress}
    if moved:
        await quests.advance(conn, moved, now_ms)


async def _count_friends(
    conn: Connection, sessions: Sequence[SessionRow], since_ms: int, now_ms: int
) -> list[tuple[str, int]]:
    day = day_of(now_ms)
    players = [
        (one.user_id, one.server_id)
        for one in sessions
        if since_ms <= max(one.started_at_ms, day * DAY_MS) and one.expires_at_ms > now_ms
    ]
    if not players:
        return []
    met = await company.meeting_friends(conn, players, day, now_ms)
    there = await keep_users(conn, met)
    await company.note_friends(conn, day, sorted(there))
    return [(user_id, day) for user_id in there]
