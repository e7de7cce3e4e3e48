"""Read articles as one viewer may see them: reads of committed rows, inside the caller's transaction."""

from collections.abc import Sequence

import msgspec

from actors.errors import NotFound, Refused
from actors.news.rights import Writer, authorise
from actors.news.states import is_readable
from persistence.connection import Connection
from persistence.news import articles, listing
from persistence.news import polls as poll_rows
from persistence.news.listing import Bounds, Wanted, Writable
from persistence.news.rows import ArticleRow, Status


class Seen(msgspec.Struct, frozen=True):
    """Articles, and what the viewer has chosen in their polls.

    Args:
        rows: the articles.
        choices: {article's id: ids of the chosen options}; without articles in whose polls they have not voted.
    """

    rows: Sequence[ArticleRow]
    choices: dict[str, tuple[str, ...]]


async def one(conn: Connection, news_id: str, by: Writer) -> Seen:
    """One article for a user who may read or write it.

    Raises:
        NotFound: there is no such article, or the user may do neither.
    """
    row = await articles.read(conn, news_id)
    if row is None:
        raise NotFound
    if not is_readable(row, by.stamp.at_ms) and not await _may_write(conn, row, by):
        raise NotFound
    return await _with_choices(conn, [row], by.user_id)


async def page(
    conn: Connection, wanted: Wanted, bounds: Bounds, writable: Writable, status: Status, *, now_ms: int
) -> Seen:
    """A page of the articles that a user may read; for a status other than `published`, of those that they may
    write."""
    if status == "published":
        rows = await listing.page(conn, wanted, bounds, now_ms=now_ms)
    else:
        rows = await listing.page_of_status(conn, wanted, bounds, writable, status, now_ms=now_ms)
    return await _with_choices(conn, rows, writable.user_id)


async def feed(conn: Connection, user_id: str, wanted: Wanted, bounds: Bounds, now_ms: int) -> Seen:
    """A page of a user's feed."""
    rows = await listing.feed(conn, user_id, wanted, bounds, now_ms=now_ms)
    return await _with_choices(conn, rows, user_id)


async def _may_write(conn: Connection, row: ArticleRow, by: Writer) -> bool:
    try:
        await authorise(conn, row.scope, by)
    except Refused:
        return False
    return True


async def _with_choices(conn: Connection, rows: Sequence[ArticleRow], user_id: str) -> Seen:
    polled = [row.id for row in rows if row.poll is not None]
    return Seen(rows, await poll_rows.choices(conn, polled, user_id) if polled else {})
