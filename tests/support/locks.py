"""Whether two transactions lock what they share in one order."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from tests.support.waiting import LOOK_SECONDS, PATIENCE_SECONDS, patience

Step = Callable[[Connection], Awaitable[Any]]

_SOMEBODY_WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"


async def crossed(database: Database, first: Step, second: Step, other: Callable[[], Awaitable[Any]]) -> None:
    """Take `first` and, once `other` waits for it, `second`, in one transaction.

    Raises:
        DatabaseUnavailable: `other` holds what `second` takes: a deadlock. Where PostgreSQL has ended `other` for it,
            that raises what it raises then.
    """
    taken = trio.Event()
    here = trio.lowlevel.current_trio_token()

    async def both(conn: Connection) -> None:
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
