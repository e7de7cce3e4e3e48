"""How much waits for moderators. Rows only."""

import msgspec

from persistence.connection import Connection


class Queues(msgspec.Struct, frozen=True):
    """Reports that are open, and capes that are pending."""

    reports: int = 0
    capes: int = 0


async def count(conn: Connection, most: int) -> Queues:
    """How much waits, each counted up to `most`."""
    row = await conn.fetchrow(_COUNT, most)
    return Queues() if row is None else Queues(row["reports"], row["capes"])


_COUNT = """
SELECT (SELECT count(*) FROM (SELECT FROM reports WHERE status = 'open' LIMIT $1) AS open) AS reports,
       (SELECT count(*) FROM (SELECT FROM capes WHERE status = 'pending' LIMIT $1) AS pending) AS capes
"""
