"""Limits log lines that come in floods to one a second of each sort, which says how many others it stands for."""

import time
from collections.abc import Callable

EACH_SECONDS = 1.0
"""Least time between two log lines of one sort."""


class Sparing:
    """Decides which lines are written.

    Args:
        now: a monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last: dict[str, tuple[float, int]] = {}

    def suppressed(self, sort: str) -> int | None:
        """How many lines of a sort were left out since the last one that was written; None if this one is to be left
        out as well.

        Args:
            sort: the name of the sort; there must be few, since each is remembered.
        """
        now = self._now()
        written, left_out = self._last.get(sort, (now - EACH_SECONDS, 0))
        if now - written < EACH_SECONDS:
            self._last[sort] = (written, left_out + 1)
            return None
        self._last[sort] = (now, 0)
        return left_out
