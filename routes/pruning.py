"""Forgetting what is overdue: batch after batch until nothing is left, each in a transaction of its own.

A batch that the database could not do in time is halved for the next run, down to a single row, and grows again with
each that it could: so no amount of what is overdue, and no slow disk, stops the forgetting for good. A run ends after
a while, and goes on a moment later; between two batches others have the database.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from actors.kernel.store import Store
from persistence.connection import Connection
from persistence.errors import PersistenceError

RUN_SECONDS = 10.0
"""A run begins no batch after so long."""

PAUSE_SECONDS = 0.02
"""Between two batches."""

BATCH_ROWS = 5_000
"""Of one batch, when nothing else is said."""

Place = TypeVar("Place")

Take = Callable[[int], Awaitable[bool]]
"""Forgets so many rows at most; whether there may be more."""


class Pruning:
    """What a job runs to forget what is overdue.

    Args:
        take: forgets one batch.
        most: rows of a batch, at least 1.
    """

    def __init__(self, take: Take, *, most: int = BATCH_ROWS) -> None:
        self.take = take
        self._most = most
        self._rows = most

    @property
    def rows(self) -> int:
        """Of the next batch."""
        return self._rows

    async def run(self) -> bool:
        """Forget until nothing is left or the run has lasted long enough; False when something is left.

        Raises:
            PersistenceError: a batch could not be done; the next run tries half of it.
        """
        ends_at = trio.current_time() + RUN_SECONDS
        while True:
            try:
                more = await self.take(self._rows)
            except PersistenceError:
                self._rows = max(1, self._rows // 2)
                raise
            self._rows = min(self._most, self._rows * 2)
            if not more:
                return True
            if trio.current_time() >= ends_at:
                return False
            await trio.sleep(PAUSE_SECONDS)


class Walk(Generic[Place]):
    """Looks at every row of a table in its order, a page at a time, where no index knows which are overdue.

    Args:
        page: takes a place, None at the start, and how many rows to look at; does what is due among them and returns
            the place to go on from, or None at the end.
    """

    def __init__(self, page: Callable[[Place | None, int], Awaitable[Place | None]]) -> None:
        self._page = page
        self._place: Place | None = None

    async def take(self, rows: int) -> bool:
        """One page; whether the end is still to come. A page that failed is looked at again.

        Raises: what the page raises.
        """
        self._place = await self._page(self._place, rows)
        return self._place is not None


def rows_of(store: Store, prune: Callable[[Connection, int], Awaitable[int]]) -> Take:
    """Batches of a statement that says how many rows it took.

    Args:
        store: the database.
        prune: on a connection, in a transaction, takes so many rows at most.
    """

    async def take(rows: int) -> bool:
        return await store.transact(prune, rows) >= rows

    return take


def pages_of(store: Store, page: Callable[[Connection, Place | None, int], Awaitable[Place | None]]) -> Take:
    """Pages of a walk, each in a transaction.

    Args:
        store: the database.
        page: as for `Walk`, on a connection.
    """

    async def turn(place: Place | None, rows: int) -> Place | None:
        return await store.transact(page, place, rows)

    return Walk(turn).take
