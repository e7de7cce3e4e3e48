"""What asyncpg is told of arrays is what PostgreSQL would have answered, and it does not ask."""

import asyncio
import re

import asyncpg
import trio

from persistence.bridge.array_types import ARRAY_TYPES
from persistence.bridge.database import open_database
from persistence.connection import Connection
from tests.contract.sources import sources
from tests.support.waiting import PATIENCE_SECONDS

SHORT_NAMES = {"int": "integer", "bool": "boolean"}


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
            "SELECT $1::boolean[], $2::bytea[], $3::smallint[], $4::integer[], $5::bigint[]",
            [True, None],
            [b"\0"],
            [7],
            [-1],
            [1 << 40],
        )
        assert values is not None
        asked = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE $1"
        return (*values, await conn.fetchval(asked, "%typeinfo_tree%"))

    # A new connection: one that other tests have used may have asked for the types of theirs.
    async with open_database(database_url, timeout_seconds=PATIENCE_SECONDS) as database:
        assert await database.read(use) == ([True, None], [b"\0"], [7], [-1], [1 << 40], 0)


def test_every_array_that_a_statement_takes_is_told() -> None:
    """Those of our own types, named `…_row`, have other numbers in each database, and are asked for."""
    told = {each["elemtype_name"] for each in ARRAY_TYPES} | {"text"}
    taken = {
        SHORT_NAMES.get(name, name)
        for source in sources("actors", "persistence", "routes")
        for name in re.findall(r"\$\d+::(\w+)\[\]", source.text)
        if not name.endswith("_row")
    }
    assert taken == told
