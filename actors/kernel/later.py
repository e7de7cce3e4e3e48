"""Calls functions once the present step of the event loop is over.

It does what trio's `run_sync_soon` does, but for the loop's own thread alone: without the lock, and without the system
call that would wake a loop which is not asleep.
"""

from collections.abc import Callable

import trio

from actors.kernel.one_shot import OneShot
from actors.kernel.supervisor import attempt


class Later:
    """Calls that wait for the end of the step, and the task that makes them."""

    __slots__ = ("_sleeping", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] = []
        self._sleeping: OneShot[None] | None = None

    def call(self, function: Callable[[], None]) -> None:
        """Have a function called after this step, once for each call of this, in order."""
        self._waiting.append(function)
        if self._sleeping is not None:
            self._sleeping.wake(None)
            self._sleeping = None

    async def run(self) -> None:
        """Make the calls until cancelled, which drops those that wait; what one raises is logged."""
        while True:
            if self._waiting:
                await trio.lowlevel.checkpoint()
            else:
                self._sleeping = OneShot()
                await self._sleeping.wait()
            waiting, self._waiting = self._waiting, []
            for function in waiting:
                attempt("ending a step", "", "", function)
