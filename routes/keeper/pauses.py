"""How long to wait before something that has ended is started again."""

import trio

PAUSE_SECONDS = (0.1, 10.0)
"""The first and the longest."""

WELL_SECONDS = 60.0
"""What ran for so long begins with the first pause again."""


class Pauses:
    """The pauses of one thing that is started again and again: each twice as long as the one before."""

    def __init__(self) -> None:
        self._next_seconds = PAUSE_SECONDS[0]
        self._began_at = trio.current_time()

    def began(self) -> None:
        """It runs from now on."""
        self._began_at = trio.current_time()

    def next(self) -> float:
        """It has ended: the pause before the next start, in seconds."""
        if trio.current_time() - self._began_at >= WELL_SECONDS:
            self._next_seconds = PAUSE_SECONDS[0]
        pause_seconds = self._next_seconds
        self._next_seconds = min(2 * pause_seconds, PAUSE_SECONDS[1])
        self._began_at = trio.current_time()
        return pause_seconds
