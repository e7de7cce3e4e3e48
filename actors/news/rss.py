"""Articles as RSS 2.0, with the profile of the RSS Advisory Board: absolute addresses, ids that never change, and the
summary before the whole text. Pure.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import urlsplit

from actors.xml import Markup, document, element, text
from persistence.news.rows import ArticleRow

PREFIXES = {
    "xmlns:atom": "http://www.w3.org/2005/Atom",
    "xmlns:content": "http://purl.org/rss/1.0/modules/content/",
    "xmlns:dc": "http://purl.org/dc/elements/1.1/",
}


def rendered(rows: Sequence[ArticleRow], *, site: str, own_address: str, locale: str | None) -> bytes:
    """Render the feed. The largest takes some milliseconds, so call it from a worker thread.

    Args:
        rows: published articles, in the order in which they are to stand.
        site: the service's address, without a slash at the end.
        own_address: the address of the feed itself.
        locale: the language of all articles; None if they differ.
    """
    changed_ms = _last_changed_ms(rows)
    channel = [
        element("title", text("News")),
        element("link", text(site)),
        element("description", text(f"News of {urlsplit(site).hostname or site}")),
        *([] if locale is None else [element("language", text(locale))]),
        *([] if changed_ms is None else [element("lastBuildDate", text(date(changed_ms)))]),
        element("atom:link", with_={"href": own_address, "rel": "self", "type": "application/rss+xml"}),
        *(_item(row, site) for row in rows),
    ]
    return document(element("rss", element("channel", *channel), with_={"version": "2.0", **PREFIXES}))


def date(ms: int) -> str:
    """A moment as RFC 822 and HTTP write it."""
    return format_datetime(datetime.fromtimestamp(ms // 1000, UTC), usegmt=True)


def _last_changed_ms(rows: Sequence[ArticleRow]) -> int | None:
    """When the newest of these articles appeared or changed (epoch milliseconds); None without articles."""
    return max((max(row.updated_at_ms, row.listed_at_ms) for row in rows), default=None)


def _item(row: ArticleRow, site: str) -> Markup:
    return element(
        "item",
        element("title", text(row.title)),
        element("link", text(f"{site}/v1/public/news/{row.id}")),
        element("guid", text(f"urn:partyline:news:{row.id}"), with_={"isPermaLink": "false"}),
        element("pubDate", text(date(row.listed_at_ms))),
        *([] if row.author_name is None else [element("dc:creator", text(row.author_name))]),
        *(element("category", text(word)) for word in (*_words(row.category), *row.tags)),
        *([] if not row.summary else [element("description", text(row.summary))]),
        element("content:encoded", text(row.body_html)),
    )


def _words(category: str | None) -> tuple[str, ...]:
    return () if category is None else (category,)
