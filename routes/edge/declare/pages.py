"""Cursors of lists whose rows have numbers: `nextCursor` of one page is `cursor` of the next (contract §3)."""

from routes.edge.errors import BadQuery

MAX_DIGITS = 18
"""So that it fits into PostgreSQL's bigint."""


def cursor_number(cursor: str | None) -> int | None:
    """The number that a page begins behind; None for the first page.

    Args:
        cursor: as the client sent it.

    Raises:
        BadQuery: it was not made here.
    """
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= MAX_DIGITS):
        raise BadQuery("query parameter cursor is not valid", parameter="cursor")
    return int(cursor)
