"""What refers to a row is found by an index when that row is deleted: an erasure reads no table from end to end."""

from persistence.bridge.database import Database
from persistence.connection import Connection

_WITHOUT_INDEX = """
SELECT conrelid::regclass || ' (' || string_agg(attname, ', ' ORDER BY attnum) || ')' AS columns
FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
WHERE contype = 'f' AND confdeltype IN ('c', 'n') AND NOT EXISTS (
    SELECT FROM pg_index
    WHERE indrelid = conrelid
        AND conkey @> (indkey::int2[])[0 : cardinality(conkey) - 1]
        AND conkey <@ (indkey::int2[])[0 : cardinality(conkey) - 1]
)
GROUP BY pg_constraint.oid, conrelid ORDER BY columns
"""


async def test_what_goes_or_loses_its_reference_with_a_row_has_an_index(database: Database) -> None:
    async def read(conn: Connection) -> list[str]:
        return [row["columns"] for row in await conn.fetch(_WITHOUT_INDEX)]

    assert await database.read(read) == []
