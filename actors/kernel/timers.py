"""The timers of the whole system, in one heap served by one task.

A timer cannot be cancelled; what it calls has to check whether it still matters. So setting one costs a push, and
moving a deadline that lies further out costs nothing.
"""

from collections.abc import Callable
from heapq import heappop, heappush

import trio

from actors.kernel.clock import Clock
from actors.kernel.one_shot import OneShot
from actors.kernel.supervisor import attempt

# Rings between two checkpoints: as with fan-out, thousands that fall on one moment must not hold up the rest.
RINGS_A_SLICE = 20

# The longest sleep in one go, in seconds: the clock may be slewed meanwhile, and machines may sleep.
LONGEST_SLEEP_SECONDS = 60.0


class Timers:
    """Calls synchronous functions at given times, in order."""

    __slots__ = ("_clock", "_heap", "_set", "_sleeping")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # (due_ms, order of setting, what rings)
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._set = 0
        self._sleeping: OneShot[None] | None = None

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, due_ms: int, ring: Callable[[], None]) -> None:
        """Call `ring` once, at `due_ms` (epoch milliseconds) or as soon after it as possible, also when past."""
        self._set += 1
        heappush(self._heap, (due_ms, self._set, ring))
        if self._heap[0][1] == self._set and self._sleeping is not None:
            self._sleeping.wake(None)

    async def run(self) -> None:
        """Call what is due, in order, until cancelled; a fault in a callback is logged."""
        while True:
            wait_ms = self._heap[0][0] - self._clock.now_ms() if self._heap else None
            if wait_ms is None or wait_ms > 0:
                seconds = LONGEST_SLEEP_SECONDS if wait_ms is None else wait_ms / 1000
                self._sleeping = OneShot()
                with trio.move_on_after(min(seconds, LONGEST_SLEEP_SECONDS)):
                    await self._sleeping.wait()
                self._sleeping = None
            self._ring()
            await trio.lowlevel.checkpoint()

    def _ring(self) -> None:
        now_ms = self._clock.now_ms()
        for _ in range(RINGS_A_SLICE):
            if not self._heap or self._heap[0][0] > now_ms:
                return
            attempt("ringing a timer", "", "", heappop(self._heap)[2])
