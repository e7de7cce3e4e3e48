"""Runs two transactions against each other: shows whether they lock shared rows in the same order, and what one does
about changes of the other."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, cast

import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from tests.support.waiting import LOOK_SECONDS, PATIENCE_SECONDS, patience, wait_until

Step = Callable[[Connection], Awaitable[Any]]

_SOMEBODY_WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"


async def crossed(database: Database, first: Step, second: Step, other: Callable[[], Awaitable[Any]]) -> None:
    """Take `first` and, once `other` waits for it, `second`, in one transaction.

    Raises:
        AssertionError: `other` holds what `second` takes: a deadlock, whichever of the two PostgreSQL has ended for it.
    """
    taken = trio.Event()
    here = trio.lowlevel.current_trio_token()
    before = database.statistics().collisions
    runs = 0

    async def both(conn: Connection) -> None:
        nonlocal runs
        runs += 1
        if runs > 1:
            return  # it was the one that was ended
        await first(conn)
        here.run_sync_soon(taken.set)
        while not await conn.fetchval(_SOMEBODY_WAITS):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)
        await second(conn)

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: database.transact(both, timeout_seconds=PATIENCE_SECONDS))
            await taken.wait()
            await other()
    assert database.statistics().collisions == before, "the two transactions met in a deadlock"


async def during(database: Database, first: Step, other: Callable[[], Awaitable[Any]]) -> None:
    """Run `other` while `first` is not committed yet, which is as soon as `other` waits for it, or has ended."""
    taken, here = trio.Event(), trio.lowlevel.current_trio_token()
    has_ended = False

    async def holding(conn: Connection) -> None:
        await first(conn)
        here.run_sync_soon(taken.set)
        while not has_ended and not await conn.fetchval(_SOMEBODY_WAITS):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: database.transact(holding, timeout_seconds=PATIENCE_SECONDS))
            await taken.wait()
            await other()
            has_ended = True


async def held_up(
    database: Database,
    first: Step,
    other: Callable[[], Awaitable[Any]],
    meanwhile: Callable[[], Awaitable[Any]],
) -> None:
    """Take `first` in a transaction and, once `other` waits for it, run all of `meanwhile`; then `other` goes on."""
    taken = trio.Event()
    here = trio.lowlevel.current_trio_token()
    done: Future[None] = Future()

    async def hold(conn: Connection) -> None:
        await first(conn)
        here.run_sync_soon(taken.set)
        await asyncio.wrap_future(done)

    async def waits() -> bool:
        return bool(await database.read(lambda conn: conn.fetchval(_SOMEBODY_WAITS)))

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: database.transact(hold, timeout_seconds=PATIENCE_SECONDS))
            await taken.wait()
            nursery.start_soon(other)
            await wait_until(waits)
            await meanwhile()
            done.set_result(None)


class _Looked:
    """A connection that waits once, after its first `fetch`.

    Args:
        conn: the connection that executes the queries.
        wait: awaited after the first one.
    """

    def __init__(self, conn: Connection, wait: Callable[[], Awaitable[Any]]) -> None:
        self._conn = conn
        self._wait: Callable[[], Awaitable[Any]] | None = wait

    async def fetch(self, *args: Any) -> Any:
        rows = await self._conn.fetch(*args)
        wait, self._wait = self._wait, None
        if wait is not None:
            await wait()
        return rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)


async def interrupted(database: Database, unit: Step, meanwhile: Callable[[], Awaitable[Any]]) -> None:
    """Run a unit of work in a transaction, and all of `meanwhile` between its first query and the next.

    Args:
        unit: a unit of work that begins with a `fetch`. `meanwhile` must not wait for rows that this locks, or both
            would wait until that gives up.
    """
    looked = trio.Event()
    here = trio.lowlevel.current_trio_token()
    done: Future[None] = Future()

    async def wait() -> None:
        here.run_sync_soon(looked.set)
        await asyncio.wrap_future(done)

    async def begun(conn: Connection) -> None:
        await unit(cast(Connection, _Looked(conn, wait)))

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: database.transact(begun, timeout_seconds=PATIENCE_SECONDS))
            await looked.wait()
            await meanwhile()
            done.set_result(None)
