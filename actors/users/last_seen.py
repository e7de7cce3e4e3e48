"""When users were last active: noted at every request and when they go offline, written to their rows in batches."""

from collections.abc import Callable
from functools import partial
from itertools import islice

from actors.kernel.store import Store
from persistence.users.users import save_last_seen

SEEN_AT_ONCE = 2_000
"""Most users whose activity is written in one transaction."""


class LastSeen:
    """The activity that is not written yet.

    Args:
        store: the database that it is written to.
        written: called for each user whose row was written, with their id and the epoch milliseconds that it has.
    """

    def __init__(self, store: Store, written: Callable[[str, int], None]) -> None:
        self._store = store
        self._written = written
        self._seen: dict[str, int] = {}

    def note(self, user_id: str, now_ms: int) -> None:
        """Note that a user was active at `now_ms`, epoch milliseconds."""
        self._seen[user_id] = now_ms

    def note_until(self, user_id: str, at_ms: int) -> None:
        """Note that a user was here until `at_ms`, epoch milliseconds, unless they were active since."""
        self._seen[user_id] = max(self.unwritten_ms(user_id), at_ms)

    def unwritten_ms(self, user_id: str) -> int:
        """Epoch milliseconds of a user's newest activity that is not written yet; 0 when there is none."""
        return self._seen.get(user_id, 0)

    async def flush(self) -> None:
        """Write the activity since the last time, in batches; to be called every minute. On an error or cancellation
        the rest waits for the next time.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        for _ in range(len(self._seen) // SEEN_AT_ONCE + 1):
            some = dict(islice(self._seen.items(), SEEN_AT_ONCE))
            if not some:
                return
            await self._store.transact(partial(save_last_seen, seen=some))
            for user_id, at_ms in some.items():
                self._written(user_id, at_ms)
                if self._seen.get(user_id) == at_ms:  # they were not active meanwhile
                    del self._seen[user_id]
