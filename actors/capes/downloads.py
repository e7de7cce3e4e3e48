"""Count texture downloads in memory and write the counts now and then, for all capes in one statement.

Counts since the last write are lost in a crash, and single downloads raise no events.
"""

from actors.kernel.store import Store
from persistence.capes.rows import count_downloads

KEPT_MAX = 10_000
"""How many capes are counted between two writes; downloads of further capes are not counted."""


class Downloads:
    """The download counts that are not written yet.

    Args:
        database: the database that the counts are written to.
    """

    def __init__(self, database: Store) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}

    def count(self, cape_id: str) -> None:
        """Count one download of a cape's texture."""
        if cape_id in self._numbers or len(self._numbers) < KEPT_MAX:
            self._numbers[cape_id] = self._numbers.get(cape_id, 0) + 1

    async def flush(self) -> None:
        """Write the counts. On an error or cancellation they are kept and written next time; the error is raised."""
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
