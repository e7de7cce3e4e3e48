"""Actors whose turns were refused not long ago."""

import time
from collections.abc import Callable

from persistence.journal.turn import Turn

SUSPECT_SECONDS = 60.0
"""So long after a refusal an actor's turns stay apart from those of others."""

MAX_SUSPECTS = 4_096
"""Actors that are remembered for that; beyond it the longest-known are forgotten."""


class Suspects:
    """See the module.

    Args:
        now: seconds that only ever rise.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._until: dict[tuple[str, str], float] = {}  # {(kind, id): seconds}, the first to end first

    def __len__(self) -> int:
        return len(self._until)

    def __contains__(self, turn: Turn) -> bool:
        return bool(self._until) and (turn.kind, turn.id) in self._until

    def add(self, turn: Turn) -> None:
        """A turn of this actor was refused."""
        actor = turn.kind, turn.id
        self._until.pop(actor, None)
        self._until[actor] = self._now() + SUSPECT_SECONDS
        if len(self._until) > MAX_SUSPECTS:
            del self._until[next(iter(self._until))]

    def forgive(self) -> None:
        """Forget those whose time is over."""
        while self._until:
            actor, until = next(iter(self._until.items()))
            if until > self._now():
                break
            del self._until[actor]
