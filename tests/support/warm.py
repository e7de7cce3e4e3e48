"""Connections that stay open from test to test, with the event loops that they belong to.

PostgreSQL starts a process for each connection, which reads its catalogs and plans each statement anew: with a handful
of new connections for each world, that was a third of the suite's CPU. What was used is reset, as by a pooler.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from persistence.bridge.connector import Connector
from persistence.bridge.database import Database, open_database
from persistence.bridge.faults import CONNECT_FAULTS
from persistence.bridge.thread import new_loop
from tests.support.waiting import PATIENCE_SECONDS

_TELL_COUNTS = "SELECT pg_stat_force_next_flush()"
"""Has a session tell what it has counted once the statement has ended; otherwise it may wait for up to a minute."""


class WarmConnections:
    """The connections of this process to databases that one test after the other is lent."""

    def __init__(self) -> None:
        self._shelves: list[_Shelf] = []
        self._free: list[_Shelf] = []
        self._kept: set[str] = set()

    def keep(self, dsn: str) -> None:
        """Keep connections to a database from now on."""
        self._kept.add(dsn)

    @asynccontextmanager
    async def open(self, dsn: str, **options: Any) -> AsyncIterator[Database]:
        """Open a database as `open_database` does, on connections that were kept where nobody uses them."""
        if dsn not in self._kept:
            async with open_database(dsn, **options) as database:
                yield database
            return
        shelf = self._free.pop() if self._free else self._added()
        connector = partial(_WarmConnector, shelf)
        try:
            async with open_database(dsn, loop=shelf.loop, connector=connector, **options) as database:
                yield database
        finally:
            shelf.run(_reset([connection for _, connection in shelf.resting.get(dsn, ())]))
            self._free.append(shelf)

    def process_ids(self, dsn: str) -> list[int]:
        """The processes of PostgreSQL that serve connections to a database which are kept."""
        resting = [one for shelf in self._shelves for _, one in shelf.resting.get(dsn, ())]
        return [connection.get_server_pid() for connection in resting if not connection.is_closed()]

    def end(self, dsn: str) -> None:
        """End the connections to a database, and keep none any more."""
        self._kept.discard(dsn)
        for shelf in self._shelves:
            if resting := shelf.resting.pop(dsn, None):
                shelf.run(_end([connection for _, connection in resting]))

    def _added(self) -> "_Shelf":
        self._shelves.append(shelf := _Shelf())
        return shelf


WARM = WarmConnections()


class _Shelf:
    """An event loop, and the connections of it that nobody uses.

    Attributes:
        resting: {address: [(deadline in seconds, connection)]}.
    """

    def __init__(self) -> None:
        self.loop = new_loop()
        self.resting: dict[str, list[tuple[float, asyncpg.Connection]]] = {}

    def take(self, dsn: str, timeout_seconds: float) -> asyncpg.Connection | None:
        """A connection with such a deadline, if there is an open one."""
        resting = self.resting.get(dsn, [])
        for one in resting:
            if one[0] == timeout_seconds and not one[1].is_closed():
                resting.remove(one)
                return one[1]
        return None

    def put(self, dsn: str, timeout_seconds: float, connection: asyncpg.Connection) -> None:
        """Take back a connection that is whole."""
        self.resting.setdefault(dsn, []).append((timeout_seconds, connection))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the loop until some work is done; in a thread of its own, as this one may run trio."""
        with ThreadPoolExecutor(1, "warm connections") as thread:
            thread.submit(self.loop.run_until_complete, work).result()


class _WarmConnector(Connector):
    """Takes connections that were kept before it opens others, and has them kept again."""

    def __init__(self, shelf: _Shelf, dsn: str, timeout_seconds: float) -> None:
        super().__init__(dsn, timeout_seconds)
        self._shelf = shelf
        self._key = (dsn, timeout_seconds)

    async def connect(self) -> asyncpg.Connection:
        return self._shelf.take(*self._key) or await super().connect()

    def end(self, connection: asyncpg.Connection) -> None:
        self._shelf.put(*self._key, connection)


async def _reset(connections: list[asyncpg.Connection]) -> None:
    async def reset(connection: asyncpg.Connection) -> None:
        try:
            await connection.reset(timeout=PATIENCE_SECONDS)
            await connection.execute(_TELL_COUNTS, timeout=PATIENCE_SECONDS)
        except CONNECT_FAULTS:  # PostgreSQL has ended it, which may have been heard by half
            connection.terminate()

    await asyncio.gather(*map(reset, connections))


async def _end(connections: list[asyncpg.Connection]) -> None:
    for connection in connections:
        connection.terminate()
    await asyncio.sleep(0)  # the sockets are closed by callbacks
