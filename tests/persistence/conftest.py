"""Everything about persistence is tested on the newest PostgreSQL and on the oldest that we support."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from persistence.bridge.database import Database
from persistence.connection import Connection
from tests.support.clusters import Clusters
from tests.support.database import DEBIAN_15, lent_database, running_server
from tests.support.turns import Gate, make_things, open_gate


@pytest.fixture(scope="session")
def oldest_server() -> Iterator[str]:
    """PostgreSQL 15, where the machine has it."""
    if not DEBIAN_15.exists():
        pytest.skip(f"no PostgreSQL 15 in {DEBIAN_15}")
    with running_server(DEBIAN_15) as url:
        yield url


@pytest.fixture(params=["postgres_server", "oldest_server"], ids=["newest", "oldest"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty, migrated database on either server."""
    with lent_database(request.getfixturevalue(request.param)) as url:
        yield url


@pytest.fixture
async def things(database: Database) -> Database:
    """A database with the things a to z, at 0."""
    await database.transact(make_things, [chr(code) for code in range(ord("a"), ord("z") + 1)])
    return database


@pytest.fixture
async def empty(database: Database) -> Database:
    """A database without anything in it."""
    await database.transact(_clear)
    return database


async def _clear(conn: Connection) -> None:
    await conn.execute("DROP SCHEMA public CASCADE")
    await conn.execute("CREATE SCHEMA public")


@pytest.fixture
async def gate(database_url: str) -> AsyncIterator[Gate]:
    """See `Gate`."""
    async with open_gate(database_url) as gate:
        yield gate


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A data folder that every user can reach, with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="partyline-test-"))
    folder.chmod(0o755)
    yield folder / "data"
    shutil.rmtree(folder)


@pytest.fixture
def made_dir(data_dir: Path, clusters: Clusters) -> Path:
    """The data folder, with a cluster that nobody has started yet."""
    clusters.lay_into(data_dir)
    return data_dir


@pytest.fixture(params=[None, DEBIAN_15], ids=["wheel", "debian-15"])
def pg_bin(request: pytest.FixtureRequest) -> Path | None:
    """The programs of the embedded PostgreSQL: those of the wheel, and those of the oldest version."""
    if request.param is not None and not request.param.exists():
        pytest.skip(f"no PostgreSQL 15 in {request.param}")
    folder: Path | None = request.param
    return folder
