"""Lists of capes, each with its total.

A search finds substrings by their trigrams (`cape_grams` in the migration), which a GIN index has, and then checks
the words themselves. All matches are counted first, since their number is part of the answer.
"""

import msgspec

from persistence.capes.rows import Cape, CapeStatus, cape_of
from persistence.connection import Connection, Row
from persistence.trigrams import trigrams_of

FEW = 5_000
"""Up to so many matches can be gathered and sorted within some milliseconds."""

SAMPLE = 100
"""How many of the newest capes are checked for a text; where half of them have it, a scan beats the index."""


class Listed(msgspec.Struct, frozen=True):
    """A page of capes.

    Args:
        total: how many capes all pages have together.
    """

    capes: list[Cape]
    total: int


async def list_approved(conn: Connection, limit: int, offset: int) -> Listed:
    """The public catalog: approved capes, newest approval first; `limit` of them after the first `offset`."""
    total = await conn.fetchval("SELECT number FROM cape_counts WHERE status = 'approved'")
    rows = await conn.fetch(_APPROVED, limit, offset) if offset < total else []
    return Listed([cape_of(row) for row in rows], total)


async def search_approved(conn: Connection, query: str, limit: int, offset: int) -> Listed:
    """Approved capes with a text in name, description or creator, in any case, newest approval first.

    Args:
        query: the text to find, of at least one character.
        limit, offset: capes on the page at most, and capes before it.
    """
    lowered = query.lower()
    trigrams = sorted(trigrams_of(lowered))
    if len(trigrams) > 1 and await conn.fetchval(_IS_COMMON, lowered, SAMPLE):
        total = await conn.fetchval(_COUNT_COMMON, lowered)
    else:
        total = await conn.fetchval("SELECT count_capes_with($1::text[], $2)", trigrams, lowered)
    if offset >= total:
        return Listed([], total)
    if total <= FEW:
        rows = await conn.fetch(_FEW_FOUND, trigrams, lowered, limit, offset)
    else:
        rows = await conn.fetch(_MANY_FOUND, lowered, limit, offset)
    return Listed([cape_of(row) for row in rows], total)


async def list_owned(conn: Connection, owner_id: str, limit: int, offset: int) -> Listed:
    """The capes of a user, newest first, in every state; `limit` of them after the first `offset`."""
    return _with_total(await conn.fetch(_OWNED, owner_id, limit, offset))


async def list_all(conn: Connection, status: CapeStatus | None, limit: int, offset: int) -> Listed:
    """All users' capes, newest first.

    Args:
        status: only capes in this state; None for all.
        limit, offset: capes on the page at most, and capes before it.
    """
    total = await conn.fetchval(
        "SELECT sum(number)::bigint FROM cape_counts WHERE $1::text IS NULL OR status = $1", status
    )
    if offset >= total:
        return Listed([], total)
    rows = (
        await conn.fetch(_ALL, limit, offset)
        if status is None
        else await conn.fetch(_ALL_OF_STATUS, status, limit, offset)
    )
    return Listed([cape_of(row) for row in rows], total)


async def count_owned(conn: Connection, owner_id: str) -> int:
    """How many capes a user has, counting every state."""
    count: int = await conn.fetchval("SELECT count(*) FROM capes WHERE owner_id = $1", owner_id)
    return count


# The page is found by an index-only scan; its rows are read afterwards.
_APPROVED = """
WITH page AS MATERIALIZED (
    SELECT id, approved_at_ms FROM capes WHERE status = 'approved'
    ORDER BY approved_at_ms DESC, id DESC LIMIT $1 OFFSET $2
)
SELECT capes.* FROM page JOIN capes USING (id) ORDER BY page.approved_at_ms DESC, page.id DESC
"""

_IS_COMMON = """
SELECT 2 * count(*) FILTER (WHERE strpos(words, $1) > 0 OR strpos(creator_lower, $1) > 0) > count(*) FROM (
    SELECT words, creator_lower FROM capes WHERE status = 'approved' ORDER BY approved_at_ms DESC, id DESC LIMIT $2
) AS newest
"""

_COUNT_COMMON = """
SELECT count(*) FROM capes
WHERE status = 'approved' AND (strpos(words, $1) > 0 OR strpos(creator_lower, $1) > 0)
"""

# Few matches are gathered and sorted; with many, the catalog is scanned in its order until the page is full.
_FEW_FOUND = """
WITH page AS MATERIALIZED (
    SELECT id, approved_at_ms FROM capes_with($1::text[], $2)
    ORDER BY approved_at_ms DESC, id DESC LIMIT $3 OFFSET $4
)
SELECT capes.* FROM page JOIN capes USING (id) ORDER BY page.approved_at_ms DESC, page.id DESC
"""

_MANY_FOUND = """
WITH page AS MATERIALIZED (
    SELECT id, approved_at_ms FROM capes
    WHERE status = 'approved' AND (strpos(words, $1) > 0 OR strpos(creator_lower, $1) > 0)
    ORDER BY approved_at_ms DESC, id DESC LIMIT $2 OFFSET $3
)
SELECT capes.* FROM page JOIN capes USING (id) ORDER BY page.approved_at_ms DESC, page.id DESC
"""

_OWNED = """
WITH page AS MATERIALIZED (
    SELECT id FROM capes WHERE owner_id = $1 ORDER BY created_at_ms DESC, id DESC LIMIT $2 OFFSET $3
), counted AS (SELECT count(*) AS total FROM capes WHERE owner_id = $1)
SELECT capes.*, counted.total FROM counted LEFT JOIN page ON true LEFT JOIN capes ON capes.id = page.id
ORDER BY capes.created_at_ms DESC, capes.id DESC
"""

_ALL = """
WITH page AS MATERIALIZED (
    SELECT id, created_at_ms FROM capes ORDER BY created_at_ms DESC, id DESC LIMIT $1 OFFSET $2
)
SELECT capes.* FROM page JOIN capes USING (id) ORDER BY page.created_at_ms DESC, page.id DESC
"""

_ALL_OF_STATUS = """
WITH page AS MATERIALIZED (
    SELECT id, created_at_ms FROM capes WHERE status = $1
    ORDER BY created_at_ms DESC, id DESC LIMIT $2 OFFSET $3
)
SELECT capes.* FROM page JOIN capes USING (id) ORDER BY page.created_at_ms DESC, page.id DESC
"""


def _with_total(rows: list[Row]) -> Listed:
    # Beyond the last page, a single row without a cape has the total.
    return Listed([cape_of(row) for row in rows if row["id"] is not None], rows[0]["total"])
