"""The writer's connection lives for months: it keeps what it uses prepared, and not all that it ever had."""

import asyncio

import asyncpg

from persistence.bridge.writer_connection import MOST_PREPARED, WriterConnection

OFTEN = "SELECT 'often'"


async def _use(database_url: str) -> tuple[int, bool]:
    """Use many statements once, and one often; returns how many PostgreSQL has, and whether that one stayed."""
    conn = await asyncpg.connect(database_url)
    try:
        writer = WriterConnection(conn)
        first = await writer._prepare(OFTEN)
        for number in range(3 * MOST_PREPARED):
            await (await writer._prepare(f"SELECT {number}")).fetch()
            again = await writer._prepare(OFTEN)
        return await conn.fetchval("SELECT count(*) FROM pg_prepared_statements"), again is first
    finally:
        await conn.close()


def test_it_keeps_those_it_uses_and_no_more(database_url: str) -> None:
    prepared, stayed = asyncio.run(_use(database_url))
    assert stayed
    assert 2 <= prepared <= MOST_PREPARED + 2
