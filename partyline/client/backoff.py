"""How long to wait before the next try: doubling, with jitter, so that many clients do not come back at once."""

from collections.abc import Callable
from random import random

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 15.0


class Backoff:
    """Pauses of half a second to fifteen.

    Args:
        luck: from 0 to 1.
    """

    def __init__(self, luck: Callable[[], float] = random) -> None:
        self._luck = luck
        self._failures = 0

    def next(self, least_seconds: float = 0.0) -> float:
        """The next pause, seconds: at least half of a bound that doubles.

        Args:
            least_seconds: never less, as Retry-After asks.
        """
        bound = min(LONGEST_SECONDS, FIRST_SECONDS * float(2**self._failures))
        self._failures = min(self._failures + 1, 16)
        return max(least_seconds, bound * (0.5 + self._luck() / 2))

    def reset(self) -> None:
        """Begin anew: something has worked."""
        self._failures = 0
