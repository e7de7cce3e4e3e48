"""News as RSS, for feed readers (contract §10)."""

from functools import partial
from typing import Annotated
from urllib.parse import urlencode

import trio

from actors.ids import Uuid
from actors.news import rss
from actors.pages import fitting
from persistence.news import listing
from persistence.news.listing import Bounds
from persistence.news.rows import ScopeType
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.principal import PUBLIC
from routes.edge.reply import Page, Reply
from routes.edge.wire import Wire
from routes.news.pages import NewsQuery, Word, size_bytes, wanted_by
from routes.news.parts import FEED_DATES

PATH = "/v1/public/news/rss"
KEPT = "public, max-age=60"
MEDIA = "application/rss+xml"

MAX_BYTES = 512 * 1024
"""The most bytes of articles in a feed; a first article that is larger is the only one."""


class RssQuery(Wire, frozen=True):
    """Which articles.

    Args:
        scope_type: only global ones, only of networks, or only of servers.
        scope_id: only of this network or server.
        category: only with this one, case ignored.
        locale: only in this language, case ignored.
        limit: at most so many, clamped to 1..50; a feed has about 512 KiB at most.
    """

    scope_type: ScopeType | None = None
    scope_id: Uuid | None = None
    category: Word | None = None
    locale: Word | None = None
    limit: Annotated[int, Clamp(1, 50)] = 50


@endpoint("GET", PATH, needs=PUBLIC, cacheable=KEPT, produces=MEDIA)
async def read_news_rss(call: Call, query: RssQuery) -> Reply[Page]:
    """The published articles that are public, as RSS 2.0.

    An article's `guid` never changes. Readers that ask again with `If-None-Match` or `If-Modified-Since` get a 304 as
    long as the feed is the same; within the second of a change there is no Last-Modified.
    """
    same = NewsQuery(
        scope_type=query.scope_type, scope_id=query.scope_id, category=query.category, locale=query.locale
    )
    wanted = wanted_by(same, public_only=True)
    rows = await call.service.database.read(
        partial(listing.page, now_ms=call.now_ms), wanted, Bounds(listing.FIRST, query.limit, MAX_BYTES)
    )
    rows = list(fitting(rows, size_bytes, MAX_BYTES))
    site = call.service.config.base_url.rstrip("/")
    asked = {
        "scopeType": wanted.scope_type,
        "scopeId": wanted.scope_id,
        "category": wanted.category,
        "locale": wanted.locale,
    }
    terms = urlencode({name: value for name, value in asked.items() if value is not None})
    address = f"{site}{PATH}?{terms}" if terms else f"{site}{PATH}"
    render = partial(rss.rendered, site=site, own_address=address, locale=wanted.locale)
    content = await trio.to_thread.run_sync(render, rows)
    dates, now_s = call.service.of(FEED_DATES), call.now_ms // 1000
    since_s = dates.since_s(f"{address} {query.limit}", content, now_s)
    page = Page(content, content_type=f"{MEDIA}; charset=utf-8")
    return Reply(page, headers={} if since_s is None else {"last-modified": rss.date(since_s * 1000)})
