"""One activation of an owner: from the loaded state to its retirement, or to the failure that ends it.

A turn drains the mailbox, decides on a scratch state, hands the events to the writer, and takes effect once they are
committed. Only then does the scratch state become the state, callers are answered and subscribers are sent what
changed, in this order and in one synchronous step. An activation has no task: the scheduler calls `step` whenever
something can be done.

All of a turn is decided on the rows as they were before it. A letter that needs rows which its turn has changed
therefore ends the turn in front of itself: the turn is submitted as it is, and that letter and those drained behind
it are carried over. They come first in the next turn, in their order, before letters that arrived in the mailbox
meanwhile. Until then they are `letters` of this activation like any other: they are answered if it ends, and
`wait_rest` waits for them; one whose caller has left is skipped, one whose deadline has passed is refused.

A turn also ends once a step has decided for `DECIDING_MS`: a letter may take ten milliseconds, and nobody else is
served meanwhile. So what is decided, committed and told at once is little, however much each letter brings.

    phase        what ends it                      then
    RESTING      a letter (`look`)                 decide
    READING      a task has read the rows that     decide on
                 a letter needs
    DECIDING     the next step                     COMMITTING, or settled at once when nothing is durable
    COMMITTING   the writer's outcome              SETTLING
    SETTLING     the next step                     RESTING
    ENDED        nothing

    outcome                      callers get     the state
    committed                    their answers   moves on
    DatabaseUnavailable,         the error       stays, the activation goes on: nothing was changed
      QueueFull
    RowsRejected                 the error       stays, and skips no optional lookups any more; each letter is first
                                                 tried again, alone, so that only the culprit fails
    OutcomeUnknown, HeadMoved,   the error       can no longer be trusted: this activation ends
      Fenced
"""

from collections.abc import Sequence
from typing import Any, Protocol

from actors.kernel.alarm import Alarm
from actors.kernel.announcement import announce, announce_unknown
from actors.kernel.clock import not_before
from actors.kernel.fanout import Channel
from actors.kernel.keeping import Keeping
from actors.kernel.kind import Kind
from actors.kernel.lookup import look_up
from actors.kernel.mailbox import Letter, Mailbox
from actors.kernel.recovery import Recovered
from actors.kernel.runtime import Runtime
from actors.kernel.turn import TURN_LETTERS, TurnDraft
from actors.kernel.waiters import Waiters
from persistence.errors import Fenced, HeadMoved, OutcomeUnknown, PersistenceError, RowsRejected

# After these the state in memory can no longer be trusted, or belongs to another node.
ENDING = (OutcomeUnknown, Fenced, HeadMoved)

# How long a step decides: several times what 64 ordinary letters take, and still a pause that nobody notices. By the
# injected clock, so that turns of simulated runs are the same again.
DECIDING_MS = 10

# The phases of an activation (table above). Plain numbers, because they are compared several times a turn.
RESTING, READING, DECIDING, COMMITTING, SETTLING, ENDED = range(6)


class Owner(Protocol):
    """The actor that an activation belongs to."""

    def failed(self, error: Exception, /) -> None:
        """The activation has ended with this error."""
        ...


class Activation:
    """The in-memory state of an owner, and the turns that change it.

    Args:
        kind, id: the owner's kind and id.
        runtime: what all actors of the system share.
        mailbox: the owner's mailbox, which outlives this activation.
        recovered: the committed state to start from.
        fence: the lease's fence, under which its turns are written.
        owner: told once of the error that ended the activation, unless `end` ended it.
    """

    __slots__ = (
        "_alarm",
        "_at",
        "_at_ms",
        "_carried",
        "_draft",
        "_fence",
        "_keeping",
        "_lost",
        "_mailbox",
        "_outcome",
        "_owner",
        "_phase",
        "_queued",
        "_resting",
        "_runtime",
        "_shard",
        "_singly",
        "_turn",
        "active_ms",
        "channel",
        "epoch",
        "id",
        "kind",
        "letters",
        "seq",
        "state",
        "version",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind[Any, Any],
        id: str,
        runtime: Runtime,
        *,
        mailbox: Mailbox,
        recovered: Recovered,
        fence: int,
        owner: Owner,
    ) -> None:
        self.kind = kind
        self.id = id
        self._runtime = runtime
        self._mailbox = mailbox
        self._shard = runtime.placement.shard_of(kind.name, id)
        self._fence = fence
        self._owner = owner
        self.state = recovered.state
        self.seq = recovered.seq
        self.version = recovered.version
        self.epoch = recovered.epoch
        # the time of the last turn, which the next one is not before
        self._at_ms = recovered.at_ms
        self.channel: Channel | None = None
        self.active_ms = runtime.clock.now_ms()
        self._phase = RESTING
        self._queued = False
        # the letters that a turn took from the mailbox, also those that are carried over or yet to be tried singly
        self.letters: Sequence[Letter] = ()
        # the turn under way: its letters, the index of the one being decided, the draft
        self._turn: Sequence[Letter] = ()
        self._at = 0
        self._draft: TurnDraft | None = None
        self._outcome: PersistenceError | None = None
        self._singly: Sequence[Letter] = ()
        self._carried: Sequence[Letter] = ()
        self._keeping = Keeping(kind, id, runtime, recovered)
        self._resting: Waiters[None] = Waiters()
        self._lost: PersistenceError | None = None
        self._alarm = Alarm(
            runtime.timers,
            runtime.clock,
            due_ms=kind.due(self.state),
            written_ms=recovered.due_at_ms,
            owner=self,
        )
        self._alarm.arm()

    # -- what its actor asks of it -------------------------------------------------------------------

    @property
    def rests(self) -> bool:
        """True when no turn is under way and no drained letter waits for one."""
        return self._phase == RESTING and not self.letters

    @property
    def committing(self) -> int:
        """The number of the turn that rows may have and the state has not, as `counters.commits` counts; 0 for none."""
        return 0 if self._draft is None else self._draft.commit_number

    def check_fence(self) -> None:
        """Return where this node has owned the shard all the time since the state began to be loaded.

        Raises:
            Fenced: another node has it, or has had it meanwhile, and may have committed what is not in the state.
        """
        if self._runtime.placement.fence(self._shard) != self._fence:
            raise Fenced(f"{self.kind.name} {self.id} was elsewhere while it was loaded")

    def look(self) -> None:
        """Enqueue a step with the scheduler, unless a turn is under way or a step is enqueued already."""
        if self._phase == RESTING and not self._queued:
            self._ready()

    def lose(self, why: PersistenceError) -> None:
        """End this activation before its next turn with the error `why`: another node owns the actor now."""
        self._lost = why
        self.look()

    def check_head(self) -> None:
        """Have the head row written again if the deadline in it, which has passed, is not that of the state."""
        self._alarm.check_head()
        if self._alarm.is_stale:
            self.look()

    def rung(self, now_ms: int) -> None:
        """Enqueue the kind's `expire` command, because the deadline of the state has come; called by the alarm."""
        if self.kind.deadlines is not None:
            self._mailbox.tell(self.kind.deadlines.expire(self.state, now_ms))
            self.look()

    async def wait_rest(self) -> None:
        """Wait until no turn is under way and no letter waits, or the activation has ended.

        Cancellation ends only the wait.
        """
        while self._phase != ENDED and (not self.rests or self._queued or len(self._mailbox)):
            await self._resting.wait()

    async def save(self) -> None:
        """Save a snapshot if the state has changed since the last one.

        Cancellation may leave it unsaved; nothing acknowledged depends on it.
        """
        await self._keeping.save(self.seq, self.state)

    def slim(self) -> None:
        """Hold less of the state in memory, and no events to be replayed; does nothing while a turn is under way."""
        if not self.rests:
            return
        if self.kind.slimming is not None:
            self.state = self.kind.slimming.slim(self.state)
        if self.channel is not None:
            self.channel.slim(self.state)

    def end(self) -> None:
        """Take no more turns, silence the alarm, and ignore what is still under way; letters are not answered here."""
        self._phase = ENDED
        self._draft = None
        self._alarm.silence()
        self._resting.wake(None)

    # -- turns --------------------------------------------------------------------------------------

    def step(self) -> None:
        """Begin a turn, or take the next step of the one under way. Called by the scheduler only."""
        self._queued = False
        if self._phase == ENDED:
            return
        if self._draft is None:
            self._take()
        elif self._phase == SETTLING:
            self._conclude(self._draft, self._outcome)
        elif self._phase == DECIDING:
            self._decide(self._draft, self._runtime.clock.now_ms())

    def fail(self, fault: Exception) -> None:
        """Report the error that ends this activation; also called by the scheduler, when a step raised."""
        if self._phase != ENDED:
            self._owner.failed(fault)

    def _take(self) -> None:
        """Begin a turn, if there is anything to decide."""
        if self._lost is not None:
            self.fail(self._lost)
            return
        if self._singly:
            self._turn, self._singly = self._singly[:1], self._singly[1:]
        else:
            carried, self._carried = self._carried, ()
            self._turn = self.letters = [*carried, *self._mailbox.drain(TURN_LETTERS - len(carried))] or ()
            if not (self._turn or self._alarm.is_stale):
                self._resting.wake(None)
                return
        self.active_ms = self._runtime.clock.now_ms()
        self._draft = TurnDraft(
            self.kind,
            self.id,
            self.state,
            seq=self.seq,
            version=self.version,
            now_ms=not_before(self.active_ms, self._at_ms),
            begun_at_ms=self.active_ms,
        )
        self._at = 0
        self._decide(self._draft, self.active_ms)

    def _decide(self, draft: TurnDraft, since_ms: int) -> None:
        """Decide the turn's letters, up to one that needs rows read or has to wait for the next turn.

        Args:
            draft: the draft of the turn.
            since_ms: when this step began, epoch milliseconds.
        """
        clock = self._runtime.clock
        for letter in self._turn[self._at :]:
            if self._at and clock.now_ms() - since_ms >= DECIDING_MS:
                self._cut()
                break
            draft.consider(letter)
            if draft.is_cut:
                self._cut()
                break
            if draft.needs is not None and self.kind.lookups is not None:
                self._phase = READING
                self._runtime.start(look_up, self._runtime, self.kind.lookups, draft, letter, self._looked_up)
                return
            self._at += 1
        self._submit(draft)

    def _cut(self) -> None:
        """End the turn before the letter under consideration; it is carried over with those behind it."""
        self._runtime.counters.cuts += 1
        self._turn, self._carried = self._turn[: self._at], self._turn[self._at :]

    def _looked_up(self) -> None:
        """Enqueue the rest of the turn, because the letter that needed rows was dealt with."""
        if self._phase == READING:
            self._at += 1
            self._phase = DECIDING
            self._ready()

    def _submit(self, draft: TurnDraft) -> None:
        """Hand the turn to the writer, or settle it when nothing of it is durable."""
        counters = self._runtime.counters
        counters.turns += 1
        counters.letters += len(self._turn)
        turn = draft.turn(self._shard, self._fence, even_if_empty=self._alarm.is_stale)
        self._alarm.is_stale = False
        if turn is None:
            self._settle(draft)
            self._rest()
            return
        counters.commits += 1
        draft.commit_number = counters.commits
        self._phase = COMMITTING
        try:
            self._runtime.store.submit(turn, self._committed)
        except PersistenceError as full:
            self._conclude(draft, full)

    def _committed(self, outcome: PersistenceError | None) -> None:
        """Receive the writer's outcome, in the trio thread."""
        if self._phase == COMMITTING:
            self._outcome = outcome
            self._phase = SETTLING
            self._ready()

    def _conclude(self, draft: TurnDraft, failure: PersistenceError | None) -> None:
        """Act on the outcome of the turn (the module's second table)."""
        if failure is None:
            self._keeping.committed(draft.journal)
            self._settle(draft)
        elif isinstance(failure, RowsRejected) and (self._distrust() or len(draft.answers) > 1):
            for letter in self._turn:
                letter.decided = False
            self._singly = self._turn
        else:
            draft.fail(failure)
            if isinstance(failure, ENDING):
                announce_unknown(self._runtime, self.kind, self.id)
                self.fail(failure)
                return
        self._rest()

    def _distrust(self) -> bool:
        """Stop skipping optional lookups, because rows were refused; False when none was skipped before."""
        trusted, lookups = self.state, self.kind.lookups
        if lookups is not None and lookups.distrust is not None:
            self.state = lookups.distrust(trusted)
        return self.state is not trusted

    def _settle(self, draft: TurnDraft) -> None:
        """Adopt the new state, answer the callers, then tell everybody else."""
        self.state = draft.state
        self.seq += len(draft.journal)
        self._at_ms = draft.now_ms
        self._alarm.move(draft.due_ms, written=draft.is_durable)
        self.version += draft.is_durable
        draft.tell()
        announce(self._runtime, draft, self.channel, self.epoch, self.version)

    def _rest(self) -> None:
        """End the turn; the next one follows at once if there is reason."""
        self._draft = None
        self._turn = ()
        if not self._singly:
            self.letters = self._carried
        self._phase = RESTING
        self._alarm.arm()
        if self._keeping.wants_snapshot:
            self._runtime.start(self.save)
        if self.letters or self._alarm.is_stale or self._lost is not None or len(self._mailbox):
            self.look()
        else:
            self._resting.wake(None)

    def _ready(self) -> None:
        self._queued = True
        self._runtime.scheduler.ready(self)
