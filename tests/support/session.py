"""One connection to PostgreSQL, outside of trio."""

import asyncio
from typing import Any

import asyncpg


class Session:
    """A connection that is kept open from test to test.

    PostgreSQL starts a process for each connection, which first reads its catalogs: emptying a database takes four
    times as long on a new one.

    Args:
        url: the database's address.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._runner = asyncio.Runner()
        self._connection: asyncpg.Connection | None = None

    def renew(self) -> bool:
        """Open the connection anew if it was ended; returns whether that was so."""
        return self._runner.run(self._renew())

    def run(self, sql: str, *arguments: object) -> None:
        """Execute one statement, or several where there are no arguments."""
        self._runner.run(self._execute(sql, *arguments))

    def rows(self, sql: str, *arguments: object) -> list[Any]:
        """The rows of a query."""
        return self._runner.run(self._fetch(sql, *arguments))

    def value(self, sql: str, *arguments: object) -> Any:
        """The only value of a query."""
        return self.rows(sql, *arguments)[0][0]

    def close(self) -> None:
        """End the connection."""
        self._runner.run(self._end())
        self._runner.close()

    async def _renew(self) -> bool:
        try:
            await self._execute("SELECT 1")
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
            await self._end()
            return True
        return False

    async def _end(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            await asyncio.sleep(0)  # the socket is closed by a callback
        self._connection = None

    async def _execute(self, sql: str, *arguments: object) -> None:
        await (await self._opened()).execute(sql, *arguments)

    async def _fetch(self, sql: str, *arguments: object) -> list[Any]:
        return list(await (await self._opened()).fetch(sql, *arguments))

    async def _opened(self) -> asyncpg.Connection:
        if self._connection is None:
            self._connection = await asyncpg.connect(self._url)
        return self._connection
