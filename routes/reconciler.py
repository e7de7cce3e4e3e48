"""Queue of subjects whose last change has an unknown outcome, because the connection was lost during its COMMIT.

Memory derived from rows (who hides from whom, who may write to whom) follows known commits. After an unknown outcome it
is reloaded from the rows, which is retried until it succeeds. It begins only when the database has ended the
transaction, which it may still commit long after the service has stopped waiting for it.

A subject whose reconciliation fails is put off alone, for longer each time. If the database cannot be asked, the round
ends, and the next one begins with the other subjects: a subject whose own rows cannot be read in time looks the same.
"""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import NamedTuple, TypeAlias

import structlog
import trio

from persistence.errors import PASSING
from persistence.failing import Failing
from routes.jobs import OneOfMany

MAX_OPEN = 10_000
"""Most subjects in the queue. Beyond it a subject is not queued but logged, and stays stale until a restart."""

MAX_CHANGES = 100
"""Most changes of one subject whose events are kept, the newest; events of more changes would repeat each other."""

LONGEST_PAUSE_SECONDS = 60.0
"""Longest pause of a subject that fails again and again; it doubles, and the first failure has none."""

Reconcile: TypeAlias = Callable[[Hashable, Sequence[object]], Awaitable[None]]
"""Reloads a subject from rows and updates memory; is given the events that its changes have if they were committed.

Raises PersistenceError if the rows cannot be read, Refused if an actor refuses, Fault if an actor fails, and anything
else because of a bug.
"""

Key: TypeAlias = tuple[type, Hashable]
"""A subject with its type: named tuples of two types are equal where their fields are."""

log = structlog.get_logger()


async def _nothing_runs() -> float:
    return 0.0


class _Open(NamedTuple):
    """What is known of a subject that is queued.

    Args:
        added_at: when the subject was last added, on trio's clock.
        changes: the events that each of its changes has if it was committed.
        failures: how often reconciling it has failed since it was added.
        due_at: it is not reconciled before this time, on trio's clock.
    """

    added_at: float
    changes: tuple[Sequence[object], ...]
    failures: int = 0
    due_at: float = 0.0

    def put_off(self) -> "_Open":
        """The same subject after one more failure, put off for longer."""
        pause_seconds = min(2.0 ** min(self.failures, 16), LONGEST_PAUSE_SECONDS) if self.failures else 0.0
        return self._replace(failures=self.failures + 1, due_at=trio.current_time() + pause_seconds)


class Reconciler:
    """Holds the subjects whose memory may be stale until they are reconciled.

    Args:
        running_seconds: returns the age in seconds of the oldest transaction that may still change rows, 0 for none;
            raises PersistenceError if the database is unavailable.
    """

    def __init__(self, running_seconds: Callable[[], Awaitable[float]] = _nothing_runs) -> None:
        self._running_seconds = running_seconds
        self._open: dict[Key, _Open] = {}
        self._failing = Failing()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, about: Hashable, events: Sequence[object] = ()) -> None:
        """Queue a subject that may have been changed.

        Args:
            about: the subject; of the same type and equal for all changes that the same read covers.
            events: the events of the change if it was committed; read only when the subject is reconciled, so the
                caller may still append to the list until then.
        """
        key = type(about), about
        known = self._open.get(key)
        if known is not None or len(self._open) < MAX_OPEN:
            changes = () if known is None else known.changes
            self._open[key] = _Open(trio.current_time(), (*changes, events)[-MAX_CHANGES:])
        else:
            log.warning("too many changes whose outcome is unknown", open=MAX_OPEN)

    async def reconcile(self, reconcile: Reconcile) -> None:
        """Reconcile the queued subjects whose transaction has ended; one that refuses or fails stays queued, and the
        others have their turn.

        Raises:
            PersistenceError: the database cannot be asked; subjects not reconciled yet stay queued.
        """
        if not self._open:
            return
        running_since = trio.current_time()
        running_since -= await self._running_seconds()
        for key, queued in tuple(self._open.items()):
            if running_since < queued.added_at:  # its transaction may still be running
                continue
            if trio.current_time() < queued.due_at:
                continue
            try:
                with OneOfMany("reconciling", key[0].__name__, self._failing) as asking:
                    await reconcile(key[1], [event for events in queued.changes for event in events])
            except PASSING:
                self._open[key] = self._open.pop(key)  # the others have their turn first next time
                raise
            if self._open.get(key) is not queued:
                continue  # changed once more meanwhile
            if asking.failure is None:
                del self._open[key]
            else:
                self._open[key] = queued.put_off()
