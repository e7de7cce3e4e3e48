"""Changes of which nobody knows whether they were made: the connection was lost while they were committed.

Memory beside the rows (who hides from whom, who may write to whom) follows what is known to be committed. After such a
change it asks the rows, until they answer; and not before the database has ended the transaction, which it may still
commit long after we have given up to wait.
"""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import TypeAlias

import structlog
import trio

from actors.errors import Refused

MAX_OPEN = 10_000
"""Subjects that wait at once. One beyond them is logged, and stays stale until a restart."""

MAX_CHANGES = 100
"""Changes of one subject whose events are kept; those of many say the same over and over."""

Reconcile: TypeAlias = Callable[[Hashable, Sequence[object]], Awaitable[None]]
"""Asks the rows about a subject, given the events of its change if that was made, and tells memory.

Raises PersistenceError when the rows cannot be asked, Refused when an owner cannot.
"""

log = structlog.get_logger()


async def _nothing_runs() -> float:
    return 0.0


class Reconciler:
    """Keeps every subject of which memory may be stale, until its rows have been asked.

    Args:
        running_seconds: says for how long the oldest transaction has been running that may still change something;
            raises PersistenceError when the database is away.
    """

    def __init__(self, running_seconds: Callable[[], Awaitable[float]] = _nothing_runs) -> None:
        self._running_seconds = running_seconds
        # {subject: (when it was added, what has happened to it if each of its changes was made)}
        self._open: dict[Hashable, tuple[float, tuple[Sequence[object], ...]]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, about: Hashable, events: Sequence[object] = ()) -> None:
        """Something may have been changed.

        Args:
            about: the same for all changes that the same question answers.
            events: what has happened, if it was; read when the subject is reconciled, and added to until then.
        """
        _, known = self._open.get(about, (0.0, ()))
        if known or len(self._open) < MAX_OPEN:
            self._open[about] = trio.current_time(), (*known, events)[-MAX_CHANGES:]
        else:
            log.warning("too many changes whose outcome is unknown", open=MAX_OPEN)

    async def reconcile(self, reconcile: Reconcile) -> None:
        """Ask about whatever is open.

        Raises:
            PersistenceError: the rows cannot be asked; what was not reconciled stays open.
        """
        if not self._open:
            return
        running_since = trio.current_time()
        running_since -= await self._running_seconds()
        for about, added in tuple(self._open.items()):
            added_at, changes = added
            if running_since < added_at:  # it may be the one that is still running
                continue
            try:
                await reconcile(about, [event for events in changes for event in events])
            except Refused:  # whoever is asked is not to be had now
                continue
            if self._open.get(about) is added:
                del self._open[about]
