"""Changes of which nobody knows whether they were made: the connection was lost while they were committed.

Memory beside the rows (who hides from whom, who may write to whom) follows what is known to be committed. After such a
change it asks the rows, until they answer; and not before the database has ended the transaction, which it may still
commit long after we have given up to wait.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import structlog
import trio

from actors.errors import Refused
from persistence.errors import OutcomeUnknown

MAX_OPEN = 10_000
"""Subjects that wait at once. One beyond them is logged, and stays stale until a restart."""

Reconcile: TypeAlias = Callable[[], Awaitable[None]]
"""Asks the rows and tells memory; raises PersistenceError when they cannot be asked, Refused when an owner cannot."""

log = structlog.get_logger()


async def _nothing_runs() -> float:
    return 0.0


class Reconciler:
    """Asks the rows about every subject of which memory may be stale, until they answer.

    Args:
        running_seconds: says for how long the oldest transaction has been running that may still change something;
            raises PersistenceError when the database is away.
    """

    def __init__(self, running_seconds: Callable[[], Awaitable[float]] = _nothing_runs) -> None:
        self._running_seconds = running_seconds
        self._open: dict[str, tuple[Reconcile, float]] = {}  # {about: (what asks, when it was added)}

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def reconcile_if_unknown(self, about: str, reconcile: Reconcile) -> Iterator[None]:
        """Around a transaction: where its outcome stays unknown, memory asks.

        Args:
            about: the same for all changes that the same question answers.
        """
        try:
            yield
        except (OutcomeUnknown, trio.Cancelled):
            self.add(about, reconcile)
            raise

    @contextmanager
    def following(self, about: str, tell: Callable[[], None]) -> Iterator[None]:
        """Around a transaction that memory only has to be told of: it reads anew what it needs.

        Args:
            about: the same for all changes that the same telling covers.
            tell: says that something has changed; called once it is committed, and where that stays unknown at once,
                and again when it is known.
        """

        async def reconcile() -> None:
            tell()

        try:
            with self.reconcile_if_unknown(about, reconcile):
                yield
        except (OutcomeUnknown, trio.Cancelled):
            tell()
            raise
        tell()

    def add(self, about: str, reconcile: Reconcile) -> None:
        """Something may have been changed."""
        if about in self._open or len(self._open) < MAX_OPEN:
            self._open[about] = reconcile, trio.current_time()
        else:
            log.warning("too many changes whose outcome is unknown", open=MAX_OPEN)

    async def reconcile(self) -> None:
        """Ask whatever is open.

        Raises:
            PersistenceError: the rows cannot be asked; what was not reconciled stays open.
        """
        if not self._open:
            return
        running_since = trio.current_time()
        running_since -= await self._running_seconds()
        for about, (reconcile, added_at) in tuple(self._open.items()):
            if running_since < added_at:  # it may be the one that is still running
                continue
            try:
                await reconcile()
            except Refused:  # whoever is asked is not to be had now
                continue
            if self._open.get(about) == (reconcile, added_at):
                del self._open[about]
