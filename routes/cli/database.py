"""The database for a command that is no server: beside a running one, or for a moment on its own.

With the embedded database, whoever holds the data folder runs it. When a server does, the command connects to
that one's socket; when nobody does, the command holds the folder and runs the database for as long as it
takes.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import trio

from persistence.bridge.database import Database, open_database
from persistence.embedded.address import running_address
from persistence.embedded.cluster import ClusterInUse
from persistence.embedded.data_dir import hold_data_dir
from persistence.embedded.postgres import embedded_postgres
from persistence.errors import DatabaseUnavailable
from persistence.schema import checks
from persistence.schema.migrate import migrate
from routes.edge.config.table import Config

SERVER_START_SECONDS = 30.0
"""How long to wait for a server that has begun to start, or for one that is just ending."""

POLL_SECONDS = 0.1

POOL_SIZE = 2
"""Connections that a command has use for."""


@asynccontextmanager
async def database_of(config: Config) -> AsyncIterator[Database]:
    """The configured database, open; brought up to this version unless a running server answers for that.

    Args:
        config: says which.

    Raises:
        DatabaseUnavailable: it cannot be reached.
        DatabaseUnfit, MigrationChanged: as at the start of a server.
        ClusterFaulty, NoPostgres: the embedded one cannot be run.

    Must be entered in the main thread.
    """
    async with AsyncExitStack() as stack:
        database, own = await _opened(config, stack)
        if own:
            await database.read(checks.check_server)
            await migrate(database)
        yield database


async def _opened(config: Config, stack: AsyncExitStack) -> tuple[Database, bool]:
    """The database, and whether no server runs it."""
    if config.database_url is not None:
        return await _connected(config.database_url, stack), True
    give_up_at = trio.current_time() + SERVER_START_SECONDS
    while True:
        try:
            # The folder first, as a server does: one that has only begun to start is not raced to its
            # database.
            stack.enter_context(hold_data_dir(config.data_dir))
            dsn = await stack.enter_async_context(embedded_postgres(config.data_dir, pg_bin=config.pg_bin))
            return await _connected(dsn, stack), True
        except ClusterInUse:
            address = await trio.to_thread.run_sync(running_address, config.data_dir)
        try:
            if address is not None:
                return await _connected(address, stack), False
        except DatabaseUnavailable:
            if trio.current_time() > give_up_at:
                raise
        if trio.current_time() > give_up_at:
            raise DatabaseUnavailable("a server holds the data folder, and its database does not answer")
        await trio.sleep(POLL_SECONDS)


async def _connected(dsn: str, stack: AsyncExitStack) -> Database:
    return await stack.enter_async_context(open_database(dsn, pool_size=POOL_SIZE))
