"""How long a faulty actor pauses, and when it is parked.

    a fault                 pause 0.1 s, doubled with each one that follows within ten seconds
    five in ten seconds     parked: refuses everything for 30 s
    parked again            twice as long as the last time, at most 10 minutes
    10 minutes without one  all is forgotten

Pure: the time is passed in.
"""

from collections import deque

FIRST_PAUSE_MS = 100
INTENSITY = 5
WINDOW_MS = 10_000
FIRST_PARK_MS = 30_000
LONGEST_PARK_MS = 600_000
FORGIVEN_AFTER_MS = 600_000


class RestartPolicy:
    """The recent faults of one actor.

    Attributes:
        parked_until_ms: the end of its last parking, epoch milliseconds; 0 before the first.
    """

    __slots__ = ("_next_park_ms", "_recent", "parked_until_ms")

    def __init__(self) -> None:
        self._recent: deque[int] = deque(maxlen=INTENSITY)
        self._next_park_ms = FIRST_PARK_MS
        self.parked_until_ms = 0

    def failed(self, now_ms: int) -> int:
        """Count a fault; returns for how many milliseconds the actor pauses."""
        if self.forgiven(now_ms):
            self._recent.clear()
            self._next_park_ms = FIRST_PARK_MS
        self._recent.append(now_ms)
        within = sum(1 for at_ms in self._recent if now_ms - at_ms < WINDOW_MS)
        if within < INTENSITY:
            return FIRST_PAUSE_MS << (within - 1)
        pause_ms = self._next_park_ms
        self._next_park_ms = min(LONGEST_PARK_MS, 2 * pause_ms)
        self._recent.clear()
        self.parked_until_ms = now_ms + pause_ms
        return pause_ms

    def forgiven(self, now_ms: int) -> bool:
        """True when the last fault or parking is 10 minutes ago or more, so that it no longer counts."""
        last_ms = max(self.parked_until_ms, self._recent[-1] if self._recent else 0)
        return now_ms - last_ms >= FORGIVEN_AFTER_MS
