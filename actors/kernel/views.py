"""Live views: what one user sees of many owners, kept in memory while it is watched.

A view is marked dirty, source by source, and rendered once for all that changed: at once if nothing was sent for an
interval, else at the end of the interval. It takes what it can from the live owners; only the rest is read, by a task
of its own, so that a slow database delays this view and no other. A view that cannot be brought up to date stays dirty
and tries again; one whose rules raise is loaded whole.

Rows have a turn from its commit on, and the live owner's state has it a moment later. So where rows were read, an
owner is not believed whose turn was on its way by then: what was shown would be taken back for that moment.

Invariants: a view writes nothing; `changed` never waits and never activates; at most one frame per interval; no frame
is older than the one before.
"""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import partial
from random import Random
from typing import Any, TypeVar

import trio

from actors.errors import NotFound
from actors.kernel.expected import Expected
from actors.kernel.kind import Kind, View
from actors.kernel.live_views import AGAIN_MS, LiveView, LiveViews
from actors.kernel.mailbox import Failure
from actors.kernel.missed import ROWS, Missed, missed_since
from actors.kernel.one_shot import OneShot
from actors.kernel.resuming import knows
from actors.kernel.runtime import Runtime
from actors.kernel.statistics import ActorStatistics
from actors.kernel.subscription import Subscription, WatchRequest
from actors.kernel.supervisor import Contained, Fault, attempt
from actors.kernel.view_loads import ViewLoads
from persistence.errors import PersistenceError

State = TypeVar("State")

# Longest pause before another try; it doubles from `AGAIN_MS` with each failed load.
LONGEST_PAUSE_MS = 30_000


class Views:
    """All live views of a system.

    Args:
        runtime: what all actors of the system share.
        live: the views that are watched.
        peek: returns the state of a live owner; `System.peek_beside_rows`.
        rng: makes the epochs of views whose offsets are not durable.
    """

    def __init__(
        self,
        runtime: Runtime,
        live: LiveViews,
        peek: Callable[[int, Kind[Any, Any], str], Any],
        rng: Random,
    ) -> None:
        self._runtime = runtime
        self._live = live
        self._peek = peek
        self._rng = rng
        self._loads = ViewLoads(runtime, self._landed)

    def peek(self, view: View[State], id: str) -> State | None:
        """Return the state of a watched view with all changes taken in, publishing nothing and without waiting; None
        when it is not watched, or rows are needed for that."""
        live = self._live.find(view.name, id)
        if live is None or live.busy or not live.loaded:
            return None
        state: State = live.state
        if not live.dirty:
            return state
        state, unknown = view.take(state, live.dirty.keys(), partial(self._peek, live.rows_at))
        return None if unknown else state

    async def watch(self, view: View[Any], id: str, request: WatchRequest) -> Subscription:
        """Load the view if need be and subscribe to it. Raises NotFound, Refused, or why it cannot be loaded.

        Cancellation before it returns leaves no subscription behind.
        """
        live = self._find(view, id)
        live.wanted += 1
        durable, since = view.durable, request.since
        older: list[tuple[int, Any]] | None = None
        asked = request.mode == "snapshot"
        try:
            while True:
                while not live.loaded:
                    await self._wait_loaded(live)
                channel = live.channel
                if asked or durable is None or since is None or knows(channel, since):
                    return channel.subscribe(request, older)
                asked = True
                older = await self._runtime.store.read(durable.replay, id, since[1], channel.offset)
        finally:
            live.wanted -= 1
            self.drop_unwatched(live)

    def watch_now(self, view: View[Any], id: str, request: WatchRequest) -> Subscription | None:
        """Subscribe to a view that is loaded, without waiting; see `Watching.watch_now`. Raises: what is said there."""
        live = self._live.find(view.name, id)
        if live is None or not live.loaded or (view.durable is not None and request.since is not None):
            return None
        # It stays, with its offsets, though the viewer leaves a subscription that this one replaces.
        live.wanted += 1
        try:
            return live.channel.subscribe(request, None)
        finally:
            live.wanted -= 1
            self.drop_unwatched(live)

    def expecting(self, wanted: Iterable[tuple[View[Any], str]]) -> Expected:
        """Load views that are about to be watched; see `Watching.expecting`."""
        epoch = self._new_epoch()
        return Expected(self, [self._find(view, id, epoch) for view, id in wanted])

    async def wait_landed(self, wanted: Iterable[LiveView]) -> None:
        """Wait until some views are loaded; see `Expected.wait_landed`. Cancellation ends only the wait."""
        with trio.move_on_after(self._runtime.ask_ms / 1000):
            for live in wanted:
                if live.busy and not live.loaded:
                    await self._wait_landed(live)

    def statistics(self, now_ms: int) -> list[ActorStatistics]:
        """Return one row for each view."""
        return [live.statistics(now_ms) for live in self._live]

    # -- coming and going ---------------------------------------------------------------------------

    def _find(self, view: View[Any], id: str, epoch: str | None = None) -> LiveView:
        found = self._live.find(view.name, id)
        if found is not None:
            return found
        runtime = self._runtime
        live = LiveView(view, id, self, runtime)
        self._live.add(live)
        if view.durable is None:
            live.channel.epoch = epoch or self._new_epoch()
        live.quiet_until_ms = runtime.clock.now_ms()
        self._start_load(live)
        return live

    async def _wait_loaded(self, live: LiveView) -> None:
        failure = await self._wait_landed(live)
        if failure is not None:
            raise failure

    async def _wait_landed(self, live: LiveView) -> Failure | None:
        """Wait until what is read for a view has landed; returns why nothing was read."""
        waiter: OneShot[Failure | None] = OneShot()
        live.waiting = [*(live.waiting or ()), waiter]
        try:
            return await waiter.wait()
        finally:
            live.forget(waiter)

    def drop_unwatched(self, live: LiveView) -> None:
        """Drop a view that has no subscriber and no viewer about to subscribe."""
        if not len(live.channel) and not live.wanted and live in self._live:
            self._live.remove(live)
            live.channel.part()
            if live.state is not None and live.view.release is not None:
                with Contained("releasing a view", live.view.name, live.id):
                    live.view.release(live.state)

    # -- loading ------------------------------------------------------------------------------------

    def _start_load(self, live: LiveView) -> None:
        live.busy = True
        self._loads.begin(live)

    def _landed(self, live: LiveView, state: Any, failure: Failure | None) -> None:
        """Receive what was read for a view, or why nothing was."""
        if failure is None:
            with Contained("loading a view", live.view.name, live.id) as loading:
                failure = self._loaded(live, state)
            if loading.fault is not None:
                failure = Fault()
        live.busy = False
        waiting, live.waiting = live.waiting, None
        for waiter in waiting or ():
            waiter.wake(failure)
        if failure is not None:
            self._failed(live, failure)
        elif live.dirty:
            self.schedule(live, self._runtime.clock.now_ms())
        else:
            self.drop_unwatched(live)

    def _loaded(self, live: LiveView, state: Any) -> NotFound | None:
        if state is None:
            return NotFound()
        if live not in self._live:
            return None
        live.state = state = _adopted(live, state)
        live.is_loaded()
        live.rows_at = self._runtime.counters.commits
        self._runtime.counters.activations += 1
        if live.view.durable is None:
            live.channel.attach(live.channel.epoch or self._new_epoch(), 0, state)
        else:
            live.channel.attach(*live.view.durable.position(state), state)
        return None

    def _new_epoch(self) -> str:
        """A name for the history of views whose offsets count in memory.

        Each load of a view has another one than its earlier loads, whose offsets are void (contract §9), and than the
        views of other users: a client that has become somebody else must not resume what it has of the first.
        """
        return f"{self._rng.getrandbits(48):x}"

    def _failed(self, live: LiveView, failure: Failure) -> None:
        """After a failed load or rendering: detach the channel and try again later; its subscribers stay."""
        live.failed(type(failure).__name__, live.pause_ms)
        live.loaded = False
        live.channel.detach()
        if live.view.durable is None:
            live.channel.epoch = ""
        if isinstance(failure, NotFound):
            live.channel.end(failure.code)
        self.drop_unwatched(live)
        if live not in self._live:
            return
        self._runtime.timers.at(self._runtime.clock.now_ms() + live.pause_ms, partial(self._reload, live))
        live.failed(type(failure).__name__, min(2 * live.pause_ms, LONGEST_PAUSE_MS))

    def _reload(self, live: LiveView) -> None:
        if live in self._live and not live.busy and not live.loaded:
            self._start_load(live)

    # -- changes ------------------------------------------------------------------------------------

    def schedule(self, live: LiveView, at_ms: int) -> None:
        """Have a view rendered at `at_ms`, epoch milliseconds, unless a rendering is planned already."""
        if live.rings_ms is None:
            live.rings_ms = at_ms
            self._runtime.timers.at(at_ms, partial(self._flush, live))

    def _flush(self, live: LiveView) -> None:
        """Take in what changed and render it, or start reading what the live owners cannot tell."""
        live.rings_ms = None
        if live.busy or not live.loaded or not live.dirty or live not in self._live:
            return
        dirty, live.dirty = live.dirty, None
        if attempt("framing a view", live.view.name, live.id, self._take, live, dirty) is not None:
            self._failed(live, Fault())

    def _take(self, live: LiveView, dirty: dict[str, None]) -> None:
        state, unknown = live.view.take(live.state, dirty.keys(), partial(self._peek, live.rows_at))
        missed = missed_since(live.view.durable, live.channel, state)
        if unknown or missed is ROWS:
            live.busy = True
            self._runtime.start(self._reread, live, dirty, state, unknown)
        else:
            self._follow(live, state, dirty, missed)

    async def _reread(
        self, live: LiveView, dirty: dict[str, None], state: Any, unknown: AbstractSet[str]
    ) -> None:
        again = False
        with Contained("rereading a view", live.view.name, live.id) as reading:
            try:
                async with self._runtime.loads:
                    if unknown:
                        found = await self._runtime.store.read(live.view.reread, live.id, unknown)
                        state = live.view.absorb(state, found)
                    live.rows_at = self._runtime.counters.commits
                    missed = missed_since(live.view.durable, live.channel, state)
                    if missed is ROWS:
                        missed = await self._replayed(live, state)
                if live in self._live:
                    self._follow(live, state, dirty, missed)
            except PersistenceError as failure:
                live.failed(type(failure).__name__, live.pause_ms)
                live.dirty = dirty | (live.dirty or {})
                again = True
        live.busy = False
        if reading.fault is not None:
            self._failed(live, Fault())
        elif live.dirty:
            pause_ms = AGAIN_MS if again else 0
            self.schedule(live, max(live.quiet_until_ms, self._runtime.clock.now_ms() + pause_ms))

    async def _replayed(self, live: LiveView, state: Any) -> Missed:
        """Read from the rows of a durable view what has happened up to a state."""
        durable = live.view.durable
        if durable is None:
            return []
        upto = durable.position(state)[1]
        return await self._runtime.store.read(durable.replay, live.id, live.channel.offset, upto)

    def _follow(self, live: LiveView, state: Any, dirty: dict[str, None], missed: Missed) -> None:
        """Adopt a state: tell what has happened, or send all a snapshot where that is not known."""
        durable = live.view.durable
        if durable is None:
            self._publish(live, state, dirty)
        elif missed is None:
            self._move(live, state)
            self._sent(live)
            live.channel.attach(*durable.position(state), live.state)
        elif missed or state != live.state:
            self._move(live, state)
            events: list[tuple[int | None, Any]] = [*missed] or [(None, source) for source in dirty]
            self._tell(live, events, len(events))

    def _publish(self, live: LiveView, state: Any, dirty: dict[str, None]) -> None:
        """Adopt a state whose offsets count in memory."""
        view, before, offset = live.view, live.state, live.channel.offset
        self._move(live, state)
        if view.events is None:
            self._tell(live, [(offset + n, source) for n, source in enumerate(dirty, 1)], len(dirty))
            return
        events: list[tuple[int | None, Any]] = []
        reframing = 0
        for event in view.events(before, live.state, dirty.keys()):
            offset += event.journaled
            reframing += event.reframes
            events.append((offset if event.journaled else None, event))
        self._tell(live, events, reframing)

    def _tell(self, live: LiveView, events: list[tuple[int | None, Any]], reframing: int) -> None:
        if not events:
            live.channel.state = live.state
            return
        self._sent(live)
        sizes = _sizes(live.view, events)
        live.channel.publish(live.state, events, moves=False, reframing=reframing, sizes=sizes)

    def _sent(self, live: LiveView) -> None:
        live.quiet_until_ms = self._runtime.clock.now_ms() + live.view.interval_ms

    def _move(self, live: LiveView, state: Any) -> None:
        live.state = _adopted(live, state)
        live.moved()


def _adopted(live: LiveView, state: Any) -> Any:
    """The state that is to follow the view's present one."""
    return state if live.view.adopt is None else live.view.adopt(live.state, state)


def _sizes(view: View[Any], events: Iterable[tuple[int | None, Any]]) -> Iterable[int]:
    """What events of a view take to be kept, as far as it says so."""
    if view.durable is None or view.durable.size_bytes is None:
        return ()
    return [view.durable.size_bytes(event) for offset, event in events if offset is not None]
