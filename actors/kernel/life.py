"""One life of an owner: from the state that was loaded to its retirement, or to the failure that ends it.

A turn: drain the mailbox, decide on a scratch state, hand the events to the writer, wait for the outcome.
Only then the scratch state is the state, callers are answered, and frames go out, in this order and without
waiting between.

    outcome                      callers get     the state
    committed                    their answers   moves on
    DatabaseUnavailable,         the error       stays, the life goes on: nothing was changed
      QueueFull
    RowsRejected                 the error       stays; of several letters each is first tried alone, so that
                                                 only the culprit fails
    OutcomeUnknown, HeadMoved,   the error       is not to be trusted any more: this life ends
      Fenced
"""

from functools import partial
from typing import Any

import structlog
import trio

from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Letter, Mailbox
from actors.kernel.parked import Parked
from actors.kernel.recovery import Recovered, save
from actors.kernel.supervisor import Contained
from actors.kernel.turn import TURN_LETTERS, Draft
from actors.kernel.world import World
from persistence.errors import Fenced, HeadMoved, OutcomeUnknown, PersistenceError, RowsRejected
from persistence.turn import Turn

_log = structlog.get_logger(__name__)

# A snapshot is kept after so many turns, so that a load never has many events to apply.
SNAPSHOT_TURNS = 256

# After these the state in memory is not to be trusted, or no longer ours.
ENDING = (OutcomeUnknown, Fenced, HeadMoved)

# Timers are set no further ahead than this, because they cannot be taken back and hold on to the state.
HORIZON_MS = 60_000

# A deadline that stands still although `expire` was posted, or whose turn failed, rings again after this.
RING_AGAIN_MS = 1_000


class Life:
    """The state of an owner and the turns that change it.

    Args:
        kind, id: whose.
        world: what all actors share.
        mailbox: the owner's; it outlives this life.
        recovered: the committed state to start from.
        fence: under which the turns are written.
    """

    __slots__ = (
        "_armed_ms", "_due_ms", "_fence", "_head_due_ms", "_head_stale", "_id", "_kind", "_lost", "_mailbox",
        "_rung_ms", "_shard", "_unsaved", "_world", "active_ms", "channel", "epoch", "letters", "seq",
        "state",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind[Any, Any],
        id: str,
        world: World,
        *,
        mailbox: Mailbox,
        recovered: Recovered,
        fence: int,
    ) -> None:
        self._kind = kind
        self._id = id
        self._world = world
        self._mailbox = mailbox
        self._shard = world.placement.shard_of(kind.name, id)
        self._fence = fence
        self.state = recovered.state
        self.seq = recovered.seq
        self.epoch = recovered.epoch
        self.channel: Channel | None = None
        # the letters of the turn under way
        self.letters: list[Letter] = []
        self.active_ms = world.clock.now_ms()
        self._unsaved = 1 if recovered.from_rows else 0
        self._lost: PersistenceError | None = None
        self._due_ms = kind.due(self.state)
        self._head_due_ms = recovered.due_at_ms
        self._head_stale = self._head_due_ms != self._due_ms
        self._armed_ms: int | None = None
        self._rung_ms = -1

    def lose(self, why: PersistenceError) -> None:
        """End this life before its next turn: another node owns the actor now."""
        self._lost = why
        self._mailbox.poke()

    def heed(self) -> None:
        """The head row names a deadline that has passed: if it is not the state's, write it anew."""
        self._head_stale = self._head_due_ms != self._due_ms
        if self._head_stale:
            self._mailbox.poke()

    async def run_until_idle(self) -> None:
        """Take turns until there are no letters. Raises what ends this life."""
        self._arm()
        while True:
            if self._lost is not None:
                raise self._lost
            self.letters = self._mailbox.drain(TURN_LETTERS)
            if not self.letters and not self._head_stale:
                return
            await self._take(self.letters)
            self.letters = []
            self._arm()
            if self._unsaved >= SNAPSHOT_TURNS:
                await self.save()

    async def save(self) -> None:
        """Keep a snapshot if anything has changed since the last. It is a cache: failures are logged."""
        if not self._unsaved:
            return
        with Contained("saving a snapshot", self._kind.name, self._id) as saving:
            world = self._world
            state = self._kind.dump(self.state)
            try:
                await world.store.transact(save, world.journal, self._kind, self._id, (self.seq, state))
                self._unsaved = 0
            except PersistenceError as failure:
                self._unsaved = 1
                _log.warning(
                    "snapshot_not_saved", kind=self._kind.name, id=self._id, why=type(failure).__name__
                )
        if saving.fault is not None:
            self._unsaved = 1

    # -- turns --------------------------------------------------------------------------------------

    async def _take(self, letters: list[Letter]) -> None:
        world = self._world
        self.active_ms = world.clock.now_ms()
        draft = Draft(self._kind, self._id, self.state, seq=self.seq, now_ms=self.active_ms)
        for letter in letters:
            await draft.consider(letter, world.store)
        world.counters.turns += 1
        world.counters.letters += len(letters)
        turn = draft.turn(self._shard, self._fence, even_if_empty=self._head_stale)
        self._head_stale = False
        if turn is None:
            # Nothing waited here. A flood of such letters must not keep the thread.
            if len(self._mailbox):
                await trio.lowlevel.checkpoint()
        else:
            failure = await self._commit(turn)
            if isinstance(failure, RowsRejected) and len(draft.answers) > 1:
                await self._take_singly(letters)
                return
            if failure is not None:
                draft.fail(failure)
                if isinstance(failure, ENDING):
                    raise failure
                return
            self._head_due_ms = turn.due_at_ms
            self._unsaved += 1
        self._settle(draft)

    async def _take_singly(self, letters: list[Letter]) -> None:
        for letter in letters:
            letter.decided = False
            await self._take([letter])

    async def _commit(self, turn: Turn) -> PersistenceError | None:
        outcome: Parked[PersistenceError | None] = Parked()
        self._world.counters.commits += 1
        try:
            self._world.store.submit(turn, outcome.wake)
        except PersistenceError as full:
            return full
        return await outcome.wait()

    def _settle(self, draft: Draft) -> None:
        """The outcome is there: first the state, then the callers, then everybody else."""
        self.state = draft.state
        self.seq += len(draft.journal)
        self._due_ms = self._kind.due(self.state)
        draft.tell()
        if self.channel is not None:
            self._publish(self.channel, draft)
        for _, event in draft.events:
            for view, ids in self._kind.touches(self.state, event):
                self._world.touched(view, ids, self._id)

    def _publish(self, channel: Channel, draft: Draft) -> None:
        events = draft.events
        if not events:
            channel.state = self.state
            return
        channel.publish(
            self.state,
            events,
            moves=any(event.moves_audience for _, event in events),
            reframing=sum(event.reframes for _, event in events),
        )

    # -- the deadline -------------------------------------------------------------------------------

    def _arm(self) -> None:
        """Have the timer ring at the state's deadline, or on the way to it, if it does not already."""
        if self._due_ms is None:
            return
        due_ms = min(self._due_ms, self._world.clock.now_ms() + HORIZON_MS)
        if due_ms <= self._rung_ms:
            due_ms = self._rung_ms + RING_AGAIN_MS
        if self._armed_ms is None or due_ms < self._armed_ms:
            self._armed_ms = due_ms
            self._world.timers.at(due_ms, partial(self._ring, due_ms))

    def _ring(self, armed_ms: int) -> None:
        if self._armed_ms != armed_ms:
            return
        self._armed_ms = None
        now_ms = self._world.clock.now_ms()
        if self._due_ms is not None and self._due_ms <= now_ms:
            self._rung_ms = now_ms
            self._mailbox.tell(self._kind.expire(self.state, now_ms))
        else:
            self._arm()

    def end(self) -> None:
        """Ring no more."""
        self._armed_ms = None
        self._due_ms = None
