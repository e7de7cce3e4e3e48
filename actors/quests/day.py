"""Days (UTC), and how the time that users have played falls into them. Pure."""

from collections.abc import Iterable, Iterator

from actors.time import DAY_MS
from persistence.connect.rows import SessionRow
from persistence.quests.play import Stretch

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


def stretches(sessions: Iterable[SessionRow], now_ms: int) -> Iterator[Stretch]:
    """The time that these sessions have lasted today and yesterday: at most one stretch for each session and day.

    Args:
        sessions: sessions that have begun and not ended.
        now_ms: epoch milliseconds.
    """
    today = day_of(now_ms)
    for session in sessions:
        until_ms = min(now_ms, session.expires_at_ms, session.started_at_ms + SESSION_MAX_MS)
        for day in (today - 1, today):
            begins_at_ms = max(session.started_at_ms, day * DAY_MS)
            end_ms = min(until_ms, ends_at_ms(day))
            if begins_at_ms < end_ms:
                yield Stretch(session.user_id, day, session.server_id, begins_at_ms, end_ms)
