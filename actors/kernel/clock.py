"""Time as rules see it: injected, in epoch milliseconds, never running backwards.

`SystemClock` takes the wall time at its start and counts on by CLOCK_BOOTTIME, which goes on while the machine sleeps
and cannot be set. If the wall clock is then changed (NTP, an operator), `SystemClock` approaches it by at most half a
millisecond a second: a deadline an hour ahead moves by less than two seconds, and events keep their order. By hours
that takes months, in which tokens of other issuers seem to be of the future, or over; so it is said, once each time.
Forward it leaps where the database agrees with the new time (`routes/clocks.py`), as if the machine had slept.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

import structlog

_log = structlog.get_logger()

# 0.5 ms a second, as fast as NTP itself slews (adjtime); below it nothing that rules measure is disturbed.
SLEW_PARTS = 2_000
# Nodes whose clocks are further apart do not serve together, so whatever is further ahead was written by a wrong clock.
AHEAD_MAX_MS = 10_000
# Issuers' tokens that are further in the future begin to be refused about here.
FAR_NS = 5_000_000_000
# Nanoseconds between two comparisons with the wall clock.
LOOK_EVERY_NS = 1_000_000_000


class Clock(Protocol):
    """The source of time, passed to everything that needs it."""

    def now_ms(self) -> int:
        """Return epoch milliseconds, never less than at an earlier call in this process."""
        ...


class Leaps:
    """Lets one who waits for signs of life know that time has gone on without the service, when nobody could give any.

    Args:
        clock: the clock; one that says nothing of leaps has none.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known = self._count()

    def noticed(self) -> bool:
        """Return whether there was a leap since the last call, or since this was made."""
        self._clock.now_ms()
        known, self._known = self._known, self._count()
        return known != self._known

    def _count(self) -> int:
        leaps: int = getattr(self._clock, "leaps", 0)
        return leaps


def not_before(now_ms: int, last_ms: int) -> int:
    """Return `now_ms`, or `last_ms` where this node's clock is behind the node that took the last turn.

    So the events of an actor keep their order wherever it moves. A moment that is more than `AHEAD_MAX_MS` ahead is
    passed over: time would stand still until then.

    Args:
        now_ms: the time by this node's clock, epoch milliseconds.
        last_ms: the time of the last turn, epoch milliseconds.
    """
    return last_ms if now_ms < last_ms <= now_ms + AHEAD_MAX_MS else now_ms


# The machine has slept if the clock that goes on meanwhile is ahead by so much more of the one that does not.
SLEEP_MIN_NS = 5_000_000_000

# A partial of a C function instead of a Python function, because it is called several times a message.
_boot_ns = partial(time.clock_gettime_ns, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def boot_seconds() -> float:
    """Return seconds since some moment, which go on while the machine sleeps and cannot be set.

    For whatever a sleeping machine must not overlook. trio's own time stands still meanwhile.
    """
    return _boot_ns() / 1_000_000_000


class SystemClock:
    """The clock of a running service.

    Args:
        steady_ns: monotonic nanoseconds that go on during suspend; CLOCK_BOOTTIME where the system has it.
        wall_ns: nanoseconds since the epoch, which may jump.
        awake_ns: monotonic nanoseconds that stand still during suspend.

    Attributes:
        leaps: how often the machine has slept, or this clock has caught up.
    """

    __slots__ = (
        "_asleep_ns",
        "_awake_ns",
        "_is_far",
        "_last_ms",
        "_looked_ns",
        "_offset_ns",
        "_steady_ns",
        "_wall_ns",
        "leaps",
    )

    def __init__(
        self,
        *,
        steady_ns: Callable[[], int] = _boot_ns,
        wall_ns: Callable[[], int] = time.time_ns,
        awake_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.leaps = 0
        self._awake_ns = awake_ns
        self._steady_ns = steady_ns
        self._wall_ns = wall_ns
        self._looked_ns = steady_ns()
        self._asleep_ns = self._looked_ns - awake_ns()
        self._offset_ns = wall_ns() - self._looked_ns
        self._last_ms = 0
        self._is_far = False

    def now_ms(self) -> int:
        """Return epoch milliseconds, never less than at an earlier call."""
        steady_ns = self._steady_ns()
        if steady_ns - self._looked_ns >= LOOK_EVERY_NS:
            self._follow(steady_ns)
        # A backward slew may take back up to a millisecond; time stands still for that long instead. Whatever notes the
        # time of one millisecond keeps one number: thousands of views and sockets have a few each.
        now_ms = (steady_ns + self._offset_ns) // 1_000_000
        if now_ms <= self._last_ms:
            return self._last_ms
        self._last_ms = now_ms
        return now_ms

    def catch_up(self) -> None:
        """Take the wall time at once where it is ahead; where it is behind, nothing happens."""
        self._looked_ns = self._steady_ns()
        offset_ns = self._wall_ns() - self._looked_ns
        if offset_ns > self._offset_ns:
            self._offset_ns = offset_ns
            self.leaps += 1

    def _follow(self, steady_ns: int) -> None:
        asleep_ns = steady_ns - self._awake_ns()
        self.leaps += asleep_ns - self._asleep_ns >= SLEEP_MIN_NS
        self._asleep_ns = asleep_ns
        most_ns = (steady_ns - self._looked_ns) // SLEW_PARTS
        drift_ns = self._wall_ns() - steady_ns - self._offset_ns
        self._offset_ns += max(-most_ns, min(most_ns, drift_ns))
        self._looked_ns = steady_ns
        is_far = abs(drift_ns) >= (FAR_NS // 2 if self._is_far else FAR_NS)
        if is_far and not self._is_far:
            _log.warning(
                "the machine's clock was set; the service follows slowly, or at once if the new time is later and the"
                " database agrees; otherwise it has the new time once it starts again",
                by_seconds=round(drift_ns / 1_000_000_000),
            )
        self._is_far = is_far
