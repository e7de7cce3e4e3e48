"""How often textures are fetched: counted in memory, written every now and then, all capes in one statement.

A count that a crash takes away is gone; nobody is told of single downloads.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from persistence.capes.rows import count_downloads

KEPT_MAX = 10_000
"""Capes counted at once; a fetch of one more between two writings is not counted."""


class Store(Protocol):
    """The database, as far as it is needed here."""

    async def transact(self, unit: Callable[..., Awaitable[Any]], *args: object) -> Any:
        """Run a unit of work in one transaction."""
        ...


class Downloads:
    """The fetches that are not written yet.

    Args:
        database: where they go.
    """

    def __init__(self, database: Store) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}

    def count(self, cape_id: str) -> None:
        """One more fetch of a cape's texture."""
        if cape_id in self._numbers or len(self._numbers) < KEPT_MAX:
            self._numbers[cape_id] = self._numbers.get(cape_id, 0) + 1

    async def flush(self) -> None:
        """Write what was counted; what cannot be written is counted again next time."""
        numbers, self._numbers = self._numbers, {}
        if not numbers:
            return
        written = False
        try:
            await self._database.transact(count_downloads, list(numbers), list(numbers.values()))
            written = True
        finally:
            if not written:
                for id, number in numbers.items():
                    self._numbers[id] = self._numbers.get(id, 0) + number
