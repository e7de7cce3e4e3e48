"""Parties in whose past a user occurs: found page by page, because nothing else ever asks for them."""

from persistence.connection import Connection
from persistence.party.rows import KIND

PAGE_PARTIES = 500


async def page_end(conn: Connection, after: str) -> str | None:
    """The last party of the page behind an id; None when everything behind it is one page."""
    found: str | None = await conn.fetchval(
        "SELECT id FROM heads WHERE kind = $1 AND id > $2 ORDER BY id OFFSET $3 LIMIT 1",
        KIND,
        after,
        PAGE_PARTIES - 1,
    )
    return found


async def in_page(conn: Connection, user_id: str, after: str, upto: str | None) -> list[str]:
    """The parties of a page whose journal or snapshots hold a user.

    Args:
        after: the id that the page begins behind.
        upto: the last id of the page; None for all that follow.
    """
    rows = await conn.fetch(
        "SELECT id FROM events WHERE kind = $1 AND id > $2 AND ($3::text IS NULL OR id <= $3)"
        " AND position($4::bytea IN event) > 0"
        " UNION SELECT id FROM snapshots WHERE kind = $1 AND id > $2 AND ($3::text IS NULL OR id <= $3)"
        " AND position($4::bytea IN state) > 0",
        KIND,
        after,
        upto,
        user_id.encode(),
    )
    return [row["id"] for row in rows]
