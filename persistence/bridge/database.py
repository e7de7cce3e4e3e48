"""The bridge to PostgreSQL: how trio code reads, transacts, commits turns and hears notifications.

asyncpg runs in one asyncio thread of its own (`thread.py`); trio code hands it whole units of work,
never single statements, so that a unit costs one hop there and one back, however many queries it makes. This
module and those beside it are the only ones that know asyncio and asyncpg:

    thread         the thread, and the queues to and from it
    units          units of work on pooled connections (pool)
    group_commit   the group-commit writer on a connection of its own
    monitor        notifications, and whether the server is there, on another
    faults         what an exception from asyncpg means

Invariants: every wait has a deadline. A connection whose unit was cancelled, timed out or lost is ended,
never used again. PostgreSQL may vanish and come back at any time: calls meanwhile raise
`DatabaseUnavailable` within the deadline, and everything works again by itself within 2 s of its return.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import asyncpg
import trio

from persistence.bridge.faults import CONNECT_FAULTS
from persistence.bridge.group_commit import GroupCommit
from persistence.bridge.monitor import Watch
from persistence.bridge.pool import Pool
from persistence.bridge.thread import AsyncioThread
from persistence.bridge.units import Units
from persistence.errors import DatabaseUnavailable, PersistenceError
from persistence.journal.turn import Turn

Result = TypeVar("Result")

CONNECT_SHARE = 0.4
CONNECT_MAX_SECONDS = 10.0
"""For one attempt to connect: a share of the deadline of what is asked, and at most so long. A server behind a cut
cable swallows attempts; a later one must get its chance."""

DRAIN_SECONDS = 5.0
"""How long closing waits for turns that were submitted before."""

APPLICATION_NAME = "partyline"
"""What `pg_stat_activity` calls our sessions."""


@dataclass(frozen=True, slots=True)
class DatabaseStatistics:
    """What the bridge is doing.

    Args:
        available: as `Database.available`.
        turns_waiting: in front of the writer, the batch in flight not counted.
        transactions: of the writer, committed since the start.
        turns: answered in those transactions.
        largest_batch: most turns in one of them.
        connections: of the pool, open.
        connections_idle: of those, without work.
        reconnects: how often the watching connection had to be made anew.
    """

    available: bool
    turns_waiting: int
    transactions: int
    turns: int
    largest_batch: int
    connections: int
    connections_idle: int
    reconnects: int


class Database:
    """An open database; made by `open_database`."""

    def __init__(
        self, thread: AsyncioThread, dsn: str, *, pool_size: int, queue_limit: int, timeout_seconds: float
    ):
        self._thread = thread
        self._timeout_seconds = timeout_seconds
        self._connector = _Connector(dsn, timeout_seconds)
        self._watch = Watch(self._connector.connect, hand_back=thread.hand_back)
        self._pool = Pool(self._connector.connect, pool_size)
        self._units = Units(self._pool, self._watch.look_now)
        self._writer = GroupCommit(
            self._connector.connect,
            post=thread.post,
            hand_back=thread.hand_back,
            on_lost=self._watch.look_now,
            limit=queue_limit,
            timeout_seconds=timeout_seconds,
        )

    @property
    def available(self) -> bool:
        """Whether PostgreSQL answered when last looked at: at most 3 s ago."""
        return self._watch.available

    async def read(
        self, unit: Callable[..., Awaitable[Result]], /, *args: object, timeout_seconds: float | None = None
    ) -> Result:
        """Run `unit(conn, *args)` on a connection without a transaction, each statement for itself.

        The unit may run twice: it is tried again, once, when the connection turns out to have been lost. So
        it only reads, or makes one change that does no harm when repeated.

        Args:
            unit: `async def unit(conn: Connection, *args)`, run in another thread: it awaits nothing but
                `conn`, and what it is given and returns is not changed elsewhere meanwhile.
            timeout_seconds: for everything, the wait for a connection included; default is the database's (5
                s).

        Raises:
            DatabaseUnavailable: no connection, or no answer in time.
            RowsRejected: PostgreSQL refused a statement; its error is the cause. Others of the unit pass
            unchanged.

        Cancellation: the unit is cancelled, its connection ended; returns when that has happened.
        """
        seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return await self._thread.run(self._units.read, seconds, unit, args)

    async def transact(
        self, unit: Callable[..., Awaitable[Result]], /, *args: object, timeout_seconds: float | None = None
    ) -> Result:
        """Run `unit(conn, *args)` in one READ COMMITTED transaction; when this returns it is on disk.

        Args:
            unit, timeout_seconds: as for `read`; the unit runs once. An exception of its own rolls back and
                passes.

        Raises:
            OutcomeUnknown: the connection was lost, or time was up, after COMMIT was sent.
            DatabaseUnavailable: before that; nothing was changed.
            RowsRejected: PostgreSQL refused (a constraint); nothing was changed.

        Cancellation: as for `read`; when COMMIT was already sent, the transaction may have been committed.
        """
        seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return await self._thread.run(self._units.transact, seconds, unit, args)

    def submit(self, turn: Turn, done: Callable[[PersistenceError | None], None]) -> None:
        """Hand a turn to the group-commit writer.

        Args:
            turn: committed as a whole, or not at all.
            done: called once, in the trio thread, never from within this call, with None when the turn is on
                disk, otherwise with `Fenced`, `HeadMoved`, `RowsRejected`, `DatabaseUnavailable` (nothing was
                changed) or `OutcomeUnknown`. It must not raise. Not called when trio has ended before.

        Raises:
            QueueFull: too many turns wait; this one was not taken.
        """
        if self._thread.is_closed:
            self._thread.hand_back(partial(done, DatabaseUnavailable("the bridge to the database is closed")))
        else:
            self._writer.submit(turn, done)

    def listen(self, channel: str, heard: Callable[[str], None]) -> None:
        """Hear what is notified on a channel of PostgreSQL, for as long as the database is open.

        Args:
            channel: an SQL identifier.
            heard: called in the trio thread with each payload; with "" whenever listening has (again) begun,
                since anything may have changed before. It must not raise.
        """
        self._thread.post(lambda: self._watch.listen(channel, heard))

    def statistics(self) -> DatabaseStatistics:
        """What the bridge is doing, read without waiting."""
        return DatabaseStatistics(
            available=self._watch.available,
            turns_waiting=self._writer.waiting,
            transactions=self._writer.transactions,
            turns=self._writer.turns,
            largest_batch=self._writer.largest_batch,
            connections=self._pool.open_count,
            connections_idle=self._pool.idle_count,
            reconnects=max(0, self._watch.connections - 1),
        )

    async def _open(self) -> None:
        """Connect once, so that a wrong address is told at the start, and begin to serve."""
        try:
            await self._thread.run(self._watch.open)
        except CONNECT_FAULTS as error:
            raise DatabaseUnavailable(
                f"cannot connect to the database: {error or type(error).__name__}"
            ) from error
        self._thread.serve(self._watch.run)
        self._thread.serve(self._writer.run)

    async def _close(self) -> None:
        """Let the writer finish, then end everything. Bounded, and not cancellable."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(DRAIN_SECONDS), contextlib.suppress(DatabaseUnavailable):
                await self._thread.run(self._writer.drain)
            self._thread.post(self._pool.terminate)
            await self._thread.close()


@asynccontextmanager
async def open_database(
    dsn: str,
    *,
    pool_size: int = 6,
    queue_limit: int = 20_000,
    timeout_seconds: float = 5.0,
    use_uvloop: bool | None = None,
) -> AsyncIterator[Database]:
    """Open a database: connections for units (opened when needed), one for the writer, one that watches.

    Cancellation inside the block closes all of it, as leaving the block does.

    Args:
        dsn: a `postgresql://` URL of a server of version 15 or newer.
        pool_size: most connections for units, 1 and up.
        queue_limit: most turns that may wait for the writer.
        timeout_seconds: default deadline of everything asked of the database.
        use_uvloop: True, False, or None for "when it is installed".

    Raises:
        DatabaseUnavailable: there is no connection to be had right now; the message says why.

    Leaving it waits up to `DRAIN_SECONDS` for submitted turns and a few seconds for the thread; whatever is
    still open is answered with `DatabaseUnavailable`, or `OutcomeUnknown` for a batch in flight.
    """
    thread = AsyncioThread("partyline-database", use_uvloop=use_uvloop)
    database = Database(
        thread, dsn, pool_size=pool_size, queue_limit=queue_limit, timeout_seconds=timeout_seconds
    )
    thread.start()
    try:
        await database._open()
        yield database
    finally:
        await database._close()


class _Connector:
    """Opens connections that are all set up alike.

    Args:
        dsn: see `open_database`.
        timeout_seconds: most that a statement may take on the server, and that a transaction may stand idle:
            a process that froze must not hold its locks (on leases, above all) any longer. An attempt to connect
            gets a share of it.
    """

    def __init__(self, dsn: str, timeout_seconds: float) -> None:
        self._dsn = dsn
        self._connect_seconds = min(CONNECT_SHARE * timeout_seconds, CONNECT_MAX_SECONDS)
        limit_ms = str(round(timeout_seconds * 1000))
        self._settings = {
            "application_name": APPLICATION_NAME,
            "statement_timeout": limit_ms,
            "idle_in_transaction_session_timeout": limit_ms,
            # A statement whose client has ended its connection is given up within a second.
            "client_connection_check_interval": "1000",
            # A dead network is noticed on idle connections too, and routers do not forget them. (Over a Unix
            # socket these are ignored.)
            "tcp_keepalives_idle": "30",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "timezone": "UTC",
            # Our statements are many and short: compiling them costs more than it saves, and their parameters
            # (arrays of any length) say little that a plan could use.
            "jit": "off",
        }

    async def connect(self) -> asyncpg.Connection:
        """A new connection.

        Raises: what asyncpg raises (`CONNECT_FAULTS`).
        """
        return await asyncpg.connect(
            self._dsn,
            timeout=self._connect_seconds,
            server_settings=self._settings,
            statement_cache_size=500,
            max_cached_statement_lifetime=0,
        )
