"""Time that passes more quickly than it should, so that the machine seems slower by as much.

    scripts/test --hurry=20 tests/chat

shows within a minute which tests depend on how fast a machine is: rates, deadlines and graces of this process run so
many times as quickly, while the work takes what it takes. Other processes keep their time.
"""

import time
from functools import partial

import trio
from trio.testing import MockClock

from actors.kernel.clock import Clock, SystemClock

_rate = 1
_since_ns = time.monotonic_ns()


def hurry(rate: int) -> None:
    """From now on let time pass so many times as quickly, for every run of trio that has no clock of its own."""
    global _rate  # noqa: PLW0603  (one option of the whole test run)
    _rate = rate
    # trio makes its clock of this name, and has no other way to be given one for every run.
    trio._core._run.SystemClock = partial(MockClock, rate=rate)  # type: ignore[assignment,misc]


def hurried_clock() -> Clock:
    """The system's time for rules, which passes as quickly as `hurry` says."""
    if _rate == 1:
        return SystemClock()

    def steady_ns() -> int:
        return time.monotonic_ns() + _ahead_ns()

    return SystemClock(steady_ns=steady_ns, wall_ns=lambda: time.time_ns() + _ahead_ns(), awake_ns=steady_ns)


def _ahead_ns() -> int:
    return (_rate - 1) * (time.monotonic_ns() - _since_ns)
