"""Who shares a party on which day, for flame streaks (contract §5).

Told when a user joins, of each party again on every new day, and of members who become friends: what was told of them
before counts for nobody.
"""

from collections.abc import Callable, Sequence

from actors.party.memberships import Memberships
from actors.time import DAY_MS

TOLD_AT_ONCE = 50
"""Most parties that one look reports: after midnight all of them are due."""

Together = Callable[[Sequence[str], int], None]
"""Called with the ids of users who share a party, and the time in epoch milliseconds."""


class DaysTogether:
    """Reports who shares a party on each day (see the module).

    Args:
        memberships: knows who is in which party.
        together: called with users who share a party.
        now_ms: returns epoch milliseconds.
    """

    def __init__(self, memberships: Memberships, together: Together, now_ms: Callable[[], int]) -> None:
        self._memberships = memberships
        self._together = together
        self._now_ms = now_ms
        self._day = -1
        self._told: set[str] = set()  # the parties that were told of on this day
        memberships.on_change(self._moved)

    def look(self) -> None:
        """Report the members of each party once for each day, to streaks; a job calls it every second."""
        now_ms = self._now_ms()
        if now_ms // DAY_MS != self._day:
            self._day, self._told = now_ms // DAY_MS, set()
        fresh = [party_id for party_id in self._memberships.parties() if party_id not in self._told]
        for party_id in fresh[:TOLD_AT_ONCE]:
            self._told.add(party_id)
            self._together(tuple(self._memberships.members(party_id)), now_ms)

    def befriended(self, one_id: str, other_id: str) -> None:
        """Report two users who have become friends, if they share a party."""
        party_id = self._memberships.of(one_id)
        if party_id is not None and party_id == self._memberships.of(other_id):
            self._together((one_id, other_id), self._now_ms())

    def _moved(self, user_id: str, party_id: str | None) -> None:
        if party_id is None:
            return
        now_ms = self._now_ms()
        for other_id in self._memberships.members(party_id):
            if other_id != user_id:
                self._together((user_id, other_id), now_ms)
