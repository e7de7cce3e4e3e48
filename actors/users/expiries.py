"""When the rights of users end, so that whoever is still connected then is looked at again."""

import heapq
from collections.abc import Collection


class Expiries:
    """The next end of each user's rights: one moment a user, however often they are resolved.

    Args:
        max_users: most users whose next end is kept, at least 1.
    """

    def __init__(self, *, max_users: int) -> None:
        self._max_users = max_users
        self._ends: dict[str, int] = {}  # {user id: at_ms}
        # Heap of (at_ms, user id). One whose moment is not the user's in `_ends` no longer counts. At most twice as
        # many as `_ends` has.
        self._queue: list[tuple[int, str]] = []
        self._passed: dict[str, None] = {}  # users whose end has come, who are still to be told of

    def __len__(self) -> int:
        """How many entries are queued, with those that no longer count."""
        return len(self._queue)

    def note(self, user_id: str, at_ms: int | None, now_ms: int) -> None:
        """Note when a user's rights end next, in place of what was noted; called whenever they were resolved.

        An end that has moved to later is noted as well: at the former one the rights would be found unchanged, so that
        nobody would resolve them and note the later one. An end that has come already is still told of.

        Args:
            user_id: the user; one who is new is passed over while `max_users` are noted.
            at_ms: epoch milliseconds at which the next of their rights ends or begins, after `now_ms`; None for never.
            now_ms: epoch milliseconds.
        """
        known_ms = self._ends.get(user_id)
        if at_ms == known_ms:
            return
        if known_ms is not None and known_ms <= now_ms:
            self._passed[user_id] = None
        if at_ms is None:
            del self._ends[user_id]
        elif known_ms is not None or len(self._ends) < self._max_users:
            self._ends[user_id] = at_ms
            heapq.heappush(self._queue, (at_ms, user_id))
        self._tidy()

    def due(self, now_ms: int) -> Collection[str]:
        """The ids of users of whom some right has ended or begun since the last call. The next end is noted when their
        rights are resolved again.
        """
        while self._queue and self._queue[0][0] <= now_ms:
            at_ms, user_id = heapq.heappop(self._queue)
            if self._ends.get(user_id) == at_ms:
                del self._ends[user_id]
                self._passed[user_id] = None
        self._tidy()
        due, self._passed = self._passed, {}
        return due

    def _tidy(self) -> None:
        if len(self._queue) > 2 * len(self._ends):
            self._queue = [(at_ms, user_id) for user_id, at_ms in self._ends.items()]
            heapq.heapify(self._queue)
