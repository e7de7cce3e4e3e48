"""The connection as units of work see it: the few calls of asyncpg that we use, typed.

Only `persistence/bridge/` imports asyncpg; a unit is `async def unit(conn: Connection, *args)` and runs on the
bridge's asyncio thread. It awaits nothing but `conn`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol


class Row(Protocol):
    """One row: by column name or position."""

    def __getitem__(self, key: str | int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...


class Connection(Protocol):
    """What a unit of work may do. Arguments are `$1…` parameters; never format values into the SQL."""

    async def execute(self, query: str, *args: object) -> str:
        """Run one statement; returns PostgreSQL's command tag."""
        ...

    async def executemany(self, command: str, args: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row of arguments, pipelined.

        Args:
            command: one SQL statement.
        """
        ...

    async def fetch(self, query: str, *args: object) -> list[Row]:
        """All rows."""
        ...

    async def fetchrow(self, query: str, *args: object) -> Row | None:
        """The first row, or None."""
        ...

    async def fetchval(self, query: str, *args: object) -> Any:
        """The first column of the first row, or None."""
        ...
