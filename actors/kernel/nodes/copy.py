"""One owner of another node as this one shows it: a channel whose state follows the owner's turns.

A state has a name: the epoch of its history, and the version, which rises by one with each turn that is in rows. So a
copy knows what it lacks, whatever was lost, repeated or told by a former owner:

    a turn that is          then
    the next one            it is applied, and told to those who watch here
    one that was had        it is passed over
    further on              what lies between is missing: the copy is renewed
    not in rows (typing)    it is applied where the copy stands at its version; nothing is missing without it

    phase      turns                           ends with
    ASKING     the next is applied, others     the owner's node tells of it from now on: WHOLE where it stands where the
               wait                            copy does, else READING
    READING    wait                            rows were read, and what waited was applied: WHOLE
    WHOLE      are applied                     one is missing, or somebody else has the owner: ASKING
"""

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import trio

from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind, Moved, moved_by
from actors.kernel.mailbox import Failure
from actors.kernel.nodes.entries import Turned
from actors.kernel.one_shot import OneShot
from actors.kernel.recovery import Recovered
from actors.kernel.supervisor import attempt

EARLY_TURNS = 1_024
EARLY_BYTES = 1024 * 1024
"""Most turns, and most of their bytes, that wait while rows are read; with more, the copy asks and reads anew."""


class Phase(Enum):
    """What a copy waits for."""

    ASKING = "the owner's node has not said yet that it tells of the owner"
    READING = "rows are to be read"
    WHOLE = "nothing"


class Copy:
    """A copy, and the callers who wait for its state.

    Args:
        kind, id: the owner's kind and id.
        shard: the owner's shard.
        open_channel: makes the channel of this copy, or takes over one that is there.
        decode: decodes the events of the kind.

    Attributes:
        channel: the channel of its subscribers here, whose epoch, offset and state are the copy's.
        version: the version of the state; -1 while there is none.
        phase: what the copy waits for (the module's second table).
        asked_of: the node that was asked to tell of the owner; None while none was.
        round: rises whenever the phase becomes ASKING, so that what was read before counts no more.
        since, asked, answered: numbers of the first question of the round, of the last one, and of the last answered.
        changes, changes_read: how many changes of its rows otherwise than by turns are known, and how many of them its
            state has.
        anew_at: for when reading anew because of such a change was last planned, on trio's clock.
        unwatched_at: since when nobody watches it, on trio's clock; None while somebody does.
    """

    __slots__ = (
        "_decode", "_early", "_early_bytes", "anew_at", "answered", "asked", "asked_of", "changes", "changes_read",
        "channel", "id", "kind", "phase", "round", "shard", "since", "unwatched_at", "version", "waiters",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind[Any, Any],
        id: str,
        shard: int,
        open_channel: Callable[["Copy"], Channel],
        decode: Callable[[bytes], Any],
    ) -> None:
        self.kind = kind
        self.id = id
        self.shard = shard
        self.channel = open_channel(self)
        self.version = -1
        self.changes = self.changes_read = 0
        self.anew_at = -math.inf
        self.phase = Phase.ASKING
        self.asked_of: str | None = None
        self.round = 0
        self.since = self.asked = self.answered = 0
        self.unwatched_at: float | None = None
        # (number of the question whose answer is waited for, the waiter)
        self.waiters: list[tuple[int, OneShot[Failure | None]]] = []
        self._decode = decode
        self._early: list[Turned] = []
        self._early_bytes = 0

    @property
    def place(self) -> tuple[str, int]:
        """The name of its state: epoch and version; the version is -1 without a state, or where rows differ from it."""
        return self.channel.epoch, -1 if self.is_outdated else self.version

    @property
    def is_outdated(self) -> bool:
        """Whether its rows were changed otherwise than by turns since they were read."""
        return self.changes > self.changes_read

    @property
    def is_watched(self) -> bool:
        """Whether somebody subscribes to it, or is about to."""
        return len(self.channel) > 0 or bool(self.waiters)

    @property
    def reach(self) -> int:
        """The version that the copy will have once the turns that wait are applied."""
        version = self.version
        for turned in self._early:
            if turned.is_durable and (turned.epoch, turned.version) == (self.channel.epoch, version + 1):
                version += 1
        return version

    def unwatched(self) -> None:
        """Note that the last subscriber has left; called by the channel."""
        self.unwatched_at = trio.current_time()

    def begin_anew(self) -> None:
        """Ask again: something is missing, or somebody else has the owner."""
        self.phase = Phase.ASKING
        self.asked_of = None
        self.round += 1
        self.since = self.asked + 1
        self._early, self._early_bytes = [], 0

    def wake(self, failure: Failure | None, *, upto: int | None = None) -> None:
        """Have callers who wait for the state go on, or fail.

        Args:
            failure: why they fail; None when they do not.
            upto: the number of the last question that is answered; None for all.
        """
        waiting, self.waiters = self.waiters, []
        for number, waiter in waiting:
            if upto is None or number <= upto:
                waiter.wake(failure)
            else:
                self.waiters.append((number, waiter))

    # -- turns --------------------------------------------------------------------------------------

    def take(self, turned: Turned) -> bool:
        """Take in a turn; returns False when something is missing before it, or it cannot be understood."""
        if self.phase is Phase.WHOLE:
            return self._apply(turned)
        if self.phase is Phase.ASKING and self.is_next(turned):
            return self._apply(turned)
        self._early.append(turned)
        self._early_bytes += sum(map(len, turned.events))
        return len(self._early) <= EARLY_TURNS and self._early_bytes <= EARLY_BYTES

    def is_next(self, turned: Turned) -> bool:
        """Whether a turn in rows is the one after the copy's state."""
        return turned.is_durable and (turned.epoch, turned.version) == (self.channel.epoch, self.version + 1)

    def catch_up(self) -> bool:
        """Become WHOLE and apply the turns that have waited; returns False when a turn between is missing."""
        self.phase = Phase.WHOLE
        early, self._early, self._early_bytes = self._early, [], 0
        return all(self._apply(turned) for turned in early)

    def _apply(self, turned: Turned) -> bool:
        if turned.epoch != self.channel.epoch:
            return False
        if turned.version <= self.version:
            if turned.is_durable or turned.version < self.version:
                return True  # it was had
        elif not self.is_next(turned):
            return False
        applied = attempt("following an owner", self.kind.name, self.id, self._publish, turned) is None
        if applied:
            self.version = turned.version
        return applied

    def _publish(self, turned: Turned) -> None:
        kind, state = self.kind, self.channel.state
        offset = self.channel.offset
        placed: list[tuple[int | None, Any]] = []
        journal: list[bytes] = []
        moves = False
        for data in turned.events:
            event = self._decode(data)
            before, state = state, kind.apply(state, event)
            if event.is_in_state and state == before:
                continue  # it was read with the rows, and shown then
            if event.journaled:
                offset += 1
                journal.append(data)
            placed.append((offset if event.journaled else None, event))
            moves = moves or event.moves_audience
        self._tell(state, placed, journal, moves=moved_by([event for _, event in placed]) if moves else False)

    def _tell(
        self, state: Any, events: list[tuple[int | None, Any]], journal: Sequence[bytes], *, moves: Moved
    ) -> None:
        reframing, rewrites = 0, False
        for _, event in events:
            reframing += event.reframes
            rewrites = rewrites or event.rewrites
        sizes = map(len, journal)
        self.channel.publish(state, events, moves=moves, reframing=reframing, sizes=sizes, rewrites=rewrites)
        self._tell_followers(state, events)

    def _tell_followers(self, state: Any, events: Sequence[tuple[int | None, Any]]) -> None:
        followers = self.kind.followers
        if followers is not None and followers.on_copied is not None:
            for _, event in events:
                followers.on_copied(state, event)

    # -- rows ---------------------------------------------------------------------------------------

    def renew(self, recovered: Recovered, missed: Sequence[tuple[int, Any]] | None, changes: int) -> None:
        """Take the state that was read. Those who watch get the events between, or a snapshot where they are not known.

        Args:
            recovered: the owner's state in rows, at the copy's version or beyond it.
            missed: the journal's events after the channel's offset, in order; None when they are not known.
            changes: the copy's `changes` when the rows began to be read.
        """
        channel, unshown = self.channel, self._unshown(recovered)
        known = [(offset, event) for offset, event in missed or () if offset <= recovered.seq]
        follows = channel.epoch == recovered.epoch and len(known) == recovered.seq - channel.offset
        is_hidden = self.is_outdated and self.kind.unshown is None
        follows = follows and not is_hidden
        had, self.version = (channel.epoch, -1 if is_hidden else self.version), recovered.version
        self.changes_read = changes
        if known and follows and len(channel):
            if not channel.live:  # it was taken over while its owner was being restarted
                channel.attach(channel.epoch, channel.offset, channel.state)
            # Turns without an offset are among what was missed, so anybody may see something else now.
            self._tell(recovered.state, [*known, *unshown], (), moves=True)
        else:
            stale = had != (recovered.epoch, recovered.version)
            channel.attach(recovered.epoch, recovered.seq, recovered.state, stale=stale)
            if stale:
                self._tell_followers(recovered.state, [(None, None)])
            if unshown:
                self._tell(recovered.state, unshown, (), moves=False)

    def _unshown(self, recovered: Recovered) -> list[tuple[int | None, Any]]:
        """What no event of the journal and no snapshot says of a state that was read, to those who watch."""
        kind, channel = self.kind, self.channel
        if kind.unshown is None or channel.epoch != recovered.epoch:
            return []
        return [(None, event) for event in kind.unshown(channel.state, recovered.state)]
