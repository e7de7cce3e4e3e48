"""Pruning: it goes on until nothing is left, gives way, and no amount and no slowness stops it for good."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.store import Store
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable, RowsRejected
from routes.pruning import PAUSE_SECONDS, RUN_SECONDS, EachOf, Pruning, RowsOfEach, Walk


class Table:
    """Overdue rows.

    Args:
        rows: how many.
        most: a batch of more takes too long.
        seconds: what a batch takes.
    """

    def __init__(self, rows: int, *, most: int = 1_000_000, seconds: float = 0.0) -> None:
        self.rows = rows
        self.batches: list[int] = []
        self.most = most
        self._seconds = seconds

    async def take(self, limit: int) -> bool:
        await trio.sleep(self._seconds)
        self.batches.append(limit)
        if limit > self.most:
            raise DatabaseUnavailable("too slow")
        gone = min(limit, self.rows)
        self.rows -= gone
        return gone >= limit


async def test_it_goes_on_until_nothing_is_left(autojump_clock: MockClock) -> None:
    table = Table(30_000)
    assert await Pruning(table.take, most=5_000).run()
    assert (table.rows, len(table.batches)) == (0, 7)


async def test_it_gives_way_between_two_batches(autojump_clock: MockClock) -> None:
    began = trio.current_time()
    await Pruning(Table(30_000).take, most=5_000).run()
    assert trio.current_time() - began == pytest.approx(6 * PAUSE_SECONDS)


async def test_a_run_ends_and_says_that_something_is_left(autojump_clock: MockClock) -> None:
    table = Table(10**9, seconds=1.0)
    pruning = Pruning(table.take, most=5_000)
    began = trio.current_time()
    assert await pruning.run() is False
    assert trio.current_time() - began < RUN_SECONDS + 2
    assert len(table.batches) == pytest.approx(10, abs=1)


async def test_slow_statements_do_not_stop_it_for_good(autojump_clock: MockClock) -> None:
    table = Table(1_000, most=3)
    pruning = Pruning(table.take, most=5_000)
    runs = 0
    while table.rows:
        runs += 1
        try:
            await pruning.run()
        except DatabaseUnavailable:
            continue
    failed = [limit for limit in table.batches if limit > 3]
    assert failed[:11] == [5_000, 2_500, 1_250, 625, 312, 156, 78, 39, 19, 9, 4]


async def test_batches_grow_again(autojump_clock: MockClock) -> None:
    table = Table(30_000, most=100)
    pruning = Pruning(table.take, most=400)
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            await pruning.run()
    assert pruning.rows == 100
    table.most = 400
    assert await pruning.run()
    assert (table.batches[2:5], pruning.rows) == ([100, 200, 400], 400)


async def test_a_walk_goes_on_where_it_failed() -> None:
    looked: list[int | None] = []

    async def page(after: int | None, limit: int) -> int | None:
        looked.append(after)
        if len(looked) == 2:
            raise DatabaseUnavailable("!")
        place = (after or 0) + limit
        return place if place < 9 else None

    take: Callable[[int], Awaitable[bool]] = Walk(page).take
    assert await take(3)
    with pytest.raises(DatabaseUnavailable):
        await take(3)
    assert [await take(3) for _ in range(4)] == [True, False, True, True]
    assert looked == [None, 3, 3, 6, None, 3]


class Due:
    """Numbers that are due until they are worked off.

    Args:
        count: those below this are due.
        bad: some of them of which each step fails.
    """

    def __init__(self, count: int, bad: dict[int, Exception]) -> None:
        self.bad = bad
        self.left = list(range(count))
        self.tried: list[int] = []
        self.each = EachOf(self._page, self._step, doing="testing", about=str)

    async def _page(self, after: int | None, limit: int) -> list[int]:
        return [one for one in self.left if after is None or one > after][:limit]

    async def _step(self, one: int) -> None:
        self.tried.append(one)
        if one in self.bad:
            raise self.bad[one]
        self.left.remove(one)


@pytest.mark.parametrize("error", [RowsRejected("!"), KeyError("?")], ids=repr)
async def test_those_that_fail_hold_up_no_other(autojump_clock: MockClock, error: Exception) -> None:
    due = Due(9, {0: error, 1: error, 2: error, 5: error})
    pruning = Pruning(due.each.take, most=3)
    assert await pruning.run()
    assert (due.left, due.tried) == ([0, 1, 2, 5], list(range(9)))
    del due.bad[0], due.bad[5]
    assert await pruning.run()
    assert due.left == [1, 2]


async def test_what_cannot_be_done_in_time_does_not_come_first_again(autojump_clock: MockClock) -> None:
    due = Due(4, {1: DatabaseUnavailable("too slow")})
    pruning = Pruning(due.each.take, most=4)
    with pytest.raises(DatabaseUnavailable):
        await pruning.run()
    assert await pruning.run()
    assert (due.left, due.tried) == ([1], [0, 1, 2, 3])
    with pytest.raises(DatabaseUnavailable):
        await pruning.run()


class Owners:
    """Things with rows that are due, two of which are looked at at once.

    Args:
        rows: how many each has; the keys are numbers from 0.
        bad: some of them of which each step fails.
    """

    def __init__(self, rows: list[int], bad: dict[int, Exception]) -> None:
        self.rows = rows
        self.bad = bad
        self.tried: list[tuple[int, int]] = []
        self.each = RowsOfEach(cast("Store", self), self._page, self._step, doing="testing", about=str)

    async def read(self, unit: Callable[..., Awaitable[Any]], *args: object) -> Any:
        return await unit(None, *args)

    transact = read

    async def _page(self, conn: Connection, after: int | None) -> tuple[list[int], int | None]:
        keys = range(len(self.rows))[(-1 if after is None else after) + 1 :][:2]
        return [key for key in keys if self.rows[key]], keys[-1] if len(keys) == 2 else None

    async def _step(self, conn: Connection, key: int, limit: int) -> int:
        if self.rows[key]:
            self.tried.append((key, limit))
        if key in self.bad:
            raise self.bad[key]
        done = min(limit, self.rows[key])
        self.rows[key] -= done
        return done


async def test_a_thing_with_more_rows_than_a_batch_is_gone_on_with(autojump_clock: MockClock) -> None:
    owners = Owners([0, 1, 7, 2, 0], {})
    assert [await owners.each.take(4) for _ in range(5)] == [True, True, True, True, False]
    assert owners.tried == [(1, 4), (2, 4), (2, 4), (3, 1), (3, 4)]
    assert not any(owners.rows)
    assert await owners.each.take(4)  # the next walk begins anew
    assert await Pruning(owners.each.take, most=4).run()


async def test_a_thing_that_fails_holds_up_the_rows_of_no_other(autojump_clock: MockClock) -> None:
    owners = Owners([3, 3, 3], {0: RowsRejected("!"), 1: KeyError("?")})
    assert await Pruning(owners.each.take, most=9).run()
    assert (owners.rows, owners.tried) == ([3, 3, 0], [(0, 9), (1, 9), (2, 9)])


async def test_a_thing_of_which_no_row_is_done_in_time_is_passed_over(autojump_clock: MockClock) -> None:
    owners = Owners([1, 3, 1], {1: DatabaseUnavailable("too slow")})
    pruning = Pruning(owners.each.take, most=4)
    for _ in range(3):
        with pytest.raises(DatabaseUnavailable):
            await pruning.run()
    assert owners.tried == [(0, 4), (1, 3), (1, 2), (1, 1)]
    assert await pruning.run()
    assert owners.rows == [0, 3, 0]
