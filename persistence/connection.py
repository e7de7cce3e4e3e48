"""The connection as units of work see it: types for the few methods of asyncpg's connection that we use.

Only `persistence/bridge/` imports asyncpg. A unit of work is `async def unit(conn: Connection, *args)`; it runs in the
bridge's asyncio thread, so it awaits nothing but `conn`.
"""

from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, TypeVarTuple

Args = TypeVarTuple("Args")
Result = TypeVar("Result")


class Row(Protocol):
    """One row, whose values are found by column name or position."""

    def __getitem__(self, key: str | int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def items(self) -> Iterator[tuple[str, Any]]:
        """(column, value) of each column."""
        ...


class Connection(Protocol):
    """The methods that a unit of work may call. Values are passed as parameters `$1…`, never formatted into the SQL."""

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
        """Run one query; returns all its rows."""
        ...

    async def fetchrow(self, query: str, *args: object) -> Row | None:
        """Run one query; returns its first row, or None."""
        ...

    async def fetchval(self, query: str, *args: object) -> Any:
        """Run one query; returns the first column of its first row, or None when it has no row."""
        ...

    def cursor(self, query: str, *args: object, prefetch: int) -> AsyncIterable[Row]:
        """Run one query in a transaction; yields its rows as they are needed.

        Args:
            prefetch: rows that are fetched at once.
        """
        ...


Unit: TypeAlias = Callable[[Connection, *Args], Awaitable[Result]]
"""A unit of work, of the types of its arguments and of what it returns; keyword arguments are bound by `partial`."""
