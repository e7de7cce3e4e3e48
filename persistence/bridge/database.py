"""The bridge to PostgreSQL: how trio code reads, transacts, commits turns and hears notifications.

asyncpg runs in one asyncio thread of its own (`thread.py`); trio code hands it whole units of work, never single
statements, so that a unit costs one hop there and one back, however many queries it makes. This module and those beside
it are the only ones that know asyncio and asyncpg:

    thread         the thread, and the queues to and from it
    connector      opens connections, and ends those that are whole
    units          units of work on pooled connections (pool, deadlines)
    group_commit   the group-commit writer on a connection of its own (writer_connection, isolating, suspects)
    monitor        notifications, and whether the server answers, on another
    bus            messages between nodes, over NATS
    array_types    arrays that asyncpg need not ask for
    faults         what an exception from asyncpg means

Invariants: every wait has a deadline. A connection whose unit was cancelled, timed out or lost it is closed, never used
again. PostgreSQL may vanish and come back at any time: calls meanwhile raise `DatabaseUnavailable` within the deadline,
and everything works again by itself within 2 s of its return.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, TypeVarTuple

import trio

from persistence.bridge.connector import Connector
from persistence.bridge.faults import CONNECT_FAULTS
from persistence.bridge.group_commit import GroupCommit
from persistence.bridge.monitor import Watch
from persistence.bridge.pool import Pool
from persistence.bridge.thread import AsyncioThread
from persistence.bridge.units import Units
from persistence.connection import Unit
from persistence.errors import DatabaseUnavailable, PersistenceError
from persistence.journal.turn import Turn

Result = TypeVar("Result")
Args = TypeVarTuple("Args")

DRAIN_SECONDS = 5.0
"""How long closing waits for turns that were submitted before."""


@dataclass(frozen=True, slots=True)
class DatabaseStatistics:
    """Counters and gauges of the bridge.

    Args:
        available: whether PostgreSQL answered the last ping.
        turns_waiting: turns queued for the writer, the batch in flight not counted.
        transactions: those the writer has committed since the start.
        turns: how many were answered by those transactions.
        largest_batch: most turns that the writer has taken from its queue at once.
        connections: those of the pool that are in use, idle or being opened.
        connections_idle: of those, how many are idle.
        reconnects: how often the watching connection had to be made anew.
        collisions: transactions of units that were undone because they collided with another one, and run again.
    """

    available: bool
    turns_waiting: int
    transactions: int
    turns: int
    largest_batch: int
    connections: int
    connections_idle: int
    reconnects: int
    collisions: int


class Database:
    """An open database; made by `open_database`.

    Attributes:
        thread: the asyncio thread, which the bus between nodes shares.
    """

    def __init__(
        self,
        thread: AsyncioThread,
        connector: Connector,
        *,
        pool_size: int,
        queue_limit: int,
        timeout_seconds: float,
    ):
        self.thread = thread
        self._timeout_seconds = timeout_seconds
        self._watch = Watch(connector, hand_back=thread.hand_back)
        self._pool = Pool(connector, pool_size)
        self._units = Units(self._pool, self._watch.look_now)
        self._writer = GroupCommit(
            connector,
            post=thread.post,
            hand_back=thread.hand_back,
            on_lost=self._watch.look_now,
            limit=queue_limit,
            timeout_seconds=timeout_seconds,
        )

    @property
    def available(self) -> bool:
        """Whether PostgreSQL answered the last ping, which is at most 3 s old."""
        return self._watch.available

    async def read(
        self, unit: Unit[*Args, Result], /, *args: *Args, timeout_seconds: float | None = None
    ) -> Result:
        """Run `unit(conn, *args)` on a pooled connection without a transaction: each statement commits by itself.

        The unit may run twice: it is tried again, once, when the connection turns out to have been lost. So it only
        reads, or makes one change that may be repeated.

        Args:
            unit: `async def unit(conn: Connection, *args)`, run in another thread: it awaits nothing but `conn`, and
                its arguments and its result must not be changed elsewhere meanwhile.
            timeout_seconds: deadline of the whole call, the wait for a connection included; by default the database's.

        Raises:
            DatabaseUnavailable: no connection, or no answer in time.
            RowsRejected: PostgreSQL refused a statement; its error is the cause.
            Exception: whatever the unit itself raises, unchanged.

        Cancellation: the unit is cancelled and its connection closed; returns when that has happened.
        """
        seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return await self.thread.run(self._units.read, seconds, unit, args)

    async def transact(
        self, unit: Unit[*Args, Result], /, *args: *Args, timeout_seconds: float | None = None
    ) -> Result:
        """Run `unit(conn, *args)` in one READ COMMITTED transaction; when this returns, its changes are on disk.

        Args:
            unit: under the conditions of `read`; an exception that it raises rolls back and is passed on. Run again,
                `RUNS_MAX` times in all, where its transaction collided with another one (a deadlock), so it has no
                effect but on rows, or one that the next run replaces.
            timeout_seconds: deadline of the whole call, the wait for a connection included; by default the database's.

        Raises:
            OutcomeUnknown: the connection was lost, or time was up, after COMMIT was sent.
            DatabaseUnavailable: either of them before that, or every run collided; nothing was changed.
            RowsRejected: PostgreSQL refused a statement (a constraint); nothing was changed.

        Cancellation: the unit is cancelled and its connection closed, so nothing is changed; when COMMIT was already
        sent, the transaction may have been committed.
        """
        seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return await self.thread.run(self._units.transact, seconds, unit, args)

    def submit(self, turn: Turn, done: Callable[[PersistenceError | None], None]) -> None:
        """Queue a turn for the group-commit writer.

        Args:
            turn: committed as a whole, or not at all.
            done: called once, in the trio thread, never from within this call, with None when the turn is on disk,
                otherwise with `Fenced`, `HeadMoved`, `RowsRejected`, `DatabaseUnavailable` (nothing was changed) or
                `OutcomeUnknown`. It must not raise. Not called if trio has ended before.

        Raises:
            QueueFull: too many turns wait; this one was not queued.
        """
        if self.thread.is_closed:
            self.thread.hand_back(partial(done, DatabaseUnavailable("the bridge to the database is closed")))
        else:
            self._writer.submit(turn, done)

    def listen(self, channel: str, heard: Callable[[str], None]) -> None:
        """Call a function for each notification on a channel of PostgreSQL, for as long as the database is open.

        Args:
            channel: an SQL identifier.
            heard: called in the trio thread with each payload, and with "" whenever listening has (again) begun, since
                notifications before that were missed. It must not raise.
        """
        self.thread.post(lambda: self._watch.listen(channel, heard))

    def statistics(self) -> DatabaseStatistics:
        """Read the counters and gauges of the bridge, without waiting."""
        return DatabaseStatistics(
            available=self._watch.available,
            turns_waiting=self._writer.waiting,
            transactions=self._writer.transactions,
            turns=self._writer.turns,
            largest_batch=self._writer.largest_batch,
            connections=self._pool.open_count,
            connections_idle=self._pool.idle_count,
            reconnects=max(0, self._watch.connections - 1),
            collisions=self._units.collisions,
        )

    async def _open(self) -> None:
        """Connect once, so that a wrong address fails the start, then run the watch and the writer."""
        try:
            await self.thread.run(self._watch.open)
        except (*CONNECT_FAULTS, ValueError) as error:  # the latter: an address that says what cannot be
            unsaid = "it does not answer" if isinstance(error, TimeoutError) else type(error).__name__
            raise DatabaseUnavailable(f"cannot connect to the database: {str(error) or unsaid}") from error
        self.thread.serve(self._watch.run)
        self.thread.serve(self._writer.run)

    async def _close(self) -> None:
        """Wait up to `DRAIN_SECONDS` for the writer, then close everything. Cancellation waits for it."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(DRAIN_SECONDS), contextlib.suppress(DatabaseUnavailable):
                await self.thread.run(self._writer.drain)
            self.thread.post(self._pool.terminate)
            await self.thread.close()


@asynccontextmanager
async def open_database(
    dsn: str,
    *,
    pool_size: int = 6,
    queue_limit: int = 20_000,
    timeout_seconds: float = 5.0,
    loop: asyncio.AbstractEventLoop | None = None,
    connector: Callable[[str, float], Connector] = Connector,
    made: Callable[..., Database] = Database,
) -> AsyncIterator[Database]:
    """Open a database: connections for units (opened when needed), one for the writer, one that watches.

    Leaving the block waits up to `DRAIN_SECONDS` for submitted turns and a few seconds for the thread; what is still
    open then is answered with `DatabaseUnavailable`, or `OutcomeUnknown` for a batch in flight. Cancellation inside the
    block does the same.

    Args:
        dsn: a `postgresql://` URL of a server of version 15 or newer.
        pool_size: most connections for units, 1 and up.
        queue_limit: most turns that may wait for the writer.
        timeout_seconds: default deadline of units, and that of turns.
        loop: the event loop that the connections use, which is left open; None makes one.
        connector: makes what opens connections, of an address and a deadline in seconds.
        made: makes the database; for a subclass that observes which units are run.

    Raises:
        DatabaseUnavailable: no connection can be made now; the message says why.
    """
    thread = AsyncioThread("partyline-database", loop)
    database = made(
        thread,
        connector(dsn, timeout_seconds),
        pool_size=pool_size,
        queue_limit=queue_limit,
        timeout_seconds=timeout_seconds,
    )
    thread.start()
    try:
        await database._open()
        yield database
    finally:
        await database._close()
