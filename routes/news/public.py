"""Reading articles without signing in (contract §10)."""

from functools import partial

from actors.errors import NotFound
from actors.ids import ObjectId
from actors.news.public import Article, article_of
from actors.news.states import is_readable
from persistence.news import articles, listing
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import PUBLIC
from routes.news.pages import NewsPage, NewsQuery, Pages, wanted_by

KEPT = "public, max-age=5"
"""Cache-Control; short, so that an article is seen soon after it is published."""

_ALL, _SCOPED = Pages("public-news"), Pages("public-news-of-scope", own_pins=True)


@endpoint("GET", "/v1/public/news", needs=PUBLIC, cacheable=KEPT)
async def list_public_news(call: Call, query: NewsQuery) -> NewsPage:
    """The published articles that are public, pinned ones first, then the newest.

    Polls show their counts, and nothing of who has voted. A cursor is for the same filters.
    """
    wanted = wanted_by(query, public_only=True)
    pages = _SCOPED if wanted.one_scope else _ALL
    rows = await call.service.database.read(
        partial(listing.page, now_ms=call.now_ms), wanted, pages.bounds(query)
    )
    return pages.page(rows, query, call.now_ms, None)


@endpoint("GET", "/v1/public/news/{newsId}", needs=PUBLIC, cacheable=KEPT, refusals=(NotFound,))
async def read_public_article(call: Call, news_id: ObjectId) -> Article:
    """One article; 404 unless it is published and public."""
    row = await call.service.database.read(articles.read, news_id)
    if row is None or row.visibility != "public" or not is_readable(row, call.now_ms):
        raise NotFound
    return article_of(row, call.now_ms, None)
