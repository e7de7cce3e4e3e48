"""Opens the database for a command other than `serve`, whether or not a server is running.

The process that holds the data folder runs the embedded database. If a server holds it, the command connects to the
socket of that database; if not, the command holds the folder and runs the database for as long as it needs it.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import trio

from persistence.bridge.database import Database, open_database
from persistence.embedded.address import running_address
from persistence.embedded.data_dir import hold_data_dir
from persistence.embedded.errors import ClusterInUse
from persistence.embedded.postgres import embedded_postgres
from persistence.errors import DatabaseUnavailable
from persistence.schema import checks
from persistence.schema.migrate import migrate
from routes.config.config import Config

SERVER_START_SECONDS = 30.0
"""How long to wait for a server that is starting or stopping."""

SAID_AFTER_SECONDS = 3.0
"""After how long a command says on stderr what it waits for."""

POLL_SECONDS = 0.1

POOL_SIZE = 2
"""Most connections that a command opens."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A database that a command has reached.

    Args:
        database: the open database.
        dsn: the database's address.
        served: whether a running server has migrated the database, and uses it.
    """

    database: Database
    dsn: str
    served: bool


@asynccontextmanager
async def database_of(config: Config) -> AsyncIterator[Database]:
    """Open the configured database; migrate it first, unless it is embedded and a running server has done that.

    Must be entered in the main thread.

    Args:
        config: the configuration, which names the database, or the data folder of the embedded one.

    Raises:
        DatabaseUnavailable: the database cannot be reached.
        DatabaseUnfit, MigrationChanged: the database cannot be used, as at the start of a server.
        ClusterFaulty, NoPostgres: the embedded database cannot be run.
    """
    async with reach(config) as reached:
        if not reached.served:
            await reached.database.read(checks.check_server)
            await migrate(reached.database)
        yield reached.database


@asynccontextmanager
async def reach(config: Config) -> AsyncIterator[Reached]:
    """Open the configured database as it is, without migrating it.

    Must be entered in the main thread.

    Args:
        config: as for `database_of`.

    Raises:
        DatabaseUnavailable, ClusterFaulty, NoPostgres: as from `database_of`.
    """
    async with AsyncExitStack() as stack:
        yield await _reach(config, stack)


async def _reach(config: Config, stack: AsyncExitStack) -> Reached:
    if config.database_url is not None:
        return await _connected(config.database_url, stack, served=False)
    began_at = trio.current_time()
    give_up_at = began_at + SERVER_START_SECONDS
    is_said = False
    while True:
        try:
            # The folder first, as a server does, so that the two never compete for the database.
            stack.enter_context(hold_data_dir(config.data_dir))
            dsn = await stack.enter_async_context(
                embedded_postgres(config.data_dir, pg_bin=config.pg_bin, wal_dir=config.wal_dir)
            )
            return await _connected(dsn, stack, served=False)
        except ClusterInUse:
            address = await trio.to_thread.run_sync(running_address, config.data_dir)
        try:
            if address is not None:
                return await _connected(address, stack, served=True)
        except DatabaseUnavailable:
            if trio.current_time() > give_up_at:
                raise
        if trio.current_time() > give_up_at:
            raise DatabaseUnavailable("a server holds the data folder, and its database does not answer")
        if not is_said and trio.current_time() >= began_at + SAID_AFTER_SECONDS:
            sys.stderr.write(f"waiting for the database of the server that holds {config.data_dir}\n")
            is_said = True
        await trio.sleep(POLL_SECONDS)


async def _connected(dsn: str, stack: AsyncExitStack, *, served: bool) -> Reached:
    database = await stack.enter_async_context(open_database(dsn, pool_size=POOL_SIZE))
    return Reached(database, dsn, served)
