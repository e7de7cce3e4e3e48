"""Deletes overdue rows in batches until none is left, each batch in a transaction of its own; and works off things that
are due one by one.

After a batch that the database could not finish in time, the next run begins with half its size, down to a single row;
the size grows again with each success. So neither a large backlog nor a slow disk stops pruning for good. A run ends
after a while and continues a moment later; between two batches other work has the database.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import trio

from actors.kernel.store import Store
from persistence.connection import Connection
from persistence.errors import PASSING, PersistenceError
from persistence.failing import Failing
from routes.jobs import OneOfMany

RUN_SECONDS = 10.0
"""How long a run goes on starting batches."""

PAUSE_SECONDS = 0.02
"""Pause between two batches."""

BATCH_ROWS = 5_000
"""Default for the most rows of one batch."""

Place = TypeVar("Place")

Item = TypeVar("Item")

Take = Callable[[int], Awaitable[bool]]
"""Processes one batch of at most so many rows; returns whether there may be more."""


class Pruning:
    """The `run` of a job that deletes overdue rows.

    Args:
        take: processes one batch.
        most: most rows of a batch, at least 1.
    """

    def __init__(self, take: Take, *, most: int = BATCH_ROWS) -> None:
        self.take = take
        self._most = most
        self._rows = most

    @property
    def rows(self) -> int:
        """Size of the next batch."""
        return self._rows

    async def run(self) -> bool:
        """Process batches until none is left or `RUN_SECONDS` are over; returns False if some may be left.

        Raises:
            PersistenceError: a batch failed; the next run begins with half its size.
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
    """Walks through all rows of a table in key order, page by page, for tables without an index of overdue rows.

    Args:
        page: is given the key to continue after, None at the start, and the number of rows to examine; processes the
            overdue ones among them, and returns the key to continue after, or None at the end.
    """

    def __init__(self, page: Callable[[Place | None, int], Awaitable[Place | None]]) -> None:
        self._page = page
        self._place: Place | None = None

    async def take(self, rows: int) -> bool:
        """Process the next page of so many rows; returns whether there are more. A failed page is repeated.

        Raises: what the page raises.
        """
        self._place = await self._page(self._place, rows)
        return self._place is not None


class EachOf(Generic[Item]):
    """Works off what is due, one thing after the other, so that none that fails holds up those behind it.

    It walks through all that is due in the order of a key, page by page. What fails is logged and left; the walk goes
    on behind it, and the next walk, which begins anew, comes to it again.

    Args:
        page: is given the last thing of the page before, None at the start, and a number of things; reads so many that
            are due and come after it.
        step: works off one of them.
        doing: what a step does, for the log.
        about: names a thing, for the log.
    """

    def __init__(
        self,
        page: Callable[[Item | None, int], Awaitable[Sequence[Item]]],
        step: Callable[[Item], Awaitable[object]],
        *,
        doing: str,
        about: Callable[[Item], str],
    ) -> None:
        self._page = page
        self._step = step
        self._doing = doing
        self._about = about
        self._failing = Failing()
        self._last: Item | None = None

    async def take(self, limit: int) -> bool:
        """Work off the next page of at most `limit` things; returns whether there may be more.

        Cancellation: the next call goes on behind the thing whose step was cancelled.

        Raises:
            DatabaseUnavailable, QueueFull: the database cannot be asked. The next call goes on behind the thing that
                has met this, since it may be the one thing that cannot be done in time.
            Whatever the page raises.
        """
        found = await self._page(self._last, limit)
        for item in found:
            self._last = item
            with OneOfMany(self._doing, self._about(item), self._failing):
                await self._step(item)
        if len(found) >= limit:
            return True
        self._last = None
        return False


class RowsOfEach(Generic[Item]):
    """Works off the rows of one thing after the other, where one may have more of them than a batch, and few have any.

    It walks through all things in the order of a key, page by page. As with `EachOf`, what fails is logged and left,
    and the next walk comes to it again.

    Args:
        store: the database.
        page: is given the key to continue after, None at the start; looks at some things, and returns the keys of those
            with rows that are due, and the key to continue after, None at the end.
        step: works off at most so many rows of the thing with this key, in a transaction; returns how many, 0 when it
            has none left.
        doing: what a step does, for the log.
        about: names a thing, for the log.
    """

    def __init__(
        self,
        store: Store,
        page: Callable[[Connection, Item | None], Awaitable[tuple[Sequence[Item], Item | None]]],
        step: Callable[[Connection, Item, int], Awaitable[int]],
        *,
        doing: str,
        about: Callable[[Item], str],
    ) -> None:
        self._store = store
        self._page = page
        self._step = step
        self._doing = doing
        self._about = about
        self._failing = Failing()
        self._place: Item | None = None

    async def take(self, rows: int) -> bool:
        """Work off at most so many rows, of the things of one page; returns whether there may be more. A page is
        repeated until all of its rows are worked off.

        Raises:
            DatabaseUnavailable, QueueFull: the database cannot be asked. Where a single row was wanted, the next call
                goes on behind the thing that has met this, since it may be the one that cannot be done in time.
            Whatever the page raises.
        """
        found, place = await self._store.read(self._page, self._place)
        left = rows
        for item in found:
            try:
                with OneOfMany(self._doing, self._about(item), self._failing):
                    while done := await self._store.transact(self._step, item, left):
                        left -= done
                        if left <= 0:
                            return True
            except PASSING:
                if rows == 1:
                    self._place = item
                raise
        self._place = place
        return place is not None


def rows_of(store: Store, prune: Callable[[Connection, int], Awaitable[int]]) -> Take:
    """Make a `Take` of a function that deletes rows, run in a transaction.

    Args:
        store: the database.
        prune: deletes at most so many rows, and returns how many it deleted.
    """

    async def take(rows: int) -> bool:
        return await store.transact(prune, rows) >= rows

    return take


def pages_of(store: Store, page: Callable[[Connection, Place | None, int], Awaitable[Place | None]]) -> Take:
    """Make a `Take` of a `Walk` whose pages run in a transaction each.

    Args:
        store: the database.
        page: as for `Walk`, with the connection as its first argument.
    """

    async def turn(place: Place | None, rows: int) -> Place | None:
        return await store.transact(page, place, rows)

    return Walk(turn).take
