"""Articles, one at a time. Rows only."""

from collections.abc import Collection
from typing import NamedTuple

from persistence.connection import Connection
from persistence.news.rows import HEADS, ArticleRow, Scope, article_of


class Due(NamedTuple):
    """A scheduled article, and the moment at which it is to be published (epoch milliseconds)."""

    publish_at_ms: int
    news_id: str


async def hold_scope(conn: Connection, scope: Scope) -> bool:
    """Lock a scope until the transaction ends: it is not deleted, and other transactions that write articles in it
    wait, so that together they keep to its limit and its unique slugs. Returns whether there is such a scope."""
    if scope.type != "global" and not await conn.fetchval(_HOLD[scope.type], scope.id):
        return False
    await conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('news ' || $1 || ' ' || $2, 33))", scope.type, scope.id
    )
    return True


async def read(conn: Connection, news_id: str) -> ArticleRow | None:
    """One article, whatever its status, or None."""
    row = await conn.fetchrow("SELECT * FROM news WHERE id = $1", news_id)
    return None if row is None else article_of(row)


async def read_all(conn: Connection, news_ids: Collection[str]) -> list[ArticleRow]:
    """Those of these articles that exist, whatever their status; in no order."""
    rows = await conn.fetch(_READ_ALL, list(news_ids))
    return [article_of(row) for row in rows]


async def read_heads(conn: Connection, news_ids: Collection[str]) -> list[ArticleRow]:
    """Those of these articles that exist, with empty texts, whatever their status; in no order."""
    rows = await conn.fetch(_READ_HEADS, list(news_ids))
    return [article_of(row) for row in rows]


async def lock(conn: Connection, news_id: str) -> ArticleRow | None:
    """One article, its row locked until the transaction ends, or None."""
    await conn.execute("SELECT FROM news_articles WHERE id = $1 FOR NO KEY UPDATE", news_id)
    return await read(conn, news_id)


async def due(conn: Connection, after: Due | None, *, now_ms: int, limit: int) -> list[Due]:
    """Scheduled articles whose moment has come, the earliest first.

    Args:
        after: the last one of the page before; None from the start.
        now_ms: epoch milliseconds.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT publish_at_ms, id FROM news_articles WHERE status = 'scheduled'"
        " AND publish_at_ms >= $1 AND (publish_at_ms, id) > ($1, $2) AND publish_at_ms <= $3"
        " ORDER BY publish_at_ms, id LIMIT $4",
        *(after or Due(-1, "")),
        now_ms,
        limit,
    )
    return [Due(*row) for row in rows]


async def slug_taken(conn: Connection, scope: Scope, slug: str) -> bool:
    """Whether an article of the scope has this slug."""
    taken: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM news_articles WHERE scope_type = $1 AND scope_id = $2 AND slug = $3)",
        scope.type,
        scope.id,
        slug,
    )
    return taken


async def make_room(conn: Connection, scope: Scope, most: int) -> bool:
    """Delete a scope's oldest archived articles until it has fewer than `most` articles; returns whether it has."""
    count = await conn.fetchval(
        "SELECT count(*) FROM news_articles WHERE scope_type = $1 AND scope_id = $2", scope.type, scope.id
    )
    excess = int(count) + 1 - most
    if excess <= 0:
        return True
    tag = await conn.execute(
        "DELETE FROM news_articles WHERE id = ANY (ARRAY(SELECT id FROM news_articles"
        " WHERE scope_type = $1 AND scope_id = $2 AND status = 'archived' ORDER BY listed_at_ms, id LIMIT $3))",
        scope.type,
        scope.id,
        excess,
    )
    return int(tag.rpartition(" ")[2]) >= excess


async def put(conn: Connection, row: ArticleRow) -> int:
    """Store an article, new or changed, but for its poll; returns its revision. Scope and author stay as they were."""
    revision: int = await conn.fetchval(
        _PUT, row.id, row.scope_id if row.scope_type == "network" else None,
        row.scope_id if row.scope_type == "server" else None, row.slug, row.title, row.summary, row.body,
        row.body_html, row.size_bytes, row.cover_url, row.category,
        list(row.tags), row.author_id, row.locale, row.pinned, row.status, row.visibility, row.publish_at_ms,
        row.published_at_ms, row.created_at_ms, row.updated_at_ms, row.notify,
    )  # fmt: skip
    return revision


_READ_ALL = "SELECT news.* FROM news WHERE id = ANY ($1::text[])"
_READ_HEADS = _READ_ALL.replace("news.*", HEADS)

_PUT = """
INSERT INTO news_articles (
    id, network_id, server_id, slug, title, summary, body, body_html, size_bytes, cover_url, category, tags, author_id,
    locale, pinned, status, visibility, publish_at_ms, published_at_ms, created_at_ms, updated_at_ms, notify
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text[], $13, $14, $15, $16, $17, $18, $19, $20, $21, $22
)
ON CONFLICT (id) DO UPDATE SET
    slug = excluded.slug, title = excluded.title, summary = excluded.summary, body = excluded.body,
    body_html = excluded.body_html, size_bytes = excluded.size_bytes, cover_url = excluded.cover_url,
    category = excluded.category, tags = excluded.tags, locale = excluded.locale, pinned = excluded.pinned,
    status = excluded.status, visibility = excluded.visibility, publish_at_ms = excluded.publish_at_ms,
    published_at_ms = excluded.published_at_ms, updated_at_ms = excluded.updated_at_ms, notify = excluded.notify,
    revision = news_articles.revision + 1
RETURNING revision
"""

_HOLD = {
    "network": "SELECT true FROM networks WHERE network_id = $1 FOR KEY SHARE",
    "server": "SELECT true FROM connect_servers WHERE server_id = $1 FOR KEY SHARE",
}
