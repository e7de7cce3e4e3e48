"""Count what users do towards their quests: units of work, inside the caller's transaction.

All of it is read from committed rows, but for launch signals, which no row keeps. A unit first keeps what was done,
once however often it is told, and then sets the progress of the quests of those for whom there is more. Users are
locked before their rows, so that no unit waits for an erasure that waits for it.
"""

from collections.abc import Sequence

import msgspec

from actors.quests.day import day_of, in_turns, stretches
from actors.quests.table import progress_of
from persistence.connection import Connection
from persistence.quests import company, play, quests, totals, visits
from persistence.quests.company import Launch
from persistence.quests.play import Stretch
from persistence.quests.visits import Visit
from persistence.users.users import keep_users

LAUNCHES_KEPT = 3
"""How many launch signals of one user and day are kept: no quest asks for more."""

PARTY_SIZE_KEPT = 3
"""The size as which larger parties count: no quest asks for more."""


class PlayPage(msgspec.Struct, frozen=True):
    """One page of the walk over all visits; `last` is (server id, user id) of its last visit, None at the end."""

    last: tuple[str, str] | None


async def count_play(
    conn: Connection, after: tuple[str, str] | None, limit: int, since_ms: int, now_ms: int
) -> PlayPage:
    """Count the time that players have had since it was last counted, for one page of visits.

    Args:
        after: the `last` of the page before; None for the first page.
        limit: how many visits at most.
        since_ms: a moment, epoch milliseconds: friends are looked for of players who came after it, and on a new day of
            all players.
        now_ms: epoch milliseconds.
    """
    page = await visits.going_on(conn, after, limit)
    # Read after the page: whoever has come back since they were last counted is counted in the order of their visits.
    await _count(conn, await visits.ended_before(conn, page.visits), page.visits, since_ms, now_ms)
    return PlayPage(page.last)


async def count_ended(conn: Connection, limit: int, now_ms: int) -> int:
    """Count what players had until they left, for some who have since they were last counted; returns how many visits.

    Args:
        limit: the most visits.
        now_ms: epoch milliseconds.
    """
    ended = await visits.ended(conn, limit)
    await _count(conn, ended, (), now_ms, now_ms)
    return len(ended)


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


async def _count(
    conn: Connection, ended: Sequence[Visit], going_on: Sequence[Visit], since_ms: int, now_ms: int
) -> None:
    there = await keep_users(conn, {one.user_id for one in (*ended, *going_on)})
    held = await visits.hold(conn, [one.session_id for one in ended if one.user_id in there])
    lasted = [
        one for visit in ended if visit.session_id in held for one in stretches([visit], visit.ends_at_ms)
    ]
    lasting = list(stretches([one for one in going_on if one.user_id in there], now_ms))
    counted = []
    for turn in in_turns(one for one in (*lasted, *lasting) if not one.own):
        counted += await play.count(conn, turn)
    moved = {(one.user_id, one.day) for one in counted}
    moved.update(await play.first_players(conn, [one for one in counted if one.fresh]))
    came = [one for one in lasting if since_ms <= one.begins_at_ms]
    moved.update(await _count_friends(conn, [*lasted, *came]))
    await visits.forget(conn, held)
    there = await keep_users(conn, {user_id for user_id, _ in moved})
    await advance(conn, sorted(one for one in moved if one[0] in there), now_ms)


async def _count_friends(conn: Connection, players: Sequence[Stretch]) -> list[tuple[str, int]]:
    met = await company.meeting_friends(conn, players) if players else []
    there = await keep_users(conn, {user_id for user_id, _ in met})
    noted = sorted(one for one in met if one[0] in there)
    await company.note_friends(conn, noted)
    return noted
