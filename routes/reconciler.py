"""Queue of subjects whose last change has an unknown outcome, because the connection was lost during its COMMIT.

Memory derived from rows (who hides from whom, who may write to whom) follows known commits. After an unknown outcome it
is reloaded from the rows, which is retried until it succeeds. It begins only when the database has ended the
transaction, which it may still commit long after the service has stopped waiting for it.
"""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import TypeAlias

import structlog
import trio

from actors.errors import Refused
from actors.kernel.supervisor import Fault

MAX_OPEN = 10_000
"""Most subjects in the queue. Beyond it a subject is not queued but logged, and stays stale until a restart."""

MAX_CHANGES = 100
"""Most changes of one subject whose events are kept, the newest; events of more changes would repeat each other."""

Reconcile: TypeAlias = Callable[[Hashable, Sequence[object]], Awaitable[None]]
"""Reloads a subject from rows and updates memory; is given the events that its changes have if they were committed.

Raises PersistenceError if the rows cannot be read, Refused if an actor cannot be asked, Fault if it fails.
"""

log = structlog.get_logger()


async def _nothing_runs() -> float:
    return 0.0


class Reconciler:
    """Holds the subjects whose memory may be stale until they are reconciled.

    Args:
        running_seconds: returns the age in seconds of the oldest transaction that may still change rows, 0 for none;
            raises PersistenceError if the database is unavailable.
    """

    def __init__(self, running_seconds: Callable[[], Awaitable[float]] = _nothing_runs) -> None:
        self._running_seconds = running_seconds
        # {(its type, subject): (when it was last added, the events of each of its changes, if committed)}; named tuples
        # of two types are equal where their fields are
        self._open: dict[tuple[type, Hashable], tuple[float, tuple[Sequence[object], ...]]] = {}

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
        _, known = self._open.get(key, (0.0, ()))
        if known or len(self._open) < MAX_OPEN:
            self._open[key] = trio.current_time(), (*known, events)[-MAX_CHANGES:]
        else:
            log.warning("too many changes whose outcome is unknown", open=MAX_OPEN)

    async def reconcile(self, reconcile: Reconcile) -> None:
        """Reconcile the queued subjects whose transaction has ended; one whose actor refuses or fails stays queued, and
        the others have their turn.

        Raises:
            Exception: what reconciling one of them has raised, a PersistenceError where rows cannot be read. It stays
                queued behind all others, as do those that are not reconciled yet: the next run begins with these, so
                that one that fails each time holds up nobody.
        """
        if not self._open:
            return
        running_since = trio.current_time()
        running_since -= await self._running_seconds()
        for key, added in tuple(self._open.items()):
            (_, about), (added_at, changes) = key, added
            if running_since < added_at:  # its transaction may still be running
                continue
            try:
                await reconcile(about, [event for events in changes for event in events])
            except (Refused, Fault):  # the actor cannot answer now, or never; retried by the next run
                continue
            except Exception:
                self._open[key] = self._open.pop(key)
                raise
            if self._open.get(key) is added:
                del self._open[key]
