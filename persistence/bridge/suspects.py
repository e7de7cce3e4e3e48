"""Which actors had a turn refused in the last minute, so that the writer keeps their turns in batches of their own; and
how often, so that one whose turns are refused at each attempt does not fill the log."""

import time
from collections.abc import Callable

import structlog

from persistence.bridge.faults import describe
from persistence.errors import LimitReached, ReferenceGone, RowsRejected
from persistence.failing import Failing
from persistence.journal.turn import Turn

SUSPECT_SECONDS = 60.0
"""How long after a refusal an actor's turns are kept apart from those of other actors."""

MAX_SUSPECTS = 4_096
"""Most actors that are remembered; beyond it the one refused longest ago is forgotten."""

COUNTED_SECONDS = 3600.0
"""How long after a refusal the next one of the same actor is told as one of many."""

COINCIDENCES = 2
"""Turns of one actor that may refer to what was deleted while they were on their way, without anything being wrong."""

_log = structlog.get_logger()


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


class Refusals:
    """Logs what is refused: of one actor, for one reason, the first refusal, the second, fourth, eighth and so on.

    Turns that are written in between do not count: one command of an actor may be refused each time, and all others
    not. So an actor's refusals are forgotten only `COUNTED_SECONDS` after the last one.

    Args:
        now: a monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._failing = Failing(COUNTED_SECONDS, now=now)

    def tell(self, turn: Turn, failure: RowsRejected) -> None:
        """Count a refusal, and log it if it is time to; a reached limit is no fault, and is neither.

        That somebody was erased meanwhile is none either, unless it happens to one actor again and again: then it
        refers to what has long been gone.

        Args:
            turn: the turn that was refused.
            failure: what its actor is answered.
        """
        if isinstance(failure, LimitReached):
            return
        cause = failure.cause
        reason = f"{type(cause).__name__} {getattr(cause, 'constraint_name', '')}"
        times = self._failing.count((turn.kind, turn.id), reason)
        if times is None:
            return
        said = {"kind": turn.kind, "id": turn.id, "times": times, **describe(cause)}
        if isinstance(failure, ReferenceGone) and times <= COINCIDENCES:
            _log.info("what a turn refers to was deleted meanwhile", **said)
        else:
            _log.warning("a turn was rejected", **said)
