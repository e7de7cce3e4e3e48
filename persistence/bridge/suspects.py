"""Which actors had a turn refused in the last minute, so that the writer keeps their turns in batches of their own."""

import time
from collections.abc import Callable

from persistence.journal.turn import Turn

SUSPECT_SECONDS = 60.0
"""How long after a refusal an actor's turns are kept apart from those of other actors."""

MAX_SUSPECTS = 4_096
"""Most actors that are remembered; beyond it the one refused longest ago is forgotten."""


class Suspects:
    """The actors refused in the last `SUSPECT_SECONDS`; `turn in suspects` asks for a turn's actor.

    Args:
        now: a monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._until: dict[tuple[str, str], float] = {}  # {(kind, id): when forgotten}, in that order

    def __len__(self) -> int:
        return len(self._until)

    def __contains__(self, turn: Turn) -> bool:
        return bool(self._until) and (turn.kind, turn.id) in self._until

    def add(self, turn: Turn) -> None:
        """Remember the turn's actor, from now on, because this turn was refused."""
        actor = turn.kind, turn.id
        self._until.pop(actor, None)
        self._until[actor] = self._now() + SUSPECT_SECONDS
        if len(self._until) > MAX_SUSPECTS:
            del self._until[next(iter(self._until))]

    def forgive(self) -> None:
        """Forget the actors whose last refusal is `SUSPECT_SECONDS` ago."""
        while self._until:
            actor, until = next(iter(self._until.items()))
            if until > self._now():
                break
            del self._until[actor]
