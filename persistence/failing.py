"""What fails again and again, counted so that it does not fill the log: the first failure of a thing for one reason is
logged, then the second, fourth, eighth and so on.

It stands in the lowest layer because both use it: jobs, and the writer in the database's thread.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

MOST_FAILING = 10_000
"""How many things are remembered; of further ones the one that failed longest ago is forgotten, and told anew."""


@dataclass(slots=True)
class _Failures:
    until: float
    times: dict[str, int] = field(default_factory=dict)  # {reason: how often}


class Failing:
    """The things that have failed of late. A thing is known by some texts: what was done, and what it was done for.

    Args:
        remembered_seconds: how long a thing is remembered after its last failure; at least until it goes well by
            default.
        now: a monotonic clock, in seconds.
    """

    def __init__(self, remembered_seconds: float = inf, *, now: Callable[[], float] = time.monotonic) -> None:
        self._remembered_seconds = remembered_seconds
        self._now = now
        self._things: dict[tuple[str, str], _Failures] = {}  # the one that failed longest ago first

    def count(self, thing: tuple[str, str], reason: str) -> int | None:
        """Count a failure.

        Args:
            thing: what has failed.
            reason: why; failures for different reasons are counted apart.

        Returns: how often the thing has failed for this reason, if this failure is to be told; otherwise None.
        """
        now = self._now()
        failures = self._things.pop(thing, None)
        if failures is None or failures.until <= now:
            failures = _Failures(now)
        failures.until = now + self._remembered_seconds
        self._things[thing] = failures
        if len(self._things) > MOST_FAILING:
            del self._things[next(iter(self._things))]
        times = failures.times[reason] = failures.times.get(reason, 0) + 1
        return times if times & (times - 1) == 0 else None  # a power of two

    def forget(self, thing: tuple[str, str]) -> None:
        """Forget the failures of a thing, because it went well."""
        self._things.pop(thing, None)
