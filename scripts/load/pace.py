"""When the next request is due: so many a second whatever happens (open loop), or when one has ended (closed loop)."""

import time
from collections.abc import Callable

import trio

from scripts.load.plan import Plan

STEP_SECONDS = 0.005
MOST_IN_FLIGHT = 20_000
_AT_ONCE = 64

Begin = Callable[[int, int], None]
"""Starts a request, given its number, and when it was due in nanoseconds."""


class Pace:
    """The beat of one worker.

    Args:
        plan: has the requests a second of all workers (`rate`), or how many are in flight at once (`window`).
    """

    def __init__(self, plan: Plan) -> None:
        self._rate = plan.rate / plan.processes
        self._window = -(-plan.window // plan.processes)
        self._running = True
        self._begun = self._done = self._unsent = 0

    @property
    def running(self) -> bool:
        """Whether requests are still begun."""
        return self._running

    async def drive(self, begin: Begin) -> None:
        """Begin requests until stopped."""
        if not self._rate:
            for _ in range(self._window):
                self._begin(begin, time.monotonic_ns())
            return
        began_ns, due = time.monotonic_ns(), 0
        while self._running:
            now_ns = time.monotonic_ns()
            while self._running and (due_ns := began_ns + int(due * 1e9 / self._rate)) <= now_ns:
                if self._begun - self._done < MOST_IN_FLIGHT:
                    self._begin(begin, due_ns)
                else:
                    self._unsent += 1
                due += 1
                if due % _AT_ONCE == 0:
                    await trio.lowlevel.checkpoint()  # answers must be read even when requests are late
            await trio.sleep(STEP_SECONDS)

    def done(self, begin: Begin) -> None:
        """Note that a request has ended, with success or not; in the closed loop the next one begins."""
        self._done += 1
        if self._running and not self._rate:
            self._begin(begin, time.monotonic_ns())

    def stop(self) -> None:
        """Begin no more requests."""
        self._running = False

    def take_unsent(self) -> int:
        """How many requests since the last call could not begin, because too many were in flight."""
        unsent, self._unsent = self._unsent, 0
        return unsent

    def _begin(self, begin: Begin, due_ns: int) -> None:
        self._begun += 1
        begin(self._begun, due_ns)
