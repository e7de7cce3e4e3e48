"""An owner as the system knows it: what outlives its activations, and the way from one activation to the next.

Mailbox, channel and restart policy belong here, because letters and subscribers stay through a restart. `activation`
is set exactly while a committed state is in memory; without one, letters wait in the mailbox for the next.
"""

from collections.abc import Callable
from typing import Any

import structlog
import trio

from actors.errors import Draining, NotFound, Overloaded, Refused
from actors.kernel.activation import Activation
from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer, Failure, Letter, Mailbox, told_at_end
from actors.kernel.nodes.heirs import tell_missed
from actors.kernel.observed import ObservedActivation, ObservedMailbox
from actors.kernel.one_shot import OneShot
from actors.kernel.recovery import recover, seal
from actors.kernel.restart_policy import RestartPolicy
from actors.kernel.runtime import Runtime
from actors.kernel.statistics import ActorStatistics
from actors.kernel.supervisor import Fault, supervise
from persistence.errors import DatabaseUnavailable, Fenced, OutcomeUnknown, PersistenceError

_log = structlog.get_logger(__name__)

# Pause before an actor with subscribers is loaded again when the database could not answer: everything has to work
# again within two seconds of the database's return.
RELOAD_MS = 500

# Failures that are not the fault of the actor, and do not count towards its restart policy.
BLAMELESS = (DatabaseUnavailable, Fenced)


class Actor:
    """One owner in the directory, with or without an activation.

    Args:
        kind, id: of the owner.
        runtime: what all actors share.
        leave: called with this actor when it leaves the directory for good.
    """

    __slots__ = (
        "_active_ms", "_closing", "_copied_version", "_last_error", "_leave", "_restart_policy", "_restarts",
        "_retiring", "_runtime", "_sleeping", "_unsure", "_waiting", "activation", "channel", "id", "is_gone", "kind",
        "mailbox",
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
        # made with the first fault: most have none, and there are thousands
        self._restart_policy: RestartPolicy | None = None
        self._waiting: list[OneShot[Failure | None]] = []
        self._active_ms = runtime.clock.now_ms()
        self._closing = False
        # which version subscribers have been shown who were here before it; None when there were none
        self._copied_version: int | None = None
        self.is_gone = False
        # True while a task retires the actor; what the task that waits for the next activation sleeps on
        self._retiring = False
        self._sleeping: OneShot[None] | None = None
        self._restarts = 0
        self._last_error: str | None = None
        # the last turn has an unknown outcome: until the head is sealed, it may still be committed
        self._unsure = False

    # -- what the system asks of it -----------------------------------------------------------------

    @property
    def parked_until_ms(self) -> int:
        """Epoch milliseconds until which repeated faults have it refuse every command; 0 when it never was parked."""
        return self._restart_policy.parked_until_ms if self._restart_policy is not None else 0

    def poke(self) -> None:
        """Have the actor look for work: a letter has come, or something else has changed."""
        if self.activation is not None:
            self.activation.look()
        elif self._sleeping is not None:
            self._sleeping.wake(None)

    async def wait_loaded(self) -> None:
        """Wait until the actor has an activation.

        Raises why it has none: NotFound for no such owner, a PersistenceError, Fault, Overloaded when it is parked,
        or Draining. Cancellation ends only this wait; loading goes on.
        """
        waiter: OneShot[Failure | None] = OneShot()
        self._waiting.append(waiter)
        self.poke()
        try:
            failure = await waiter.wait()
        finally:
            # A waiter that leaves must not keep the actor from retiring.
            if waiter in self._waiting:
                self._waiting.remove(waiter)
        if failure is not None:
            raise failure

    def open_channel(self) -> Channel:
        """Return the channel of a live actor, made at the first call."""
        if self.channel is None:
            runtime = self._runtime
            self.channel = Channel(
                self.kind, self.id, counters=runtime.counters, start=runtime.start, owner=self
            )
            self._attach()
        return self.channel

    def take_channel(self, channel: Channel, version: int) -> None:
        """Take over subscribers who were shown a copy, before the actor is loaded.

        Args:
            channel: theirs.
            version: of the state that they were shown; -1 for none.
        """
        self.channel, self._copied_version = channel, version
        channel.belong_to(self)
        channel.detach()

    def part_with_channel(self) -> None:
        """Leave the subscribers to somebody else."""
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
        """End the activation, because its shard belongs to another node now."""
        if self.activation is not None:
            self.activation.lose(Fenced(f"{self.kind.name} {self.id} has another owner"))

    def hurry(self, soon_ms: int) -> None:
        """Answer callers whose deadline (epoch milliseconds) is before `soon_ms`.

        They get OutcomeUnknown when their letter was decided in the turn under way, otherwise Overloaded.
        """
        if self.activation is not None:
            for letter in self.activation.letters:
                if letter.deadline_ms < soon_ms and letter.open:
                    self._overdue(
                        letter, OutcomeUnknown("no answer in time") if letter.decided else Overloaded()
                    )
        if len(self.mailbox):
            for letter in self.mailbox:
                if letter.deadline_ms < soon_ms and letter.open:
                    self._overdue(letter, Overloaded())

    def wanted(self, now_ms: int) -> None:
        """Note that the owner is being read, so that it stays live."""
        self._active_ms = now_ms

    def retire_if_idle(self, now_ms: int) -> None:
        """Begin to retire the actor if it has had no command, reader or subscriber for the idle time."""
        if self._unwanted(now_ms):
            self._retire_soon()

    def statistics(self, now_ms: int) -> ActorStatistics:
        """Return its row for the list of actors."""
        return ActorStatistics(
            kind=self.kind.name,
            id=self.id,
            mailbox=len(self.mailbox),
            subscribers=len(self.channel) if self.channel is not None else 0,
            restarts=self._restarts,
            last_error=self._last_error,
            offset=self.activation.seq if self.activation is not None else 0,
            idle_ms=now_ms - self._last_active_ms(),
        )

    def unwatched(self) -> None:
        """Start the idle time; called by the channel when its last subscriber has left."""
        self._touch()

    # -- what the supervisor asks of it -------------------------------------------------------------

    async def begin(self) -> None:
        """Load the owner's state and become live; no task is left behind.

        Raises: NotFound for no such owner, Fenced when another node has its shard, other PersistenceErrors when rows
        cannot be read. Cancellation leaves the actor without an activation.
        """
        activation = await self._load()
        shown = None if self._copied_version is None else self.channel
        if shown is not None and await tell_missed(self._runtime, shown, activation):
            self._copied_version = activation.version
        self.activation = activation
        self._runtime.counters.activations += 1
        self._touch()
        self._attach()
        self._wake(None)
        if self._runtime.followed is not None:
            place = activation.epoch, activation.version
            self._runtime.followed.begun(self.kind.name, self.id, place)
        activation.look()
        if self._closing:
            self._retire_soon()

    def stopped(self, error: Exception) -> None:
        """Answer the letters of the activation that failed with its error; when a load failed, all that wait."""
        if isinstance(error, OutcomeUnknown | Fenced):
            # What another owner may have committed, or not, is not for us to find out.
            self._unsure = isinstance(error, OutcomeUnknown)
        self._end_life(error if isinstance(error, PersistenceError | Refused) else Fault())

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
        self._restarts += 1
        self._last_error = type(error).__name__
        self._runtime.counters.restarts += 1
        blameless = isinstance(error, BLAMELESS)
        now_ms = self._runtime.clock.now_ms()
        pause_ms = RELOAD_MS if blameless else self._strike(now_ms)
        _log.warning(
            "actor_stopped", kind=self.kind.name, id=self.id, why=self._last_error, pause_ms=pause_ms
        )
        if self.parked_until_ms > now_ms:
            self._fail(Overloaded())
        tried = self._unsure and not isinstance(error, OutcomeUnknown)
        if not blameless or self._subscribed or tried:
            await self._pause_until(now_ms + pause_ms)
        while not (len(self.mailbox) or self._waiting or self._subscribed or self._unsure):
            if self._closing or self._forgiven():
                return False
            await self._wait_poked()
        return not self._closing

    def gone(self) -> None:
        """Leave the directory and answer what still waits with Draining, also when the system was stopped midway."""
        self.is_gone = True
        self._leave(self)
        self._end_life(Draining())
        self._fail(Draining())
        if self.channel is not None:
            self.channel.part()

    # -- in between ---------------------------------------------------------------------------------

    async def _load(self) -> Activation:
        runtime = self._runtime
        shard = runtime.placement.shard_of(self.kind.name, self.id)
        fence = runtime.placement.fence(shard)
        async with runtime.loads:
            if self._unsure:
                await runtime.store.transact(seal, runtime.journal, self.kind, self.id, (shard, fence))
                self._unsure = False
            recovered = await runtime.store.read(recover, runtime.journal, self.kind, self.id)
        if recovered is None:
            raise self.kind.unknown
        opened = Activation if runtime.observer is None else ObservedActivation
        return opened(
            self.kind,
            self.id,
            runtime,
            mailbox=self.mailbox,
            recovered=recovered,
            fence=fence,
            failed=self._failed,
        )

    def _failed(self, error: Exception) -> None:
        """Receive the error that has ended the activation; a task loads the next one when it is wanted."""
        self.stopped(error)
        self._runtime.start(supervise, self, error)

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
            stale = copied is not None and copied != activation.version
            channel.attach(activation.epoch, activation.seq, activation.state, stale=stale)

    def _end_life(self, failure: Failure) -> None:
        activation, self.activation = self.activation, None
        if activation is None:
            # It failed while loading: callers that wait would only meet the same error again.
            self._fail(failure)
            return
        activation.end()
        if self.channel is not None:
            self.channel.detach()
        for letter in activation.letters:
            letter.close(Answer(None, told_at_end(letter, failure)))

    def _fail(self, failure: Failure) -> None:
        for letter in self.mailbox.drain(len(self.mailbox)):
            letter.close(Answer(None, failure))
        self._wake(failure)

    def _wake(self, failure: Failure | None) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            waiter.wake(failure)

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

    def _strike(self, now_ms: int) -> int:
        if self._restart_policy is None:
            self._restart_policy = RestartPolicy()
        return self._restart_policy.failed(now_ms)

    def _forgiven(self) -> bool:
        return self._restart_policy is None or self._restart_policy.forgiven(self._runtime.clock.now_ms())

    def _overdue(self, letter: Letter, failure: Failure) -> None:
        self._runtime.counters.overdue += 1
        letter.close(Answer(None, failure))

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
            not (self._subscribed or self._waiting)
            and now_ms - self._last_active_ms() >= self._runtime.idle_ms
        )

    def _last_active_ms(self) -> int:
        return self._active_ms if self.activation is None else max(self._active_ms, self.activation.active_ms)

    def _touch(self) -> None:
        self._active_ms = self._runtime.clock.now_ms()
