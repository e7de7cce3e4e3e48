"""Says whether failures are to be expected: those while a fault heals are counted apart."""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

CLEARING_SECONDS = 10.0
"""How long failures are to be expected after a fault has healed: sockets come back, and requests that waited are
answered late."""


class Weather:
    """The weather is rough from the beginning of a fault until a moment after it has healed."""

    def __init__(self) -> None:
        self._storms = 0
        self._raging = 0
        self._rough_until = -1.0

    @contextmanager
    def storm(self, clearing_seconds: float = CLEARING_SECONDS) -> Iterator[None]:
        """Make it rough for the block, which is a fault and its healing, and for a while after.

        Args:
            clearing_seconds: how long it stays rough afterwards.
        """
        self._storms += 1
        self._raging += 1
        try:
            yield
        finally:
            self._raging -= 1
            self._rough_until = max(self._rough_until, trio.current_time() + clearing_seconds)

    @property
    def is_rough(self) -> bool:
        """Whether there is a fault, or one has just healed."""
        return self._raging > 0 or trio.current_time() < self._rough_until

    def mark(self) -> int:
        """Mark this moment, for `was_rough`."""
        return -1 if self.is_rough else self._storms

    def was_rough(self, mark: int) -> bool:
        """Whether it was rough at any moment since the mark."""
        return mark < 0 or mark != self._storms or self.is_rough
