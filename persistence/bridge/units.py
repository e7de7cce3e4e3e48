"""Whole units of work on pooled connections: the asyncio side of `Database.read` and `Database.transact`.

Invariant: a connection goes back to the pool only after its unit has ended by itself. If the unit was cancelled, timed
out or lost its connection, the connection is closed: whatever it still does on the server, no unit runs on it again.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import asyncpg

from persistence.bridge.deadlines import Deadlines
from persistence.bridge.faults import CONNECT_FAULTS, is_collision, is_lost, raise_translated, unavailable
from persistence.bridge.pool import Pool
from persistence.connection import Unit
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, RowsRejected

Result = TypeVar("Result")
Args = TypeVarTuple("Args")

RUNS_MAX = 3
"""Most times that a unit is run in a transaction, when each collides with another transaction. Whoever is undone in a
deadlock waits for the other's locks at the next run, so one more is nearly always enough; each costs a second, which
PostgreSQL waits before it looks for deadlocks, and all have the one deadline of the caller."""

PAUSE_SECONDS = 0.05
"""How long a unit that collided waits before its next run, and twice as long before the one after that. Whoever it was
in the way of is woken meanwhile; at once, the two could meet again."""

_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


class Units:
    """Runs units of work, each within a deadline.

    Args:
        pool: where connections come from.
        on_lost: called when a connection turned out to be lost, or did not answer in time.

    Attributes:
        collisions: how many transactions were undone because they collided with another one.
    """

    def __init__(self, pool: Pool, on_lost: Callable[[], None]) -> None:
        self.collisions = 0
        self._deadlines = Deadlines()
        self._pool = pool
        self._on_lost = on_lost

    async def read(self, timeout_seconds: float, unit: Unit[*Args, Result], args: tuple[*Args]) -> Result:
        """Run `unit(conn, *args)` without a transaction, and once more on another connection if the first was lost.

        Cancellation closes the connection that the unit had.

        Args:
            timeout_seconds: deadline of the whole call, the wait for a connection included.
            unit: reads only, or makes one change that may be repeated, since it may run twice.

        Raises:
            DatabaseUnavailable: no connection, or no answer in time.
            RowsRejected: PostgreSQL refused a statement.
        """
        try:
            with self._deadlines.within(timeout_seconds):
                try:
                    return await self._read_once(unit, args)
                except _ConnectionLost:
                    return await self._read_once(unit, args)
        except (TimeoutError, _ConnectionLost) as error:
            self._on_lost()
            raise DatabaseUnavailable("the database went away or did not answer in time") from error

    async def transact(self, timeout_seconds: float, unit: Unit[*Args, Result], args: tuple[*Args]) -> Result:
        """Run `unit(conn, *args)` in one READ COMMITTED transaction, and again in another one, up to `RUNS_MAX` times
        in all, where PostgreSQL undid the first because it collided with somebody else's.

        Cancellation closes the connection: before COMMIT was sent nothing is changed, after it the outcome is unknown.

        Args:
            timeout_seconds: deadline of the whole call, the wait for a connection included.
            unit: has no effect but on rows, or one that the next run replaces, since it may run several times.

        Raises:
            OutcomeUnknown: the connection was lost, or time was up, after COMMIT was sent.
            DatabaseUnavailable: either of them before that, or every run collided; nothing was changed.
            RowsRejected: PostgreSQL refused a statement; nothing was changed.
        """
        progress = _Progress()
        try:
            with self._deadlines.within(timeout_seconds):
                runs = 0
                while True:
                    runs += 1
                    try:
                        return await self._transact_once(unit, args, progress)
                    except _Collided as collided:
                        if runs == RUNS_MAX:
                            raise unavailable(collided.error) from collided.error
                    await asyncio.sleep(PAUSE_SECONDS * runs)
        except (TimeoutError, _ConnectionLost) as error:
            self._on_lost()
            if progress.commit_was_sent:
                raise OutcomeUnknown("the database went away while it committed") from error
            raise DatabaseUnavailable("the database went away or did not answer in time") from error

    async def _read_once(self, unit: Unit[*Args, Result], args: tuple[*Args]) -> Result:
        conn = await self._take()
        try:
            result = await unit(conn, *args)
        except Exception as error:
            if is_lost(error, conn):
                self._pool.discard(conn)
                raise _ConnectionLost from error
            self._pool.give_back(conn)
            raise_translated(error)
        except BaseException:
            self._pool.discard(conn)
            raise
        self._pool.give_back(conn)
        return result

    async def _transact_once(
        self, unit: Unit[*Args, Result], args: tuple[*Args], progress: "_Progress"
    ) -> Result:
        progress.commit_was_sent = False
        conn = await self._begin()
        try:
            result = await unit(conn, *args)
            progress.commit_was_sent = True
            tag = await conn.execute("COMMIT")
        except Exception as error:
            if is_lost(error, conn):
                self._pool.discard(conn)
                raise _ConnectionLost from error
            await self._roll_back(conn)
            if is_collision(error):
                self.collisions += 1
                raise _Collided(error) from error
            raise_translated(error)
        except BaseException:
            self._pool.discard(conn)
            raise
        self._pool.give_back(conn)
        if tag != "COMMIT":
            raise RowsRejected("the unit went on after an error, so PostgreSQL rolled its transaction back")
        return result

    async def _begin(self) -> asyncpg.Connection:
        """Take a connection and begin a transaction; a lost connection shows here, where one more try does no harm."""
        try:
            return await self._begin_once()
        except _ConnectionLost:
            return await self._begin_once()

    async def _begin_once(self) -> asyncpg.Connection:
        conn = await self._take()
        try:
            await conn.execute(_BEGIN)
        except Exception as error:
            lost = is_lost(error, conn)
            self._pool.discard(conn)
            if lost:
                raise _ConnectionLost from error
            raise_translated(error)
        except BaseException:
            self._pool.discard(conn)
            raise
        return conn

    async def _roll_back(self, conn: asyncpg.Connection) -> None:
        try:
            await conn.execute("ROLLBACK")
        except Exception:
            # The server rolls back by itself; what the caller hears is the first error.
            self._pool.discard(conn)
        except BaseException:
            self._pool.discard(conn)
            raise
        else:
            self._pool.give_back(conn)

    async def _take(self) -> asyncpg.Connection:
        try:
            return await self._pool.take()
        except CONNECT_FAULTS as error:
            self._on_lost()
            raise DatabaseUnavailable(f"no connection to the database ({type(error).__name__})") from error


class _Progress:
    """How far a transaction got."""

    __slots__ = ("commit_was_sent",)

    def __init__(self) -> None:
        self.commit_was_sent = False


class _ConnectionLost(Exception):
    """The connection was lost while the unit used it."""


class _Collided(Exception):
    """PostgreSQL undid the transaction because it collided with another one.

    Args:
        error: what PostgreSQL said.
    """

    def __init__(self, error: Exception) -> None:
        self.error = error
