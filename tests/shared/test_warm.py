"""Connections that stay open from test to test."""

import trio

from persistence.bridge.database import open_database
from persistence.connection import Connection
from tests.support.database import cloned_database
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.warm import WARM


async def _process(conn: Connection) -> int:
    process_id: int = await conn.fetchval("SELECT pg_backend_pid()")
    return process_id


async def _leave_traces(conn: Connection) -> None:
    await conn.execute("SELECT pg_advisory_lock(1)")
    await conn.execute("SET timezone = 'Asia/Tokyo'")
    await conn.execute("LISTEN warm")


async def _settings(conn: Connection) -> tuple[str, int]:
    """Its time zone, and to how many channels it listens."""
    row = await conn.fetchrow(
        "SELECT current_setting('timezone'), (SELECT count(*) FROM pg_listening_channels())"
    )
    assert row is not None
    return row[0], row[1]


async def _locks(conn: Connection) -> int:
    locks: int = await conn.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
    return locks


async def test_the_next_gets_the_same_connections_without_a_trace(database_url: str) -> None:
    async with WARM.open(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
        await database.read(_leave_traces)
    kept = WARM.process_ids(database_url)
    async with WARM.open(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
        assert await database.read(_process) in kept
        assert await database.read(_locks) == 0
        assert await database.read(_settings) == ("UTC", 0)


async def test_what_is_broken_is_not_kept(database_url: str) -> None:
    async def sleep(conn: Connection) -> None:
        await conn.execute("SELECT pg_sleep(60)")

    async with WARM.open(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
        process_id = await database.read(_process)
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(database.read, sleep)
                await wait_until(lambda: _sleeps(database_url, process_id))
                scope.cancel()
    assert process_id not in WARM.process_ids(database_url)


async def test_two_at_a_time_share_none(database_url: str) -> None:
    for _ in range(2):
        async with (
            WARM.open(database_url, timeout_seconds=PATIENCE_SECONDS) as one,
            WARM.open(database_url, timeout_seconds=PATIENCE_SECONDS) as other,
        ):
            assert await one.read(_process) != await other.read(_process)


async def test_nothing_is_kept_of_what_nobody_is_lent(postgres_server: str) -> None:
    with cloned_database(postgres_server) as url:
        async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
            await database.read(_process)
        assert WARM.process_ids(url) == []


async def _sleeps(database_url: str, process_id: int) -> bool:
    async with open_database(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
        return await database.read(_is_active, process_id)


async def _is_active(conn: Connection, process_id: int) -> bool:
    asked = "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'"
    active: bool = await conn.fetchval(asked, process_id)
    return active
