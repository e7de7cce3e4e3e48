"""What all actors of a system share, so that none of them knows the system itself."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

import trio

from actors.kernel.clock import Clock
from actors.kernel.placement import Placement
from actors.kernel.scheduler import Scheduler
from actors.kernel.statistics import Counters
from actors.kernel.store import Journal, Store
from actors.kernel.timers import Timers


class Touched(Protocol):
    """Tells the views that a committed event concerns them."""

    def __call__(self, view_name: str, ids: Collection[str], source: str, /) -> None:
        """Source is the id of the owner whose event it was."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Runtime:
    """See the module.

    Args:
        store, journal, placement, clock: as given to `open_system`.
        timers: one heap for everything that happens at a time.
        scheduler: one queue for everything that actors do.
        loads: at most 50 load at once, so that a restart does not bury the database.
        counters: totals.
        touched: tells views of a committed event.
        start: starts a task in the system's nursery.
        ask_ms: how long a caller waits for its answer.
        idle_ms: how long nobody must want an actor before it retires.
    """

    store: Store
    journal: Journal
    placement: Placement
    clock: Clock
    timers: Timers
    scheduler: Scheduler
    loads: trio.Semaphore
    counters: Counters
    touched: Touched
    start: Callable[..., None]
    ask_ms: int
    idle_ms: int
