"""What asyncpg is told of arrays is what PostgreSQL would have answered, and it does not ask."""

import asyncio

import asyncpg
import trio

from persistence.bridge.array_types import ARRAY_TYPES
from persistence.bridge.database import open_database
from persistence.connection import Connection
from tests.support.waiting import PATIENCE_SECONDS


async def test_it_is_what_postgresql_answers(database_url: str) -> None:
    def asked() -> list[dict[str, object]]:
        async def ask() -> list[dict[str, object]]:
            connection = await asyncpg.connect(database_url)
            try:
                rows, _ = await connection._introspect_types([each["oid"] for each in ARRAY_TYPES], 60)
                return [dict(row) for row in rows if row["depth"] == 0]
            finally:
                await connection.close()

        return asyncio.run(ask())

    found = await trio.to_thread.run_sync(asked)
    assert sorted(found, key=lambda row: row["oid"]) == list(ARRAY_TYPES)


async def test_it_is_not_asked_for(database_url: str) -> None:
    async def use(conn: Connection) -> tuple[object, ...]:
        values = await conn.fetchrow(
            "SELECT $1::boolean[], $2::bytea[], $3::integer[], $4::bigint[]",
            [True, None],
            [b"\0"],
            [-1],
            [1 << 40],
        )
        assert values is not None
        asked = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE $1"
        return (*values, await conn.fetchval(asked, "%typeinfo_tree%"))

    # A new connection: one that other tests have used may have asked for the types of theirs.
    async with open_database(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
        assert await database.read(use) == ([True, None], [b"\0"], [-1], [1 << 40], 0)
