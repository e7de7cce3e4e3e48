"""The group-commit writer: one connection, one transaction at a time, and in each all turns that wait.

It never waits for a batch to fill: turns that arrive during a commit are the next batch, so that the writer commits
singly when little happens and by the hundred when much does.

It runs in the asyncio thread, except for `submit`. The answers to a turn:

    None                 committed, and on disk
    Fenced, HeadMoved    its lease or its head has moved; the others of its batch are committed
    RowsRejected         its rows were refused; it alone fails (`isolating.py`)
    DatabaseUnavailable  no connection for seconds, or lost twice before COMMIT; nothing was changed
    OutcomeUnknown       the connection was lost, or gave no answer in time, after COMMIT was sent

A batch whose connection (`writer_connection.py`) is lost during the one statement that writes and commits it may have
been committed. It is tried once more all the same: a turn fits one position of its head only, so it cannot be committed
twice. If the second try is refused, the answer is `OutcomeUnknown`.

A refused batch costs its other turns one more transaction, however many are at fault. For a minute afterwards the
actors of refused turns share batches with each other alone (`suspects.py`), so that only they pay for more refusals.

Invariants: an actor has at most one turn in a batch, and its turns are committed in the order of `submit`. Every turn
is answered exactly once, also when the writer is closed.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from persistence.bridge.connector import Connector
from persistence.bridge.faults import CONNECT_FAULTS, is_busy, unavailable
from persistence.bridge.isolating import rejection
from persistence.bridge.suspects import Refusals, Suspects
from persistence.bridge.writer_connection import Broken, How, Undone, WriterConnection
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, PersistenceError, QueueFull, RowsRejected
from persistence.journal.turn import Turn

BATCH_TURNS = 2_000
"""Most turns in one transaction: some 50 ms of work, for which the first of them has to wait."""

PATIENCE = 0.6
"""How long a turn may wait for a connection, as a share of its deadline. The rest is for one attempt to connect, so
that the caller is told that nothing was changed before the deadline has passed."""

APART_TURNS = 256
"""Most turns in one transaction while those at fault are sought, since each turn may take a few round trips."""

RECONNECT_SECONDS = (0.02, 0.5)
"""First and longest pause between attempts to connect; it doubles. The longest bounds the time to heal."""

Done: TypeAlias = Callable[[PersistenceError | None], None]


@dataclass(slots=True)
class _Entry:
    """A submitted turn that is not answered yet.

    Args:
        since: when it was submitted, in seconds of the monotonic clock.
        tried: it was in a transaction whose connection was lost before COMMIT.
        may_have_landed: that transaction may have been committed.
    """

    turn: Turn
    done: Done
    since: float
    tried: bool = False
    may_have_landed: bool = False


class _Part(NamedTuple):
    """Turns that are committed together."""

    entries: list[_Entry]
    how: How


class GroupCommit:
    """The writer and its queue.

    Args:
        connector: opens connections, and ends the one that is idle.
        post: runs a function in the asyncio thread.
        hand_back: runs a function in the trio thread.
        on_lost: called when the connection was lost, could not be made, or gave no answer in time.
        limit: most turns in the queue; more are refused.
        timeout_seconds: how long a turn may take from `submit` to its answer.
    """

    def __init__(
        self,
        connector: Connector,
        *,
        post: Callable[[Callable[[], object]], None],
        hand_back: Callable[[Callable[[], object]], None],
        on_lost: Callable[[], None],
        limit: int,
        timeout_seconds: float,
    ) -> None:
        self._connector = connector
        self._post = post
        self._hand_back = hand_back
        self._on_lost = on_lost
        self._limit = limit
        self._timeout_seconds = timeout_seconds
        self._waiting: deque[_Entry] = deque()
        self._parts: list[_Part] = []  # the batch, whole or in pieces; the last is the one in flight
        self._suspects = Suspects()
        self._refusals = Refusals()
        self._connection: WriterConnection | None = None
        self._pause_seconds = RECONNECT_SECONDS[0]
        self._is_woken = False
        self._awake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self.transactions = 0
        self.turns = 0
        self.largest_batch = 0

    @property
    def waiting(self) -> int:
        """How many turns are queued, the batch in flight not counted."""
        return len(self._waiting)

    def submit(self, turn: Turn, done: Done) -> None:
        """Queue a turn, as described at `Database.submit`; the only function here to be called in the trio thread.

        Raises:
            QueueFull: `limit` turns wait already.
        """
        if len(self._waiting) >= self._limit:
            raise QueueFull(f"{self._limit} turns wait for the database")
        self._waiting.append(_Entry(turn, done, time.monotonic()))
        if not self._is_woken:
            self._is_woken = True
            self._post(self._wake)

    async def run(self) -> None:
        """Commit what is submitted until cancelled; cancellation answers everything that is left."""
        try:
            self._wake()
            while True:
                await self._awake.wait()
                self._awake.clear()
                # Before the queue is looked at: a turn that comes after the look wakes us again.
                self._is_woken = False
                while self._waiting:
                    await self._serve()
                if not self._awake.is_set():
                    self._idle.set()
        finally:
            self._close()

    async def drain(self) -> None:
        """Wait until no turn is queued or in flight.

        Cancellation ends the wait alone; what was submitted is still written.
        """
        await self._idle.wait()

    def _wake(self) -> None:
        self._idle.clear()
        self._awake.set()

    async def _serve(self) -> None:
        """Commit one batch; or, without a connection, make one attempt to connect."""
        if self._connection is None or self._connection.conn.is_closed():
            try:
                self._connection = WriterConnection(await self._connector.connect())
            except CONNECT_FAULTS as error:
                self._on_lost()
                self._give_up_on_old(error)
                await asyncio.sleep(self._pause_seconds)
                self._pause_seconds = min(self._pause_seconds * 2, RECONNECT_SECONDS[1])
                return
            self._pause_seconds = RECONNECT_SECONDS[0]
        self._parts = [_Part(self._next_batch(), How.WHOLE)]
        while self._parts:
            await self._commit_last_part(self._connection)

    def _next_batch(self) -> list[_Entry]:
        """Take the next turns from the queue, up to the limit, or up to one whose actor is in the batch already.

        If the first turn is a suspect's, only those of suspects; else only those of others. The rest keep their order.
        """
        suspects = self._suspects
        suspects.forgive()
        batch: list[_Entry] = []
        others: list[_Entry] = []
        actors: set[tuple[str, str]] = set()
        any_suspect = len(suspects) > 0
        apart = any_suspect and self._waiting[0].turn in suspects
        while self._waiting and len(batch) < BATCH_TURNS:
            turn = self._waiting[0].turn
            if any_suspect and (turn in suspects) is not apart:
                others.append(self._waiting.popleft())
                continue
            if (turn.kind, turn.id) in actors:
                break
            actors.add((turn.kind, turn.id))
            batch.append(self._waiting.popleft())
        self._waiting.extendleft(reversed(others))
        self.largest_batch = max(self.largest_batch, len(batch))
        return batch

    async def _commit_last_part(self, connection: WriterConnection) -> None:
        part = self._parts[-1]
        left_seconds = self._timeout_seconds - (time.monotonic() - part.entries[0].since)
        try:
            outcomes = await connection.commit([entry.turn for entry in part.entries], part.how, left_seconds)
        except Broken as broken:
            connection.conn.terminate()
            self._on_lost()
            if broken.commit_was_sent:
                self._parts.pop()
                self._answer(part.entries, OutcomeUnknown("the database went away while it committed"))
            elif broken.may_have_landed:
                for entry in part.entries:
                    entry.may_have_landed = True
            self._put_back([entry for some in reversed(self._parts) for entry in some.entries])
            self._parts.clear()
        except Undone as undone:
            self._parts.pop()
            self._blame(part, undone.cause)
        else:
            self._parts.pop()
            self.transactions += 1
            self.turns += len(part.entries)
            for entry, outcome in zip(part.entries, outcomes, strict=True):
                if isinstance(outcome, RowsRejected):
                    self._suspect(entry.turn, outcome)
            self._hand_back(lambda: _tell(part.entries, outcomes))

    def _blame(self, part: _Part, cause: BaseException | None) -> None:
        """After a rolled-back part: answer its only turn, or queue smaller parts that find the turns at fault."""
        entries = part.entries
        if cause is not None and is_busy(cause):
            self._answer(entries, unavailable(cause), cause)
        elif len(entries) == 1:
            failure = rejection(entries[0].turn, cause)
            if isinstance(failure, RowsRejected):
                self._suspect(entries[0].turn, failure)
            self._answer(entries, failure, cause)
        else:
            # A part that fails in spite of its savepoints was refused by COMMIT, which does not say which turn it was.
            how, size = (How.APART, APART_TURNS) if part.how is How.WHOLE else (How.ALONE, 1)
            pieces = [_Part(entries[at : at + size], how) for at in range(0, len(entries), size)]
            self._parts += reversed(pieces)

    def _suspect(self, turn: Turn, failure: RowsRejected) -> None:
        self._suspects.add(turn)
        self._refusals.tell(turn, failure)

    def _put_back(self, entries: list[_Entry]) -> None:
        """Put turns back at the front of the queue for one more try; those tried twice, or too old, are answered."""
        for entry in reversed(entries):
            if entry.tried or self._is_old(entry):
                self._answer([entry], DatabaseUnavailable("the connection was lost before the commit"))
            else:
                entry.tried = True
                self._waiting.appendleft(entry)

    def _give_up_on_old(self, cause: BaseException) -> None:
        while self._waiting and self._is_old(self._waiting[0]):
            self._answer(
                [self._waiting.popleft()], DatabaseUnavailable("no connection to the database"), cause
            )

    def _is_old(self, entry: _Entry) -> bool:
        return time.monotonic() - entry.since > self._timeout_seconds * PATIENCE

    def _answer(
        self, entries: list[_Entry], error: PersistenceError, cause: BaseException | None = None
    ) -> None:
        error.__cause__ = cause
        self._hand_back(lambda: _tell(entries, [error] * len(entries)))

    def _close(self) -> None:
        if self._connection is not None and not self._parts:
            self._connector.end(self._connection.conn)
        elif self._connection is not None:
            self._connection.conn.terminate()
        if self._parts:
            self._answer(self._parts.pop().entries, OutcomeUnknown("the bridge to the database was closed"))
        left = [entry for part in self._parts for entry in part.entries] + list(self._waiting)
        self._waiting.clear()
        self._parts.clear()
        self._answer(left, DatabaseUnavailable("the bridge to the database was closed"))


def _tell(entries: Sequence[_Entry], outcomes: Sequence[PersistenceError | None]) -> None:
    """Answer the entries; runs in the trio thread."""
    for entry, outcome in zip(entries, outcomes, strict=True):
        if outcome is not None and entry.may_have_landed:
            unknown = OutcomeUnknown("the database went away while it committed")
            unknown.__cause__ = outcome
            entry.done(unknown)
        else:
            entry.done(outcome)
