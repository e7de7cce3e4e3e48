"""An owner as the system knows it: what outlives its activations, and the way from one activation to the next.

Mailbox, channel and restarts belong here, because letters and subscribers stay through a restart. `activation` is set
exactly while a committed state is in memory; without one, letters wait in the mailbox for the next.
"""

from collections.abc import Callable
from typing import Any

import structlog
import trio

from actors.errors import Draining, NotFound, Parked, Refused
from actors.kernel.activation import Activation
from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind
from actors.kernel.loading import load
from actors.kernel.mailbox import Answer, Failure, Letter, Mailbox, close_overdue, failure_of
from actors.kernel.nodes.heirs import tell_missed
from actors.kernel.observed import ObservedMailbox
from actors.kernel.one_shot import OneShot
from actors.kernel.restarts import BLAMELESS, Restarts
from actors.kernel.runtime import Runtime
from actors.kernel.statistics import ActorStatistics
from actors.kernel.supervisor import Fault, supervise
from actors.kernel.waiters import Waiters
from persistence.errors import Fenced, OutcomeUnknown, PersistenceError

_log = structlog.get_logger()


class Actor:
    """One owner in the directory, with or without an activation.

    Args:
        kind, id: the owner's kind and id.
        runtime: what all actors of the system share.
        leave: called with this actor when it leaves the directory for good.
    """

    __slots__ = (
        "_active_ms", "_closing", "_copied_version", "_leave", "_restarts", "_retiring", "_runtime", "_sleeping",
        "_waiting", "activation", "channel", "id", "is_gone", "kind", "mailbox", "shows_outdated",
    )  # fmt: skip

    def __init__(
        self, kind: Kind[Any, Any], id: str, runtime: Runtime, leave: Callable[["Actor"], None]
    ) -> None:
        self.kind = kind
        self.id = id
        self.mailbox = Mailbox() if runtime.observer is None else ObservedMailbox(runtime.observer)
        self.channel: Channel | None = None
        self.activation: Activation | None = None
        self._runtime = runtime
        self._leave = leave
        # made when the first activation has failed: most never do, and there are thousands
        self._restarts: Restarts | None = None
        self._waiting: Waiters[Failure | None] = Waiters()
        self._active_ms = runtime.clock.now_ms()
        self._closing = False
        # which version subscribers have been shown who were here before it; None when there were none
        self._copied_version: int | None = None
        self.shows_outdated = False
        """Rows differ from what these subscribers were shown, whatever its version: they are to get a snapshot."""
        self.is_gone = False
        # True while a task retires the actor; what the task that waits for the next activation sleeps on
        self._retiring = False
        self._sleeping: OneShot[None] | None = None

    # -- what the system asks of it -----------------------------------------------------------------

    @property
    def parked_until_ms(self) -> int:
        """Epoch milliseconds until which repeated faults have it refuse every command; 0 when it never was parked."""
        return self._restarts.parked_until_ms if self._restarts is not None else 0

    def poke(self) -> None:
        """Have the actor look for work: a letter has come, or something else has changed."""
        if self.activation is not None:
            self.activation.look()
        elif self._sleeping is not None:
            self._sleeping.wake(None)

    def tell(self, command: Any) -> None:
        """Enqueue a command without a caller, about a change that is in rows already. An actor that is loading may read
        that change from the rows; the command has no effect then."""
        if self.activation is None:
            self.shows_outdated = True
        self.mailbox.tell(command)
        self.poke()

    async def wait_loaded(self) -> None:
        """Wait until the actor has an activation, or has left because another node has the owner.

        Raises why it has none: NotFound for no such owner, a PersistenceError, Fault, Parked, or Draining. Cancellation
        ends only this wait; loading goes on.
        """
        self.poke()
        failure = await self._waiting.wait()
        if failure is not None:
            raise failure

    def open_channel(self) -> Channel:
        """Return the channel of a live actor, made at the first call."""
        if self.channel is None:
            self.channel = Channel(self.kind, self.id, self._runtime, self)
            self._attach()
        return self.channel

    def take_channel(self, channel: Channel, version: int, *, is_outdated: bool) -> None:
        """Take over subscribers who were shown a copy, before the actor is loaded.

        Args:
            channel: the channel of these subscribers.
            version: the version of the state that they were shown; -1 if they were shown none.
            is_outdated: rows were changed since then, otherwise than by turns.
        """
        self.channel, self._copied_version, self.shows_outdated = channel, version, is_outdated
        channel.belong_to(self)
        channel.detach()

    def part_with_channel(self) -> None:
        """Let go of the channel, because a copy of the owner takes over its subscribers."""
        self.channel = None
        if self.activation is not None:
            self.activation.channel = None

    def close(self) -> None:
        """Finish what waits, save a snapshot and leave the directory, with or without subscribers."""
        self._closing = True
        self._retire_soon()

    def reopen(self) -> None:
        """Stay after all, unless it has left already."""
        self._closing = False
        self.poke()

    def lose(self) -> None:
        """End the activation, because its shard belongs to another node now; while there is none, `begin` finds out."""
        if self.activation is not None:
            self.activation.lose(Fenced(f"{self.kind.name} {self.id} has another owner"))

    def close_overdue(self, soon_ms: int) -> None:
        """Answer callers whose deadline (epoch milliseconds) is before `soon_ms`.

        They get OutcomeUnknown when their letter was decided in the turn under way, otherwise Overloaded.
        """
        if self.activation is not None and self.activation.letters:
            self._runtime.counters.overdue += close_overdue(self.activation.letters, soon_ms)
        if len(self.mailbox):
            self._runtime.counters.overdue += close_overdue(self.mailbox, soon_ms)

    def note_read(self, now_ms: int) -> None:
        """Note that a client reads the owner at `now_ms`, epoch milliseconds, so that it stays live."""
        self._active_ms = now_ms

    def retire_if_idle(self, now_ms: int) -> None:
        """Begin to retire the actor if it has been without commands, readers and subscribers for the idle time.

        Args:
            now_ms: epoch milliseconds.
        """
        if self._unwanted(now_ms):
            self._retire_soon()

    def statistics(self, now_ms: int) -> ActorStatistics:
        """Return this actor's row for the list of actors.

        Args:
            now_ms: epoch milliseconds.
        """
        restarts = self._restarts
        return ActorStatistics(
            kind=self.kind.name,
            id=self.id,
            mailbox=len(self.mailbox),
            subscribers=len(self.channel) if self.channel is not None else 0,
            restarts=restarts.count if restarts is not None else 0,
            last_error=restarts.last_error if restarts is not None else None,
            offset=self.activation.seq if self.activation is not None else 0,
            idle_ms=now_ms - self._last_active_ms(),
        )

    def unwatched(self) -> None:
        """Start the idle time; called by the channel when its last subscriber has left."""
        self._touch()

    # -- what the supervisor asks of it -------------------------------------------------------------

    async def begin(self) -> None:
        """Load the owner's state and become live; no task is left behind.

        Raises: NotFound for no such owner, Fenced when another node has its shard, or has had it meanwhile, other
        PersistenceErrors when rows cannot be read. Cancellation leaves the actor without an activation.
        """
        activation = await load(
            self.kind,
            self.id,
            self._runtime,
            mailbox=self.mailbox,
            owner=self,
            restarts=self._restarts,
        )
        try:
            shown = None if self._copied_version is None or self.shows_outdated else self.channel
            if shown is not None and await tell_missed(self._runtime, shown, activation):
                self._copied_version = activation.version
            activation.check_fence()
        except BaseException:
            activation.end()
            raise
        self.activation = activation
        self._runtime.counters.activations += 1
        self._touch()
        self._attach()
        self.shows_outdated = False
        self._waiting.wake(None)
        if self._runtime.followed is not None:
            place = activation.epoch, activation.version
            self._runtime.followed.begun(self.kind.name, self.id, place)
        activation.look()
        if self._closing:
            self._retire_soon()

    def failed(self, error: Exception) -> None:
        """Receive the error that has ended the activation; a task loads the next one when it is wanted."""
        self.stopped(error)
        self._runtime.start(supervise, self, error)

    def stopped(self, error: Exception) -> None:
        """Answer the letters of the activation that failed with its error; when a load failed, all that wait.

        Where another node has had the shard while it was loaded, nothing was done for those who wait: they go on
        waiting, or to where the owner is (`move_on`).
        """
        self._history().stopped(error)
        if self.activation is None and isinstance(error, Fenced) and self._runtime.followed is not None:
            return
        self._end_activation(error if isinstance(error, PersistenceError | Refused) else Fault())

    async def wait_reactivation(self, error: Exception) -> bool:
        """After a failed activation or load: pause, then wait for a letter, a waiting caller or a subscriber.

        After a turn of unknown outcome nothing is waited for: until the actor is loaded, that turn may be committed
        unseen. Returns False when the actor may leave the directory instead: there is no such owner, another node has
        it, it is closing, or its faults are forgiven. Cancellation ends the wait and changes nothing.
        """
        if isinstance(error, NotFound):
            if self.channel is not None:
                self.channel.end(error.code)
            return False
        if isinstance(error, Fenced) and self._runtime.followed is not None and not self._is_ours:
            return False
        self._runtime.counters.restarts += 1
        now_ms = self._runtime.clock.now_ms()
        restarts = self._history()
        pause_ms = restarts.restart(error, now_ms)
        _log.warning(
            "actor_stopped", kind=self.kind.name, id=self.id, why=restarts.last_error, pause_ms=pause_ms
        )
        if self.parked_until_ms > now_ms:
            self._fail(Parked())
        tried = restarts.is_unsure and not isinstance(error, OutcomeUnknown)
        if not isinstance(error, BLAMELESS) or self._subscribed or tried:
            await self._pause_until(now_ms + pause_ms)
        while not (len(self.mailbox) or len(self._waiting) or self._subscribed or restarts.is_unsure):
            if self._closing or restarts.forgiven(self._runtime.clock.now_ms()):
                return False
            await self._wait_poked()
        return not self._closing

    def move_on(self, forward: Callable[[Letter], None]) -> None:
        """Have waiting letters and callers look for the owner on the node where it is now.

        Args:
            forward: takes each letter that was not drained, in order.
        """
        for letter in self.mailbox.drain(len(self.mailbox)):
            forward(letter)
        self._waiting.wake(None)

    def gone(self) -> None:
        """Leave the directory and answer what still waits with Draining, also when the system was stopped midway."""
        self.is_gone = True
        self._leave(self)
        self._end_activation(Draining())
        self._fail(Draining())
        if self.channel is not None:
            self.channel.part()

    # -- in between ---------------------------------------------------------------------------------

    def _history(self) -> Restarts:
        if self._restarts is None:
            self._restarts = Restarts()
        return self._restarts

    def _retire_soon(self) -> None:
        if self.activation is None:
            self.poke()
        elif not self._retiring:
            self._retiring = True
            self._runtime.start(self._retire, self.activation)

    async def _retire(self, activation: Activation) -> None:
        """Finish what waits, save a snapshot and leave; or stay, if the actor is wanted after all."""
        try:
            while self._may_go(activation):
                await activation.wait_rest()
                await activation.save()
                # A letter or a viewer may have come while the snapshot was written, or just before.
                if self._may_go(activation) and activation.rests and not len(self.mailbox):
                    self._runtime.counters.passivations += 1
                    self.gone()
        finally:
            self._retiring = False

    def _may_go(self, activation: Activation) -> bool:
        return self.activation is activation and (
            self._closing or self._unwanted(self._runtime.clock.now_ms())
        )

    def _attach(self) -> None:
        activation, channel = self.activation, self.channel
        if activation is not None and channel is not None:
            activation.channel = channel
            copied, self._copied_version = self._copied_version, None
            stale = self.shows_outdated or (copied is not None and copied != activation.version)
            channel.attach(activation.epoch, activation.seq, activation.state, stale=stale)

    def _end_activation(self, failure: Failure) -> None:
        activation, self.activation = self.activation, None
        if activation is None:
            # It failed while loading: callers that wait would only meet the same error again.
            self._fail(failure)
            return
        activation.end()
        if self.channel is not None:
            self.channel.detach()
        for letter in activation.letters:
            letter.close(Answer(None, failure_of(letter, failure)))

    def _fail(self, failure: Failure) -> None:
        for letter in self.mailbox.drain(len(self.mailbox)):
            letter.close(Answer(None, failure))
        self._waiting.wake(failure)

    async def _pause_until(self, until_ms: int) -> None:
        while not self._closing and (left_ms := until_ms - self._runtime.clock.now_ms()) > 0:
            with trio.move_on_after(left_ms / 1000):
                await self._wait_poked()

    async def _wait_poked(self) -> None:
        self._sleeping = OneShot()
        try:
            await self._sleeping.wait()
        finally:
            self._sleeping = None

    @property
    def _is_ours(self) -> bool:
        """Whether this node owns its shard."""
        placement = self._runtime.placement
        return placement.shard_of(self.kind.name, self.id) in placement.held()

    @property
    def _subscribed(self) -> bool:
        return self.channel is not None and len(self.channel) > 0

    def _unwanted(self, now_ms: int) -> bool:
        return (
            not (self._subscribed or len(self._waiting))
            and now_ms - self._last_active_ms() >= self._runtime.idle_ms
        )

    def _last_active_ms(self) -> int:
        return self._active_ms if self.activation is None else max(self._active_ms, self.activation.active_ms)

    def _touch(self) -> None:
        self._active_ms = self._runtime.clock.now_ms()
