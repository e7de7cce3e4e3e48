"""Cursors of lists whose rows are numbered: `nextCursor` of one page is the `cursor` of the next (contract §3)."""

from routes.edge.errors import BadQuery

MAX_DIGITS = 18
"""The most digits that always fit PostgreSQL's bigint."""


def cursor_number(cursor: str | None) -> int | None:
    """The row number after which a page begins; None for the first page.

    Args:
        cursor: the query parameter, or None.

    Raises:
        BadQuery: it is not a number of at most 18 digits.
    """
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= MAX_DIGITS):
        raise BadQuery("query parameter cursor is not valid", parameter="cursor")
    return int(cursor)
