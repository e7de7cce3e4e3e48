"""Lists of articles in pages: their queries, cursors and answers."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from actors.ids import Uuid
from actors.news.locales import spelled
from actors.news.public import Article, article_of
from actors.pages import MAX_PAGE_BYTES, fitting
from persistence.news import listing
from persistence.news.listing import Bounds, Wanted
from persistence.news.rows import ArticleRow, Place, ScopeType
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.declare.query import Clamp
from routes.edge.wire import Wire

Word = Annotated[str, msgspec.Meta(max_length=64)]


class NewsPageQuery(PageQuery, frozen=True):
    """Which page.

    Args:
        limit: articles of a page, clamped to 1..100; a page has about 1 MB at most, so it may be shorter.
    """

    limit: Annotated[int, Clamp(1, 100)] = 50


class NewsQuery(NewsPageQuery, frozen=True):
    """Which articles.

    Args:
        scope_type: only global ones, only of networks, or only of servers.
        scope_id: only of this network or server.
        category, tag: only with this one, case ignored.
        locale: only in this language, case ignored.
    """

    scope_type: ScopeType | None = None
    scope_id: Uuid | None = None
    category: Word | None = None
    tag: Word | None = None
    locale: Word | None = None


class NewsPage(Wire, frozen=True):
    """Articles: pinned ones first, then the newest."""

    items: list[Article]
    next_cursor: str | None
    has_more: bool


def wanted_by(query: NewsQuery, *, public_only: bool) -> Wanted:
    """The filters of a query; `public_only` leaves out articles that only signed-in readers see."""
    return Wanted(
        scope_type=query.scope_type,
        scope_id=query.scope_id,
        category=_lowered(query.category),
        tag=_lowered(query.tag),
        locale=spelled(query.locale) if query.locale else None,
        public_only=public_only,
    )


class Pages:
    """One list of articles, read page by page.

    Args:
        name: distinguishes its cursors from those of other lists.
        own_pins: pinned articles of any scope come first; for lists of one scope. Elsewhere only global ones do.
    """

    def __init__(self, name: str, *, own_pins: bool = False) -> None:
        self._cursor = Cursor(name, Place)
        self._own_pins = own_pins

    def bounds(self, query: NewsPageQuery) -> Bounds:
        """Which part of the list the query asks for, plus one article to tell whether more follow.

        Raises:
            BadQuery: the cursor is not from this list.
        """
        after = self._cursor.place(query.cursor) or listing.FIRST
        return Bounds(after, query.limit + 1, MAX_PAGE_BYTES)

    def page(
        self,
        rows: Sequence[ArticleRow],
        query: NewsPageQuery,
        now_ms: int,
        choices: Mapping[str, tuple[str, ...]] | None,
    ) -> NewsPage:
        """The answer made of the rows that `bounds` asked for.

        Args:
            rows: articles in the list's order.
            query: the query that they were read for.
            now_ms: epoch milliseconds; polls may have expired by then.
            choices: {article id: ids of the options that the viewer has chosen}; None = choices are not shown.
        """
        size = len(fitting(rows[: query.limit], size_bytes))
        page = self._cursor.page(rows, size, self._place_of)
        items = [
            article_of(row, now_ms, None if choices is None else choices.get(row.id, ())) for row in page.rows
        ]
        return NewsPage(items, page.next_cursor, page.has_more)

    def _place_of(self, row: ArticleRow) -> Place:
        return Place(row.pinned if self._own_pins else row.pinned_for_all, row.listed_at_ms, row.id)


def size_bytes(row: ArticleRow) -> int:
    """About how many bytes an article takes on the wire; the same estimate as the one by which SQL ends a page."""
    return len(row.body.encode()) + len(row.body_html.encode())


def _lowered(text: str | None) -> str | None:
    return (text or "").strip().lower() or None
