"""A pool of connections for units of work: each is taken by one unit, then given back or closed.

Why not asyncpg's own pool: it resets a connection with a query of its own at each release, which doubles the round
trips of a read; and what we must promise (a connection whose unit was cancelled or timed out is never used again) is
three lines here.

Everything here runs in the asyncio thread.

Where others have all connections that the server lends, whoever would open one waits for one of ours instead.

Invariants: `in use + idle + being opened <= size`. A connection that comes back closed, or inside a transaction, is
closed for good. A waiter is handed a connection, or the right to open one, directly: no later caller overtakes it.
"""

import asyncio
from collections import deque

import asyncpg

from persistence.bridge.connector import Connector


class Pool:
    """At most `size` connections, opened when they are first needed.

    Args:
        connector: opens connections, and ends those that are idle.
        size: most connections at a time, 1 and up.
    """

    def __init__(self, connector: Connector, size: int) -> None:
        self._connector = connector
        self._size = size
        self._claimed = 0  # in use, idle, or being opened
        self._opening = 0
        self._idle: list[asyncpg.Connection] = []  # the most recently used last: the others may stay cold
        self._waiters: deque[asyncio.Future[asyncpg.Connection | None]] = deque()
        self._closed = False

    @property
    def open_count(self) -> int:
        """Connections in use, idle or being opened."""
        return self._claimed

    @property
    def idle_count(self) -> int:
        """Connections that are open and in no unit's hands."""
        return len(self._idle)

    async def take(self) -> asyncpg.Connection:
        """Wait for a connection and take it; the caller returns it through `give_back` or `discard`.

        Raises: what `connect` raises, when a new one has to be opened.

        Cancellation: no connection is taken; one that was just handed over goes to the next waiter.
        """
        may_grow = True
        while True:
            while self._idle:
                conn = self._idle.pop()
                if not conn.is_closed():
                    return conn
                self._claimed -= 1
            if self._claimed < self._size and (may_grow or not self._claimed):
                self._claimed += 1
            else:
                handed = await self._handed()
                if handed is not None and not handed.is_closed():
                    return handed
            opened = await self._open()
            if opened is not None:
                return opened
            may_grow = False

    async def _handed(self) -> asyncpg.Connection | None:
        """Wait for a connection, or for the right to open one."""
        turn: asyncio.Future[asyncpg.Connection | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # handed over in the very moment of the cancellation
                self._pass_on(turn.result())
            raise

    def give_back(self, conn: asyncpg.Connection) -> None:
        """Return a connection after a unit that ended by itself; the longest waiting caller gets it.

        Closed instead when it is inside a transaction, or the pool was terminated.
        """
        if self._closed or conn.is_closed() or conn.is_in_transaction():
            self.discard(conn)
        else:
            self._pass_on(conn)

    def discard(self, conn: asyncpg.Connection) -> None:
        """Close the connection at once, whatever state it is in; another may be opened in its place."""
        conn.terminate()
        self._pass_on(None)

    def terminate(self) -> None:
        """Close all idle connections now, and those in use when they are returned."""
        self._closed = True
        while self._idle:
            self._connector.end(self._idle.pop())
            self._claimed -= 1

    def _pass_on(self, conn: asyncpg.Connection | None) -> None:
        """Hand a connection to the longest waiting caller; None hands on the right to open one."""
        while self._waiters:
            turn = self._waiters.popleft()
            if not turn.done():
                turn.set_result(conn)
                return
        if conn is None:
            self._claimed -= 1
        else:
            self._idle.append(conn)

    async def _open(self) -> asyncpg.Connection | None:
        """Open a connection; None where others have all that the server lends, and one of ours is to be waited for."""
        self._opening += 1
        try:
            return await self._connector.connect()
        except BaseException as error:
            if isinstance(error, asyncpg.TooManyConnectionsError) and self._claimed > self._opening:
                # Nobody is woken: they would fail as well, and wake each other without end.
                self._claimed -= 1
                return None
            self._pass_on(None)
            raise
        finally:
            self._opening -= 1
