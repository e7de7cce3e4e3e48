"""Deadlines of units of work, which one timer looks at together.

`asyncio.timeout` sets a timer of the event loop for each unit and takes it back: a quarter of what a short read costs
this thread, for timers of which nearly none ever rings. Here a unit is only noted down, and one timer looks at all of
them, every `LOOK_SECONDS` as long as there are any.

Everything here runs in the asyncio thread.
"""

import asyncio
from time import monotonic
from types import TracebackType

LOOK_SECONDS = 0.05
"""Pause between two looks, and so how much later than its deadline a unit is ended at most."""


class Deadlines:
    """The deadlines of all units that run."""

    __slots__ = ("_is_looking", "_running")

    def __init__(self) -> None:
        self._running: set[Deadline] = set()
        self._is_looking = False

    def within(self, seconds: float) -> "Deadline":
        """A `with` block that raises `TimeoutError` once its time is up, as that of `asyncio.timeout` does.

        Args:
            seconds: how long it may take; up to `LOOK_SECONDS` more are given.
        """
        return Deadline(self, monotonic() + seconds)

    def begin(self, deadline: "Deadline") -> None:
        """Look at a deadline from now on."""
        self._running.add(deadline)
        if not self._is_looking:
            self._look_later()

    def end(self, deadline: "Deadline") -> None:
        """Look at a deadline no more."""
        self._running.discard(deadline)

    def _look_later(self) -> None:
        self._is_looking = True
        asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._is_looking = False
        if not self._running:
            return
        now = monotonic()
        for deadline in [one for one in self._running if one.at <= now]:
            self._running.discard(deadline)
            deadline.expire()
        self._look_later()


class Deadline:
    """A block with a deadline, of the task that enters it.

    Args:
        deadlines: looks at it while the block runs.
        at: when its time is up, by the monotonic clock, seconds.
    """

    __slots__ = ("_cancelling", "_deadlines", "_is_expired", "_task", "at")

    def __init__(self, deadlines: Deadlines, at: float) -> None:
        self.at = at
        self._deadlines = deadlines
        self._is_expired = False
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0

    def expire(self) -> None:
        """Cancel the block."""
        self._is_expired = True
        if self._task is not None:
            self._task.cancel()

    def __enter__(self) -> None:
        task = self._task = asyncio.current_task()
        if task is not None:
            self._cancelling = task.cancelling()
        self._deadlines.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise `TimeoutError` in place of the cancellation by the deadline; anybody else's passes."""
        self._deadlines.end(self)
        if self._is_expired and self._task is not None:
            is_own = self._task.uncancel() <= self._cancelling
            if is_own and kind is asyncio.CancelledError:
                raise TimeoutError from error
