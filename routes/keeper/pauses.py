"""How long to wait before a process that has ended is started again."""

import trio

PAUSE_SECONDS = (0.1, 10.0)
"""The first and the longest pause, in seconds."""

WELL_SECONDS = 60.0
"""After a run of this length the next pause is the first one again."""


class Pauses:
    """The pauses between the starts of one process: each twice as long as the one before."""

    def __init__(self) -> None:
        self._next_seconds = PAUSE_SECONDS[0]
        self._began_at = trio.current_time()

    def began(self) -> None:
        """Note that the process runs from now on."""
        self._began_at = trio.current_time()

    def next(self) -> float:
        """The pause before the next start, in seconds; to be called when the process has ended."""
        if trio.current_time() - self._began_at >= WELL_SECONDS:
            self._next_seconds = PAUSE_SECONDS[0]
        pause_seconds = self._next_seconds
        self._next_seconds = min(2 * pause_seconds, PAUSE_SECONDS[1])
        self._began_at = trio.current_time()
        return pause_seconds
