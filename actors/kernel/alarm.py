"""The deadline of one activation: that of its state, the one that its head row names, and the timer for it."""

from functools import partial
from typing import Protocol

from actors.kernel.clock import Clock
from actors.kernel.timers import Timers

# Timers are set no further ahead than this, because they cannot be cancelled and keep their alarm in memory.
HORIZON_MS = 60_000

# A deadline that is still the same after `rung` was called (its turn failed, say) rings again after this.
RING_AGAIN_MS = 1_000


class Owner(Protocol):
    """The activation that an alarm belongs to."""

    def rung(self, now_ms: int, /) -> None:
        """The state's deadline has come; the time is `now_ms`, epoch milliseconds."""
        ...


class Alarm:
    """The deadline of one activation.

    Args:
        timers, clock: those of the system, shared by all actors.
        due_ms: the deadline of the state, epoch milliseconds; None without one.
        written_ms: the deadline that the head row names, epoch milliseconds; None without one.
        owner: told when the state's deadline has come.

    Attributes:
        is_stale: the head row names another deadline than the state and must be written.
    """

    __slots__ = ("_armed_ms", "_clock", "_due_ms", "_owner", "_rung_ms", "_timers", "_written_ms", "is_stale")

    def __init__(
        self,
        timers: Timers,
        clock: Clock,
        *,
        due_ms: int | None,
        written_ms: int | None,
        owner: Owner,
    ) -> None:
        self._timers = timers
        self._clock = clock
        self._due_ms = due_ms
        self._written_ms = written_ms
        self._owner: Owner | None = owner
        self._armed_ms: int | None = None
        self._rung_ms = -1
        self.is_stale = written_ms != due_ms

    def check_head(self) -> None:
        """Set `is_stale` again by comparison; called when the deadline in the head row has passed."""
        self.is_stale = self._written_ms != self._due_ms

    def move(self, due_ms: int | None, *, written: bool) -> None:
        """Take the deadline of a new state.

        Args:
            due_ms: epoch milliseconds; None without a deadline.
            written: the turn has written the head row, and this deadline with it.
        """
        self._due_ms = due_ms
        if written:
            self._written_ms = due_ms

    def arm(self) -> None:
        """Set a timer for the state's deadline, at most a minute ahead, unless one is set for that time or earlier."""
        if self._due_ms is None:
            return
        due_ms = min(self._due_ms, self._clock.now_ms() + HORIZON_MS)
        if due_ms <= self._rung_ms:
            due_ms = self._rung_ms + RING_AGAIN_MS
        if self._armed_ms is None or due_ms < self._armed_ms:
            self._armed_ms = due_ms
            self._timers.at(due_ms, partial(self._ring, due_ms))

    def silence(self) -> None:
        """Ring no more, and let go of the owner."""
        self._armed_ms = None
        self._due_ms = None
        self._owner = None

    def _ring(self, armed_ms: int) -> None:
        if self._armed_ms != armed_ms:
            return
        self._armed_ms = None
        now_ms = self._clock.now_ms()
        if self._owner is not None and self._due_ms is not None and self._due_ms <= now_ms:
            self._rung_ms = now_ms
            self._owner.rung(now_ms)
        else:
            self.arm()
