"""Days (UTC), and how the time that users have played falls into them. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator

from actors.time import DAY_MS
from persistence.quests.play import Stretch
from persistence.quests.visits import Visit

SESSION_MAX_MS = 12 * 3_600_000
"""How much of one session counts as played time."""


def day_of(at_ms: int) -> int:
    """The day (UTC) of a moment, counted from 1 January 1970.

    Args:
        at_ms: epoch milliseconds.
    """
    return at_ms // DAY_MS


def ends_at_ms(day: int) -> int:
    """When a day ends, epoch milliseconds: the first millisecond of the next day."""
    return (day + 1) * DAY_MS


def stretches(visits: Iterable[Visit], now_ms: int) -> Iterator[Stretch]:
    """The time that these visits have lasted on this day and the one before: at most one stretch for each.

    Args:
        visits: visits that have begun.
        now_ms: epoch milliseconds.
    """
    today = day_of(now_ms)
    for visit in visits:
        until_ms = min(now_ms, visit.ends_at_ms, visit.began_at_ms + SESSION_MAX_MS)
        for day in (today - 1, today):
            begins_at_ms = max(visit.began_at_ms, day * DAY_MS)
            end_ms = min(until_ms, ends_at_ms(day))
            if begins_at_ms < end_ms:
                yield Stretch(visit.user_id, day, visit.server_id, begins_at_ms, end_ms, visit.own)


def in_turns(stretches: Iterable[Stretch]) -> list[list[Stretch]]:
    """These stretches in turns, none of which has two of one user, day and server: the earlier ones come before.

    Args:
        stretches: those of one user, day and server do not overlap.
    """
    turns: list[list[Stretch]] = []
    met: Counter[tuple[str, int, str]] = Counter()
    for one in sorted(stretches, key=lambda one: one.begins_at_ms):
        key = one.user_id, one.day, one.server_id
        if met[key] == len(turns):
            turns.append([])
        turns[met[key]].append(one)
        met[key] += 1
    return turns
