"""How long bytes of clients wait until the reactor reads them.

A process that has its whole core reads late, and all else that it measures begins only once a request is read: it
tells of quick requests while clients wait for seconds. So a descriptor of its own stands among those of the
connections; it is made readable each second, and waits for its turn as they do.
"""

import os
from collections import deque

import trio

from routes.edge.transport.reactor import Reactor

EVERY_SECONDS = 1.0
"""The pause between two measurements."""

KEPT_SECONDS = 30.0
"""How long a measurement counts: twice the pause between two scrapes, as they are usual, so that each shows in one."""


class Lateness:
    """The measurements of one reactor."""

    def __init__(self) -> None:
        self._measured: deque[tuple[float, float]] = deque()  # (when, seconds), the oldest first
        self._fd: int | None = None
        self._rung_at: float | None = None

    @property
    def seconds(self) -> float:
        """The longest wait of the last `KEPT_SECONDS`, the one that goes on among them; 0.0 if nothing was measured."""
        now = trio.current_time()
        self._forget(now)
        going_on = 0.0 if self._rung_at is None else now - self._rung_at
        return max([going_on, *(seconds for _, seconds in self._measured)])

    async def run(self, reactor: Reactor) -> None:
        """Measure until cancelled.

        Args:
            reactor: the reactor, which runs already or soon will.
        """
        self._fd = fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        reactor.add(fd, self)
        try:
            while True:
                if self._rung_at is None:
                    self._rung_at = trio.current_time()
                    os.eventfd_write(fd, 1)
                await trio.sleep(EVERY_SECONDS)
        finally:
            reactor.remove(fd)
            os.close(fd)
            self._fd = self._rung_at = None

    def readable(self) -> None:
        """Note how long this took; called by the reactor."""
        if self._fd is not None and self._rung_at is not None:
            os.eventfd_read(self._fd)
            now = trio.current_time()
            self._measured.append((now, now - self._rung_at))
            self._rung_at = None
            self._forget(now)

    def writable(self) -> None:
        """Nothing is written; called by the reactor when the descriptor has an error."""

    def _forget(self, now: float) -> None:
        while self._measured and self._measured[0][0] < now - KEPT_SECONDS:
            self._measured.popleft()
