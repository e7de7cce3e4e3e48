"""What all actors of a system share, so that none of them knows the system itself."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from actors.kernel.clock import Clock
from actors.kernel.counters import Counters
from actors.kernel.nodes.followed import Followed
from actors.kernel.observer import Observer
from actors.kernel.owner_loads import OwnerLoads
from actors.kernel.placement import Placement
from actors.kernel.room import Room
from actors.kernel.scheduler import Scheduler
from actors.kernel.store import Journal, Store
from actors.kernel.timers import Timers


class Touched(Protocol):
    """Marks watched views as changed by a committed event."""

    def __call__(self, view_name: str, ids: Collection[str], source: str, /) -> None:
        """Mark the views with this name and these ids.

        Args:
            view_name: the name of the view.
            ids: which of these views.
            source: the id of the owner whose event it was.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Runtime:
    """What all actors of a system share.

    Args:
        store, journal, placement, clock: as given to `open_system`.
        timers: one heap of timers for all of them.
        scheduler: the run queue of all actors.
        loads: limits concurrent loads to 50, so that a restart does not overload the database.
        owner_loads: reads the committed states of owners.
        counters: totals since the start of the system, for the metrics.
        touched: marks watched views as changed by a committed event.
        broadcast: has memory on other nodes follow an event of an owner here (the kind's name, its id, the event, or
            None to have it ask the owner); None without other nodes.
        followed: which owners here are shown on other nodes; None without those.
        start: starts a task in the system's nursery.
        ask_ms: how long a caller waits for its answer.
        idle_ms: how long an actor has to be without commands, readers and subscribers before it retires.
        observer: sees all turns; None for nobody.
    """

    store: Store
    journal: Journal
    placement: Placement
    clock: Clock
    timers: Timers
    scheduler: Scheduler
    loads: Room
    owner_loads: OwnerLoads
    counters: Counters
    touched: Touched
    broadcast: Callable[[str, str, Any], None] | None
    followed: Followed | None
    start: Callable[..., None]
    ask_ms: int
    idle_ms: int
    observer: Observer | None = None
