"""The service's clock beside those of the machine and of the database.

A service counts time by itself (`actors/kernel/clock.py`). That lags for good where a virtual machine was paused, or
was started before it knew the time. Where the database's clock agrees with the machine's, the service goes on by it;
what is further apart is logged, and shown in the metrics.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from math import nan
from typing import NamedTuple

import structlog

from actors.kernel.clock import Clock, SystemClock
from actors.kernel.store import Store
from persistence.schema.checks import read_clock
from routes.edge.faults import OperatorFault

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
"""No clock that was set is before this."""

LOOKS = 5
"""How often clocks are compared; the quickest answer counts."""

LEAP_MIN_MS = 5_000
"""A service that is behind by less catches up slowly, within three hours."""

LEAP_MAX_MS = 24 * 3_600_000
"""A service leaps over no more: what is kept for days would be deleted at once if the new time was wrong."""

AGREE_MS = 1_000
"""The machine's clock and the database's agree if they are no further apart."""

log = structlog.get_logger()


class ClockUnset(OperatorFault):
    """The machine's clock is certainly wrong; the message says why in one line."""


def require_time(now_seconds: float) -> None:
    """Require that a clock was set, unlike that of a machine without a battery that has just started, and counts from
    1970. Who starts then dates everything decades back, where it is deleted as old, and revokes no token.

    Args:
        now_seconds: the machine's clock, epoch seconds.

    Raises:
        ClockUnset: it is before `EARLIEST`.
    """
    if now_seconds < EARLIEST.timestamp():
        now = datetime.fromtimestamp(now_seconds, UTC)
        raise ClockUnset(f"this machine's clock says {now:%Y-%m-%d %H:%M}; set it, by NTP or the like")


class Difference(NamedTuple):
    """How two clocks differ.

    Args:
        ahead_ms: by how much the database's clock is ahead of the other, negative where it is behind.
        within_ms: how far that may be wrong.
    """

    ahead_ms: float
    within_ms: float


async def compare(store: Store, now_ms: Callable[[], float]) -> Difference:
    """Compare the database's clock with another. Cancellation ends it.

    Args:
        store: the database.
        now_ms: reads the other clock, epoch milliseconds.

    Raises:
        DatabaseUnavailable: the database cannot be asked.
    """
    best = Difference(0.0, float("inf"))
    for _ in range(LOOKS):
        before = now_ms()
        theirs = 1000 * await store.read(read_clock)
        after = now_ms()
        if (after - before) / 2 < best.within_ms:
            best = Difference(theirs - (before + after) / 2, (after - before) / 2)
    return best


class Clocks:
    """Compares the service's clock with the machine's and the database's, and has it catch up.

    Args:
        store: the database.
        clock: the service's clock; one that is not the system's is compared, and left as it is.
        most_ms: a greater difference to the database's clock is logged, once each time.
        wall_ms: the machine's clock, epoch milliseconds.

    Attributes:
        database_ahead_seconds: by how much the database's clock was ahead of the service's at the last look; no number
            before the first.
    """

    def __init__(
        self, store: Store, clock: Clock, *, most_ms: float, wall_ms: Callable[[], float] | None = None
    ) -> None:
        self.database_ahead_seconds = nan
        self._store = store
        self._clock = clock
        self._most_ms = most_ms
        self._wall_ms = wall_ms or _wall_ms
        self._was_behind = False
        self._is_apart = False

    @property
    def machine_ahead_seconds(self) -> float:
        """By how much the machine's clock is ahead of the service's, negative where it is behind."""
        return self._machine_ahead_ms() / 1000

    def _machine_ahead_ms(self) -> float:
        return self._wall_ms() - self._clock.now_ms()

    async def look(self) -> None:
        """Compare the clocks. At the second look in a row that finds the service behind, it leaps to the machine's time
        if the database agrees with that. Cancellation ends the comparison.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        found = await compare(self._store, self._wall_ms)
        agree = abs(found.ahead_ms) <= AGREE_MS + found.within_ms
        is_behind = agree and LEAP_MIN_MS <= self._machine_ahead_ms() <= LEAP_MAX_MS
        if is_behind and self._was_behind and isinstance(self._clock, SystemClock):
            log.warning(
                "the service takes the machine's time", ahead_seconds=round(self.machine_ahead_seconds)
            )
            self._clock.catch_up()
            is_behind = False
        self._was_behind = is_behind
        self._note(found.ahead_ms + self._machine_ahead_ms(), found.within_ms)

    def _note(self, ahead_ms: float, within_ms: float) -> None:
        self.database_ahead_seconds = ahead_ms / 1000
        is_apart = abs(ahead_ms) - within_ms > self._most_ms
        if is_apart and not self._is_apart:
            log.warning(
                "the service's clock differs from the database's; let all machines keep time by NTP",
                database_ahead_seconds=round(ahead_ms / 1000, 1),
                machine_ahead_seconds=round(self.machine_ahead_seconds, 1),
            )
        self._is_apart = is_apart


def _wall_ms() -> float:
    return time.time() * 1000
