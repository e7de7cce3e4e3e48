"""Reading articles as a signed-in user (contract §10)."""

from functools import partial

from actors.errors import NotFound
from actors.ids import ObjectId
from actors.news import reading
from actors.news.public import Article
from actors.news.rights import NODE, writable_by
from persistence.news.rows import Status
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.news.again import article_for
from routes.news.pages import NewsPage, NewsQuery, Pages, wanted_by

KEPT = "private, no-cache"
"""Cache-Control: clients ask again each time, and get a 304 if nothing has changed."""

_ALL, _SCOPED, _FEED = Pages("news"), Pages("news-of-scope", own_pins=True), Pages("news-feed")


class OwnNewsQuery(NewsQuery, frozen=True):
    """Which articles.

    Args:
        status: `draft`, `scheduled` or `archived` lists those of scopes that the caller may write in.
    """

    status: Status = "published"


@endpoint("GET", "/v1/news", needs=AUTHENTICATED, cacheable=KEPT)
async def list_news(call: Call, query: OwnNewsQuery) -> NewsPage:
    """The articles that the caller may read, pinned ones first, then the newest.

    In lists of one scope its own pinned articles come first, elsewhere those of the scope `global` alone. With another
    `status` than `published`, the articles of scopes that the caller may write in. A cursor is for the same filters.
    """
    wanted = wanted_by(query, public_only=False)
    pages = _SCOPED if wanted.one_scope else _ALL
    writable = writable_by(call.user_id, anywhere=call.user.access.allows(NODE))
    read = partial(reading.page, now_ms=call.now_ms)
    seen = await call.service.database.read(read, wanted, pages.bounds(query), writable, query.status)
    return pages.page(seen.rows, query, call.now_ms, seen.choices)


@endpoint("GET", "/v1/news/feed", needs=AUTHENTICATED, cacheable=KEPT)
async def read_news_feed(call: Call, query: NewsQuery) -> NewsPage:
    """The global articles and those of what the caller follows, in the order of lists.

    Pinned articles of the scope `global` alone come first. A cursor is for the same filters.
    """
    wanted = wanted_by(query, public_only=False)
    seen = await call.service.database.read(
        reading.feed, call.user_id, wanted, _FEED.bounds(query), call.now_ms
    )
    return _FEED.page(seen.rows, query, call.now_ms, seen.choices)


@endpoint("GET", "/v1/news/{newsId}", needs=AUTHENTICATED, cacheable=KEPT, refusals=(NotFound,))
async def read_article(call: Call, news_id: ObjectId) -> Article:
    """One article; 404 unless it is published or the caller may write it."""
    return await article_for(call, news_id)
