"""How an actor system is opened: what its actors share, the system, and the tasks that run beside them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import trio

from actors.kernel.clock import Clock
from actors.kernel.counters import Counters
from actors.kernel.directory import System
from actors.kernel.kind import Kind
from actors.kernel.live_views import LiveViews
from actors.kernel.nodes.far import Far
from actors.kernel.observer import Observer
from actors.kernel.owner_loads import OwnerLoads
from actors.kernel.placement import Placement
from actors.kernel.room import Room
from actors.kernel.runtime import Runtime, Touched
from actors.kernel.scheduler import Scheduler
from actors.kernel.slimming import SPARE_BYTES, keep_slim
from actors.kernel.store import Journal, Store
from actors.kernel.supervisor import contained_task
from actors.kernel.sweeps import sweep_live, wake_due
from actors.kernel.timers import Timers
from persistence.journal import journal as persistent_journal

# How long a caller waits for its answer (contract §1, Deadlines).
ASK_SECONDS = 5.0

# Most actors and views that load at the same time.
LOADS = 50

# An actor without commands, readers and subscribers for this long retires.
IDLE_SECONDS = 60.0


@asynccontextmanager
async def open_system(
    database: Store,
    clock: Clock,
    *,
    kinds: Collection[Kind[Any, Any]],
    placement: Placement,
    rng: Random,
    journal: Journal = persistent_journal,
    ask_seconds: float = ASK_SECONDS,
    idle_seconds: float = IDLE_SECONDS,
    observer: Observer | None = None,
    far: Far | None = None,
    spare_bytes: int = SPARE_BYTES,
) -> AsyncIterator[System]:
    """Run an actor system while the block runs; leaving the block drains it.

    Cancellation drains it too, shielded, for at most `directory.DRAIN_SECONDS`.

    Args:
        database: where units of work run and turns are committed.
        clock: the time that rules, deadlines and timers go by.
        kinds: every kind there is; owners of other kinds are not activated by their deadlines.
        placement: which actors this process owns, and under which fence.
        rng: makes the epochs of views whose offsets are not durable.
        journal: the functions that read and write heads, events and snapshots (`persistence.journal.journal`).
        ask_seconds: how long a caller waits for its answer.
        idle_seconds: how long an owner has to be without commands, readers and subscribers before it retires.
        observer: sees all turns; None for nobody.
        far: the way to the actors of other nodes; None without others.
        spare_bytes: about how many bytes memory may hold of what rows hold as well (`slimming.py`).
    """
    async with _shielded_nursery() as (nursery, over):
        live_views = LiveViews()
        runtime = Runtime(
            store=database,
            journal=journal,
            placement=placement,
            clock=clock,
            timers=Timers(clock),
            scheduler=Scheduler(clock),
            loads=(loads := Room(LOADS)),
            owner_loads=OwnerLoads(database, journal, loads),
            counters=Counters(),
            touched=live_views.touched if far is None else _touching_all(live_views, far),
            broadcast=None if far is None else far.news,
            followed=None if far is None else far.followed,
            start=_starting_in(nursery),
            ask_ms=int(ask_seconds * 1000),
            idle_ms=int(idle_seconds * 1000),
            observer=observer,
        )
        system = System(runtime, live_views, kinds=kinds, nursery=nursery, rng=rng, far=far)
        _keep_going(nursery, runtime, system, spare_bytes)
        try:
            yield system
        finally:
            await _close(system, far, drains=not over.is_set())


async def _close(system: System, far: Far | None, *, drains: bool) -> None:
    """Stop a system; it drains first where its tasks still go on. Shielded from cancellation."""
    if drains:
        with trio.CancelScope(shield=True):
            await system.drain()
    if far is not None:
        far.close()
    system.abandon()


@asynccontextmanager
async def _shielded_nursery() -> AsyncIterator[tuple[trio.Nursery, trio.Event]]:
    """A nursery whose tasks go on to the end of the block when that is cancelled: owners need them to leave.

    Yields: the nursery, and an event that is set once no task can be started in it, because one has failed.
    """
    held: list[trio.Nursery] = []
    opened, over = trio.Event(), trio.Event()

    async def hold() -> None:
        try:
            with trio.CancelScope(shield=True):
                async with trio.open_nursery() as nursery:
                    held.append(nursery)
                    opened.set()
                    await trio.sleep_forever()
        finally:
            over.set()

    async with trio.open_nursery() as holding:
        # Not `start`, which leaves a task that is shielded where it cannot be reached when it is cancelled meanwhile.
        holding.start_soon(hold)
        with trio.CancelScope(shield=True):
            await opened.wait()
        try:
            yield held[0], over
        finally:
            held[0].cancel_scope.cancel()


def _starting_in(nursery: trio.Nursery) -> Callable[..., None]:
    def start(run: Callable[..., Awaitable[None]], *args: object) -> None:
        nursery.start_soon(contained_task, "running a task", run, *args)

    return start


def _keep_going(nursery: trio.Nursery, runtime: Runtime, system: System, spare_bytes: int) -> None:
    nursery.start_soon(runtime.timers.run)
    nursery.start_soon(runtime.scheduler.run)
    nursery.start_soon(sweep_live, runtime.clock, system.actors)
    nursery.start_soon(wake_due, runtime, system.wake_overdue)
    nursery.start_soon(keep_slim, system, spare_bytes)
    if system.copies is not None:
        nursery.start_soon(system.copies.keep)


def _touching_all(live_views: LiveViews, far: Far) -> Touched:
    def touched(view_name: str, ids: Collection[str], source: str) -> None:
        live_views.touched(view_name, ids, source)
        far.touched(view_name, ids, source)

    return touched
