"""The actor system: how actors are reached, here (`owners.py`) or on other nodes (`routing.py`).

Commands and `watch` activate; a single read does not (`peek`, `read`).
"""

from collections.abc import Callable, Collection, Iterable
from random import Random
from typing import Any, TypeVar

import trio

from actors.kernel.actor import Actor
from actors.kernel.counters import Counters
from actors.kernel.hot_reads import HotReads
from actors.kernel.kind import Kind, View
from actors.kernel.live_views import LiveView, LiveViews
from actors.kernel.mailbox import Answer, Letter
from actors.kernel.nodes.copies import Copies
from actors.kernel.nodes.copy import Copy
from actors.kernel.nodes.far import Far
from actors.kernel.one_shot import OneShot
from actors.kernel.owners import Owners
from actors.kernel.routing import Routing
from actors.kernel.runtime import Runtime
from actors.kernel.statistics import ActorStatistics
from actors.kernel.subscription import Subscription, WatchRequest
from actors.kernel.views import Views
from actors.kernel.watching import Watching
from persistence.journal.turn import Receipt

State = TypeVar("State")
Command = TypeVar("Command")

# How long `drain` waits for turns and snapshots; a third of what a stop may take in all (contract §11, Stopping).
DRAIN_SECONDS = 10.0


class System:
    """The live actors of this process; made by `opening.open_system`."""

    def __init__(
        self,
        runtime: Runtime,
        live_views: LiveViews,
        *,
        kinds: Iterable[Kind[Any, Any]],
        nursery: trio.Nursery,
        rng: Random,
        far: Far | None = None,
    ) -> None:
        self._runtime = runtime
        self._nursery = nursery
        self._kinds = {kind.name: kind for kind in kinds}
        copies = self.copies = None if far is None else Copies(runtime, far.where, far.peers)
        """The copies of owners on other nodes that are watched here; None without other nodes."""
        self._owners = Owners(runtime, nursery, copies, far)
        self._actors = self._owners.live
        self.routing = Routing(runtime, self._owners, far)
        """Sends letters to the owners of this node and of others."""
        self._live_views = live_views
        self._views = Views(runtime, live_views, self.peek_beside_rows, rng)
        self.watching = Watching(runtime, self._owners, self._views, far, copies)
        """How viewers come to watch several views at once."""
        self._hot_reads = HotReads()
        self._far = far
        if far is not None:
            far.open(self.routing, self._kinds, position=self._owners.position, touched=live_views.touched)

    # -- commands -----------------------------------------------------------------------------------

    async def ask(
        self,
        kind: Kind[Any, Command],
        id: str,
        command: Command,
        *,
        receipt: Callable[[Any], Receipt] | None = None,
        passed_on: bool = False,
    ) -> Any:
        """Have an owner decide a command; returns the reply of the kind's `answer` once the turn is committed.

        Args:
            kind, id: which owner; it is activated if need be.
            command: one of the kind's commands.
            receipt: makes the receipt of an idempotent request from the reply; it commits with the events.
            passed_on: raise Elsewhere where another node has the owner, so that the caller's whole request can be
                passed on to it; otherwise the command is sent there.

        Raises: Elsewhere, as said, and before anything was done; Refused by the kind's rules; NotFound for no such
        owner; Overloaded when its mailbox is full, or the deadline passes before its turn; Parked; Draining;
        OutcomeUnknown when the deadline passes after its turn has decided it; other PersistenceErrors when nothing was
        changed; Fault when a rule raised; RuntimeError when called inside a turn, which could wait for itself;
        TypeError for a command that does not cross to the other node that has the owner, a defect.

        Cancellation: the caller leaves. A command not yet decided is dropped; one already decided takes effect.
        """
        self._outside_turns()
        if self._far is not None:
            if passed_on or receipt is not None:
                await self.routing.go_to(kind, id)
            elif type(command) not in kind.crossing and self.routing.is_far(kind, id):
                raise TypeError(f"{type(command).__name__} does not cross between nodes")
        waiter: OneShot[Answer] = OneShot()
        letter = Letter(command, waiter.wake, receipt, self._runtime.clock.now_ms() + self._runtime.ask_ms)
        if self._far is None:
            self.routing.deliver(kind, id, letter)
        else:
            self.routing.send(kind, id, letter)
        try:
            answer = await waiter.wait()
        finally:
            letter.open = False
        if answer.error is None:
            return answer.reply
        try:
            raise answer.error
        finally:
            # Its traceback knows this frame: else the two would keep each other, and all that the request has.
            del answer, waiter, letter

    def post(
        self,
        kind: Kind[Any, Command],
        id: str,
        command: Command,
        answer: Callable[[Answer], None],
        *,
        receipt: Callable[[Any], Receipt] | None = None,
        after_frames: Callable[[], None] | None = None,
    ) -> None:
        """Have an owner decide a command, without waiting: `answer` is called once, before the turn's first frame.

        Never raises: what `ask` would raise is in `Answer.error`; a full mailbox is reported before this returns.

        Args:
            kind, id, command, receipt: those of `ask`.
            answer: called with the outcome, synchronously.
            after_frames: called once after `answer`: when the turn's frames have been offered to the first slice of
                subscribers, or at once when none follow; at the end of the step where another node has answered. So a
                socket can hold the reply back and send both together.
        """
        deadline_ms = self._runtime.clock.now_ms() + self._runtime.ask_ms
        letter = Letter(command, answer, receipt, deadline_ms, after_frames)
        if self._far is None:
            self.routing.deliver(kind, id, letter)
        else:
            self.routing.send(kind, id, letter)

    def tell(self, kind: Kind[Any, Command], id: str, command: Command) -> bool:
        """Enqueue a command without a caller for a live or loading owner; returns False when there is none here.

        Where another node has the owner, it is passed on, and what comes of it is not known. Never refused by a full
        mailbox. A command equal to a queued one is dropped, so commands must be hashable. Refusals and errors are not
        reported. What is told is in rows already: a copy here reads them anew, so each node that hears of the change is
        to tell it.
        """
        if self.routing.tell_here(kind.name, id, command):
            return True
        if self.copies is not None:
            self.copies.outdate(kind.name, id)
        if self._far is not None:
            self._far.tell(kind, id, command)
        return False

    def tell_all(self, kind: Kind[Any, Command], command: Command) -> None:
        """As `tell`, for all live owners and copies of a kind on this node: it is not known whose rows have changed.

        Args:
            kind: the kind of these owners.
            command: one of the kind's commands.
        """
        for name, id in list(self._actors):
            if name == kind.name:
                self.routing.tell_here(name, id, command)
        if self.copies is not None:
            self.copies.outdate_all(kind.name)

    # -- looking ------------------------------------------------------------------------------------

    def peek(self, kind: Kind[State, Any], id: str) -> State | None:
        """Return the committed state of a live owner, or None. Activates nothing."""
        actor = self._actors.get((kind.name, id))
        return actor.activation.state if actor is not None and actor.activation is not None else None

    def peek_beside_rows(self, commits: int, kind: Kind[State, Any], id: str) -> State | None:
        """Like `peek`, for who has read rows: None as well where these may be ahead of the live owner's state.

        Args:
            commits: `counters.commits` when the rows had been read.
            kind, id: which owner.
        """
        actor = self._actors.get((kind.name, id))
        activation = None if actor is None else actor.activation
        if activation is None or 0 < activation.committing <= commits:
            return None
        state: State = activation.state
        return state

    def read(self, kind: Kind[State, Any], id: str, now_ms: int) -> State | None:
        """Like `peek`, for a client's request: keeps a live owner from retiring, and activates one that is read often.

        Args:
            kind, id: which owner; that it exists and that the caller may read it is not checked here.
            now_ms: epoch milliseconds.
        """
        actor = self._actors.get((kind.name, id))
        if actor is None:
            wakes = not (self._owners.closing or self.routing.is_far(kind, id))
            if wakes and self._hot_reads.wake((kind.name, id), now_ms):
                self._owners.activate(kind, id)
            return None
        if actor.activation is None:
            return None
        actor.note_read(now_ms)
        state: State = actor.activation.state
        return state

    def peek_view(self, view: View[State], id: str) -> State | None:
        """Return the current state of a watched view; None when it is not watched, or rows would have to be read."""
        return self._views.peek(view, id)

    def changed(self, view: View[Any], id: str, source: str) -> None:
        """Mark a watched view as changed; does nothing when the view is not watched.

        Args:
            source: what has changed, as the view's `take` and `reread` know it.
        """
        self._live_views.changed(view.name, id, source)

    async def watch(self, shown: Kind[Any, Any] | View[Any], id: str, request: WatchRequest) -> Subscription:
        """Subscribe a viewer to an owner or a view.

        The first frame (missed events when `request.since` can be replayed, else a snapshot) is offered before this
        returns, after `request.opened`, in one step with the subscription.

        Raises: Refused by the `audience` of the kind or view; NotFound;
        Draining; Overloaded when it takes longer than a command may; Parked; PersistenceError or Fault
        when loading failed; RuntimeError when called inside a turn. Cancellation: no subscription.
        """
        self._outside_turns()
        return await self.watching.watch(shown, id, request)

    def statistics(self) -> list[ActorStatistics]:
        """Return one row for each live owner and view."""
        now_ms = self._runtime.clock.now_ms()
        owners = [actor.statistics(now_ms) for actor in self._actors.values()]
        return owners + self._views.statistics(now_ms)

    @property
    def counters(self) -> Counters:
        """Totals since the start of the system, for the metrics."""
        return self._runtime.counters

    # -- stopping -----------------------------------------------------------------------------------

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Take no more commands, finish the turns, save snapshots and let the owners leave.

        Cancellation ends only the wait; the owners go on closing.

        Args:
            seconds: how long to wait for that; no acknowledged change is lost when it is not enough.
        """
        self._owners.close()
        with trio.move_on_after(seconds):
            while self._actors:
                await self._owners.wait_left()

    async def wait_left(self) -> None:
        """Wait until an owner leaves the directory. Cancellation ends only the wait."""
        await self._owners.wait_left()

    def abandon(self) -> None:
        """Remove owners that could not be stopped in time, and answer all that wait for them."""
        self._owners.abandon()

    # -- for the other parts of the kernel ----------------------------------------------------------

    def actors(self) -> list[Actor]:
        """Return all owners in the directory."""
        return list(self._actors.values())

    def live_views(self) -> list[LiveView]:
        """Return all views that are watched, or about to be."""
        return list(self._live_views)

    def watched_copies(self) -> list[Copy]:
        """Return all copies of owners on other nodes."""
        return [] if self.copies is None else list(self.copies)

    def touched(self, view_name: str, ids: Collection[str], source: str) -> None:
        """Mark watched views as changed by a committed event.

        Args:
            view_name: the name of the view.
            ids: which of these views.
            source: the id of the owner whose event it was.
        """
        self._live_views.touched(view_name, ids, source)

    def touched_everywhere(self, view_name: str, ids: Collection[str], source: str) -> None:
        """As `touched`, on all nodes: for a change that this node alone knows of, because it follows the owners.

        Args:
            view_name: the name of the view.
            source: the id of the owner whose event it was.
        """
        self._runtime.touched(view_name, ids, source)

    def touched_if(self, view_name: str, concerns: Callable[[str], bool], source: str) -> None:
        """Mark those watched views as changed for whose id `concerns` is True.

        Args:
            view_name: the name of the view.
            concerns: whether what has changed is shown by the view with this id.
            source: what has changed, as the view's `take` and `reread` know it.
        """
        self._live_views.touched_if(view_name, concerns, source)

    def touched_being_read(self, view_name: str, source: str) -> None:
        """Mark the views for which rows are being read, because these may be older than the change.

        Args:
            view_name: the name of the view.
            source: what has changed, as the view's `take` and `reread` know it.
        """
        self._live_views.touched_being_read(view_name, source)

    def wake_overdue(self, kind: str, id: str) -> bool:
        """Handle a deadline in a head row that has passed; True when this has activated the owner.

        An owner that is live compares the deadline with its own.
        """
        actor = self._actors.get((kind, id))
        if actor is not None:
            if actor.activation is not None:
                actor.activation.check_head()
            return False
        if kind not in self._kinds or self._owners.closing or self.routing.is_far(self._kinds[kind], id):
            return False
        self._owners.activate(self._kinds[kind], id)
        return True

    # -- inside -------------------------------------------------------------------------------------

    def _outside_turns(self) -> None:
        # All tasks of the kernel, and only they, are children of its nursery. An actor that waited for another one
        # inside its turn could end up waiting for itself.
        if trio.lowlevel.current_task().parent_nursery is self._nursery:
            raise RuntimeError("never ask inside a turn")
