"""The pool of connections where others have all that the server lends."""

import asyncio
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from persistence.bridge.connector import Connector
from persistence.bridge.pool import Pool
from tests.support.database import run_sql
from tests.support.waiting import PATIENCE_SECONDS

UNITS = 20


@pytest.fixture
def lends_two(database_url: str) -> str:
    """The address of the database for a user who gets two connections, and no third."""
    run_sql(database_url, "DROP ROLE IF EXISTS lends_two; CREATE ROLE lends_two LOGIN CONNECTION LIMIT 2")
    return urlunsplit(urlsplit(database_url)._replace(netloc="lends_two@"))


def test_units_take_turns_where_the_server_lends_no_more_connections(lends_two: str) -> None:
    """A site shares its database with others; what it has got of it serves everybody, if more slowly."""

    async def unit(pool: Pool) -> int:
        conn = await pool.take()
        try:
            await conn.execute("SELECT pg_sleep(0.01)")
        finally:
            pool.give_back(conn)
        return pool.open_count

    async def units() -> list[int]:
        pool = Pool(Connector(lends_two, PATIENCE_SECONDS), 8)
        try:
            async with asyncio.timeout(30):
                await unit(pool)
                return await asyncio.gather(*(unit(pool) for _ in range(UNITS)))
        finally:
            pool.terminate()

    open_counts = asyncio.run(units())
    assert len(open_counts) == UNITS
    assert open_counts[-1] <= 2


def test_a_unit_is_refused_where_there_is_none_to_wait_for(database_url: str, lends_two: str) -> None:
    async def both() -> None:
        others = [await asyncpg.connect(lends_two) for _ in range(2)]
        pool = Pool(Connector(lends_two, PATIENCE_SECONDS), 8)
        async with asyncio.timeout(30):
            for _ in range(2):
                with pytest.raises(asyncpg.TooManyConnectionsError):
                    await pool.take()
            assert pool.open_count == 0
            await _end(others.pop(), database_url)
            conn = await pool.take()
            waits = asyncio.create_task(pool.take())
            pool.give_back(conn)
            assert await waits is conn
            await _end(others.pop(), database_url)
            pool.discard(conn)
            assert pool.open_count == 0
            pool.terminate()

    asyncio.run(both())


async def _end(conn: asyncpg.Connection, database_url: str) -> None:
    """End a connection, and wait until PostgreSQL counts it no longer, which it does a moment after it was closed."""
    admin = await asyncpg.connect(database_url)
    assert await admin.fetchval("SELECT pg_terminate_backend($1, 30000)", conn.get_server_pid())
    conn.terminate()
    await admin.close()
