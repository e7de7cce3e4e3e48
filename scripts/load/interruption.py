"""Ctrl-C of a program that measures: what was measured so far is reported."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio


class Interruption:
    """What Ctrl-C and SIGTERM do: a measurement that has begun ends with a report; before it the program ends at once.

    Args:
        scope: cancelled where there is nothing to report, or by the second signal.
    """

    def __init__(self, scope: trio.CancelScope) -> None:
        self.enough = trio.Event()
        self.signal = 0
        self._scope = scope
        self._measuring = False

    def measuring(self) -> None:
        """Note that measuring has begun, so that from now on there is something to report."""
        self._measuring = True

    async def heed(self, signals: AsyncIterator[int]) -> None:
        """Take the signals; the second one cancels at once."""
        async for number in signals:
            self.signal = number
            if not self._measuring or self.enough.is_set():
                self._scope.cancel()
            self.enough.set()


@asynccontextmanager
async def interruptible() -> AsyncIterator[Interruption]:
    """Heed signals for the block, which is cancelled by the second one, or before it measures by the first."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            interruption = Interruption(nursery.cancel_scope)
            nursery.start_soon(interruption.heed, signals)
            yield interruption
            nursery.cancel_scope.cancel()
