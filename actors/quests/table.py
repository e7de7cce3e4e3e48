"""The table of quests, and how much of each a user's day amounts to. Pure."""

from collections.abc import Callable

import msgspec

from persistence.quests.totals import DayTotals

MINUTES_COUNTED = 240
"""How many minutes of one day count."""


class Quest(msgspec.Struct, frozen=True):
    """Something to do on one day.

    Args:
        kind: a key of `PROGRESS`.
        goal: the progress that completes it.
        xp: the experience that it earns.
    """

    kind: str
    goal: int
    xp: int


QUESTS = (
    Quest("play_minutes", 30, 50),
    Quest("play_minutes", 60, 100),
    Quest("play_minutes", 120, 200),
    Quest("play_servers", 2, 75),
    Quest("play_servers", 3, 125),
    Quest("party_launch", 1, 75),
    Quest("party_launch", 2, 125),
    Quest("party_launch", 3, 175),
    Quest("party_size", 3, 100),
    Quest("friends_played", 1, 100),
)
"""The quests that days are drawn from. Rows hold copies, so changing an entry leaves quests that were drawn as they
are."""

PROGRESS: dict[str, Callable[[DayTotals], int]] = {
    "play_minutes": lambda totals: min(totals.minutes, MINUTES_COUNTED),
    "play_servers": lambda totals: totals.servers,
    "party_launch": lambda totals: totals.launches,
    "party_size": lambda totals: totals.party_size,
    "friends_played": lambda totals: totals.friends,
}
"""{kind: function that returns how much of it the totals of a day have}."""


def progress_of(kind: str, goal: int, totals: DayTotals) -> int:
    """How far a quest has come; its goal at most.

    Args:
        totals: what the user has done on the quest's day.
    """
    return min(PROGRESS[kind](totals), goal)
