"""On which days two were in touch (contract §5): gathered in memory, and written once for two users, side and day.

Soft: what a crash takes is at most a second of the first contacts of a day, and the next message of the day makes up
for it.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

from actors.time import DAY_MS
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.friends.streaks import Contact, touch

REMEMBERED_MAX = 100_000
"""Most contacts that are remembered as written, 0.2 KB each; one that is forgotten is written again."""

WAITING_MAX = 20_000
"""Most contacts that wait for the database; further ones are dropped."""

Key = tuple[str, str]
"""The ids of the user who was in touch, and of the other with whom."""


class Streaks:
    """Gathers contacts between users, and writes the days on which there were any (see the module).

    Args:
        database: the database in which these days are kept.
        changed: called with the ids of two users whose streak may have changed.
    """

    def __init__(self, database: Database, changed: Callable[[str, str], None]) -> None:
        self._database = database
        self._changed = changed
        self._written: dict[Key, int] = {}  # {(who, with whom): the newest day known}, the oldest first
        self._waiting: dict[tuple[int, Key], int] = {}  # {(day, (who, with whom)): at_ms}
        self._writing = 0  # those that are being written, and wait again if they are not

    def __len__(self) -> int:
        """How many contacts are not yet in the database."""
        return len(self._waiting) + self._writing

    def contact(self, user_id: str, other_id: str, at_ms: int) -> None:
        """Note that a user has written to another alone, or shares a party with them; `at_ms` is epoch milliseconds."""
        day, key = at_ms // DAY_MS, (user_id, other_id)
        if self._written.get(key, -1) >= day or len(self) >= WAITING_MAX:
            return
        self._written.pop(key, None)
        if len(self._written) >= REMEMBERED_MAX:
            del self._written[next(iter(self._written))]
        self._written[key] = day
        self._waiting[day, key] = at_ms

    def together(self, user_ids: Sequence[str], at_ms: int) -> None:
        """Note that these users share a party at `at_ms`, epoch milliseconds."""
        for one_id, other_id in combinations(user_ids, 2):
            self.contact(one_id, other_id, at_ms)
            self.contact(other_id, one_id, at_ms)

    def forget(self, one_id: str, other_id: str) -> None:
        """Forget the contacts of two users who have just become friends, so that their next one is written."""
        self._written.pop((one_id, other_id), None)
        self._written.pop((other_id, one_id), None)

    async def flush(self) -> None:
        """Write the contacts gathered since the last call; a job calls it every second.

        Raises:
            DatabaseUnavailable: the database cannot be asked; the contacts wait for the next call.
        """
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        self._writing = len(waiting)
        days = _by_day(waiting)

        async def write(conn: Connection) -> list[tuple[str, str]]:
            return [pair for day in sorted(days) for pair in await touch(conn, day, days[day])]

        try:
            pairs = await self._database.transact(write)
        except BaseException:
            self._waiting = waiting | self._waiting
            raise
        finally:
            self._writing = 0
        for one_id, other_id in pairs:
            self._changed(one_id, other_id)


def _by_day(waiting: dict[tuple[int, Key], int]) -> dict[int, list[Contact]]:
    """{day: who was in touch on it}, both sides of two users in one."""
    days: dict[int, dict[Key, Contact]] = {}
    for (day, (user_id, other_id)), at_ms in waiting.items():
        low_id, high_id = sorted((user_id, other_id))
        pairs = days.setdefault(day, {})
        known = pairs.get((low_id, high_id))
        low, high = user_id == low_id, user_id == high_id
        if known is not None:
            low, high = low or known.low, high or known.high
        newest_ms = at_ms if known is None else max(at_ms, known.at_ms)
        pairs[low_id, high_id] = Contact(low_id, high_id, low, high, newest_ms)
    return {day: list(pairs.values()) for day, pairs in days.items()}
