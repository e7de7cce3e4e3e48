"""Whether the service may be expected to answer: what fails while a fault heals is counted apart."""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

CLEARING_SECONDS = 10.0
"""After a fault has healed: sockets come back, and requests that waited are answered late."""


class Weather:
    """Rough from the beginning of a fault until a moment after it has healed."""

    def __init__(self) -> None:
        self._storms = 0
        self._raging = 0
        self._rough_until = -1.0

    @contextmanager
    def storm(self, clearing_seconds: float = CLEARING_SECONDS) -> Iterator[None]:
        """Around a fault and its healing.

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
        """Whether a fault is there, or has just healed."""
        return self._raging > 0 or trio.current_time() < self._rough_until

    def mark(self) -> int:
        """What `was_rough` compares with."""
        return -1 if self.is_rough else self._storms

    def was_rough(self, mark: int) -> bool:
        """Whether it was rough at any moment since the mark."""
        return mark < 0 or mark != self._storms or self.is_rough
