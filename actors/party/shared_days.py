"""Telling the flame streaks who shares a party: when somebody joins, and on each day that they stay (contract §5)."""

from collections.abc import Callable, Sequence

from actors.friends.public import DAY_MS
from actors.party.memberships import Memberships

Together = Callable[[Sequence[str], int], None]
"""Told of users who were together at a time."""


class SharedDays:
    """See the module.

    Args:
        memberships: who is in which party.
        together: the streaks.
        now_ms: epoch milliseconds.
    """

    def __init__(self, memberships: Memberships, together: Together, now_ms: Callable[[], int]) -> None:
        self._memberships = memberships
        self._together = together
        self._now_ms = now_ms
        self._told_day = -1

    def moved(self, _user_id: str, party_id: str | None) -> None:
        """Somebody has joined a party, or left theirs."""
        members = () if party_id is None else self._memberships.members(party_id)
        if len(members) > 1:
            self._together(tuple(members), self._now_ms())

    def look(self) -> None:
        """Tell of all who share a party, once on each UTC day."""
        now_ms = self._now_ms()
        if now_ms // DAY_MS != self._told_day:
            self._told_day = now_ms // DAY_MS
            for members in self._memberships.shared():
                self._together(tuple(members), now_ms)
