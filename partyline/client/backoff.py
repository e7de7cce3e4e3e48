"""How long to wait before the next try: doubling, with jitter, so that many clients do not come back at once."""

from collections.abc import Callable
from random import random

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 15.0

STEADY_SECONDS = 10.0
"""How long a connection has to stand before the next try begins with the shortest pause again."""

SPREAD = 0.25
"""How much longer than the service asks a pause may be, as a part of it: those who were refused together come back
apart."""


class Backoff:
    """Pauses between tries: at most half a second at first, then longer each time, up to 15 s.

    Args:
        luck: returns a random number from 0 to 1.
    """

    def __init__(self, luck: Callable[[], float] = random) -> None:
        self._luck = luck
        self._failures = 0

    def next(self, least_seconds: float = 0.0) -> float:
        """The next pause in seconds: half to all of a bound that doubles with each call.

        Args:
            least_seconds: the pause is never shorter, as Retry-After asks, and up to a quarter of it longer.
        """
        bound = min(LONGEST_SECONDS, FIRST_SECONDS * float(2**self._failures))
        self._failures = min(self._failures + 1, 16)
        luck = self._luck()
        return max(least_seconds * (1 + SPREAD * luck), bound * (0.5 + luck / 2))

    def reset(self) -> None:
        """Begin anew with the shortest pause, after a try that has succeeded."""
        self._failures = 0

    def weigh(self, lasted_seconds: float) -> None:
        """Begin anew with the shortest pause if the connection that has ended had lasted `STEADY_SECONDS`.

        Otherwise a service that accepts connections and drops them would be asked twice a second.

        Args:
            lasted_seconds: how long the connection was open.
        """
        if lasted_seconds >= STEADY_SECONDS:
            self.reset()
