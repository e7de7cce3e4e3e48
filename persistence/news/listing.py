"""Lists of articles, page by page: pinned ones first, then the newest. Rows only.

What may be read is published, or scheduled for a moment that has come. A page ends with the article that brings its
texts above a number of bytes.
"""

import msgspec

from persistence.connection import Connection
from persistence.news.rows import HEADS, ArticleRow, Place, ScopeType, Status, article_of

FEW = 1_000
"""Up to this many articles are sorted faster than a list of all articles is walked until a page is full."""

FIRST = Place(pinned=True, listed_at_ms=2**63 - 1, id="~")
"""The position before the first article."""


class Bounds(msgspec.Struct, frozen=True):
    """The bounds of a page.

    Args:
        after: the position of the last article of the page before.
        limit: at most so many articles.
        max_bytes: the page ends with the first article that brings the bytes of its texts above this.
    """

    after: Place
    limit: int
    max_bytes: int


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The filters of a list.

    Args:
        scope_type: only articles of this type of scope; None for all.
        scope_id: only articles of this network or server; None for all of the type.
        category, tag, locale: only articles with this one; None for any.
        public_only: only articles that viewers who are not signed in may read too.
    """

    scope_type: ScopeType | None = None
    scope_id: str | None = None
    category: str | None = None
    tag: str | None = None
    locale: str | None = None
    public_only: bool = False

    @property
    def one_scope(self) -> bool:
        """Whether the list is of one scope, whose own pinned articles come first."""
        return self.scope_type == "global" or None not in (self.scope_type, self.scope_id)


class Writable(msgspec.Struct, frozen=True):
    """The scopes whose unpublished articles a user may list.

    Args:
        user_id: the user, who may write in the scopes that they own.
        anywhere: whether they may write in all scopes.
        roles: the roles in which a member of a server may write its news.
        capability: the capability that lets members with other roles write them.
    """

    user_id: str
    anywhere: bool
    roles: tuple[str, ...]
    capability: str


async def page(conn: Connection, wanted: Wanted, bounds: Bounds, *, now_ms: int) -> list[ArticleRow]:
    """A page of the articles that may be read."""
    statement = await _walking(conn, _SCOPED if wanted.one_scope else _ALL, wanted)
    return [article_of(row) for row in await conn.fetch(statement, *_parameters(wanted, bounds), now_ms)]


async def page_of_status(
    conn: Connection, wanted: Wanted, bounds: Bounds, writable: Writable, status: Status, *, now_ms: int
) -> list[ArticleRow]:
    """A page of the unpublished articles with a status that a user may write.

    Args:
        status: `draft`, `archived`, or `scheduled` for a moment that has not come.
    """
    statement = await _walking(conn, _SCOPED_OF_STATUS if wanted.one_scope else _ALL_OF_STATUS, wanted)
    rows = await conn.fetch(
        statement,
        *_parameters(wanted, bounds),
        now_ms,
        status,
        writable.anywhere,
        writable.user_id,
        list(writable.roles),
        writable.capability,
    )
    return [article_of(row) for row in rows]


async def feed(
    conn: Connection, user_id: str, wanted: Wanted, bounds: Bounds, *, now_ms: int
) -> list[ArticleRow]:
    """A page of the news that are global, or of what a user follows, in the order of lists of all scopes."""
    statement = await _walking(conn, _FEED, wanted)
    rows = await conn.fetch(statement, *_parameters(wanted, bounds), now_ms, user_id)
    return [article_of(row) for row in rows]


async def feed_heads(conn: Connection, user_id: str, limit: int, *, now_ms: int) -> list[ArticleRow]:
    """The first articles of a user's feed, at most `limit`, with empty texts: some hundred bytes each."""
    bounds = Bounds(FIRST, limit, 2**62)
    rows = await conn.fetch(_FEED_HEADS, *_parameters(Wanted(), bounds), now_ms, user_id)
    return [article_of(row) for row in rows]


async def _walking(conn: Connection, statement: str, wanted: Wanted) -> str:
    """The statement; or where only a few articles have the wanted tag, the one that looks at those alone.

    A tag that many have is found soon by walking the list, and one that few have is found by its index.
    """
    if wanted.tag is None or await conn.fetchval(_HOW_MANY_TAGGED, wanted.tag, FEW + 1) > FEW:
        return statement
    return _AMONG_FEW[statement]


def _parameters(wanted: Wanted, bounds: Bounds) -> tuple[object, ...]:
    after = bounds.after
    return (
        after.pinned, after.listed_at_ms, after.id, bounds.limit, bounds.max_bytes, wanted.scope_type,
        wanted.scope_id, wanted.category, wanted.tag, wanted.locale, wanted.public_only,
    )  # fmt: skip


_READABLE = "status IN ('published', 'scheduled') AND (status = 'published' OR listed_at_ms <= $12)"

_WANTED = f"""($6::text IS NULL OR scope_type = $6) AND ($7::text IS NULL OR scope_id = $7)
            AND ($8::text IS NULL OR category = $8) AND ($9::text IS NULL OR $9 = ANY (tags))
            AND ($10::text IS NULL OR locale = $10) AND (NOT $11 OR visibility = 'public')
            AND {_READABLE}"""

# The innermost query finds the articles by an index; their texts are fetched for those of the page alone, one by one:
# PostgreSQL does not know how short the page is, and would read the whole table for it (80 ms of 100,000 articles).
_ALL = """
SELECT news.* FROM (
    SELECT id, pin, listed_at_ms, sum(size_bytes) OVER listed - size_bytes AS bytes_before FROM (
        SELECT id, pinned_for_all AS pin, listed_at_ms, size_bytes FROM news_articles
        WHERE (pinned_for_all, listed_at_ms, id) < ($1, $2, $3)
            AND [wanted]
        ORDER BY pinned_for_all DESC, listed_at_ms DESC, id DESC LIMIT $4
    ) AS found
    WINDOW listed AS (ORDER BY pin DESC, listed_at_ms DESC, id DESC)
) AS weighed CROSS JOIN LATERAL (SELECT * FROM news WHERE news.id = weighed.id OFFSET 0) AS news
WHERE bytes_before <= $5 ORDER BY weighed.pin DESC, weighed.listed_at_ms DESC, weighed.id DESC
""".replace("[wanted]", _WANTED)

_UNPUBLISHED = """status <> 'published' AND status = $13
            AND (status <> 'scheduled' OR listed_at_ms > $12)
            AND ($14 OR network_id IN (SELECT network_id FROM networks WHERE owner_id = $15)
                OR server_id IN (SELECT server_id FROM connect_servers WHERE owner_id = $15
                    UNION SELECT server_id FROM connect_members
                    WHERE user_id = $15 AND (role = ANY ($16::text[]) OR $17 = ANY (capabilities))))"""

# In the list of one scope its own pinned articles come first. The scope is compared without a parameter that may be
# null, so that the scope's index serves.
_SCOPED = _ALL.replace("pinned_for_all", "pinned").replace(
    "($6::text IS NULL OR scope_type = $6) AND ($7::text IS NULL OR scope_id = $7)",
    "scope_type = $6 AND scope_id = coalesce($7::text, '')",
)

_ALL_OF_STATUS = _ALL.replace(_READABLE, _UNPUBLISHED)
_SCOPED_OF_STATUS = _SCOPED.replace(_READABLE, _UNPUBLISHED)

# Each followed scope is walked by its own index, and no further than one page.
_FEED = """
WITH followed AS MATERIALIZED (
    SELECT network_id, server_id, category FROM news_follows WHERE user_id = $13
), found AS (
    (SELECT id, pinned_for_all AS pin, listed_at_ms, size_bytes FROM news_articles
     WHERE scope_type = 'global' AND scope_id = '' AND (pinned, listed_at_ms, id) < ($1, $2, $3)
        AND [wanted]
     ORDER BY pinned DESC, listed_at_ms DESC, id DESC LIMIT $4)
    UNION
    SELECT hit.* FROM followed CROSS JOIN LATERAL (
        SELECT id, pinned_for_all, listed_at_ms, size_bytes FROM news_articles
        WHERE network_id = followed.network_id AND ($1 OR (listed_at_ms, id) < ($2, $3))
            AND [wanted]
        ORDER BY listed_at_ms DESC, id DESC LIMIT $4
    ) AS hit WHERE followed.network_id IS NOT NULL
    UNION
    SELECT hit.* FROM followed CROSS JOIN LATERAL (
        SELECT id, pinned_for_all, listed_at_ms, size_bytes FROM news_articles
        WHERE server_id = followed.server_id AND ($1 OR (listed_at_ms, id) < ($2, $3))
            AND [wanted]
        ORDER BY listed_at_ms DESC, id DESC LIMIT $4
    ) AS hit WHERE followed.server_id IS NOT NULL
    UNION
    SELECT hit.* FROM followed CROSS JOIN LATERAL (
        SELECT id, pinned_for_all, listed_at_ms, size_bytes FROM news_articles
        WHERE category = followed.category AND scope_type <> 'global' AND ($1 OR (listed_at_ms, id) < ($2, $3))
            AND [wanted]
        ORDER BY listed_at_ms DESC, id DESC LIMIT $4
    ) AS hit WHERE followed.category IS NOT NULL
), page AS (
    SELECT * FROM found ORDER BY pin DESC, listed_at_ms DESC, id DESC LIMIT $4
), weighed AS (
    SELECT id, pin, listed_at_ms, sum(size_bytes) OVER listed - size_bytes AS bytes_before FROM page
    WINDOW listed AS (ORDER BY pin DESC, listed_at_ms DESC, id DESC)
)
SELECT news.* FROM weighed CROSS JOIN LATERAL (SELECT * FROM news WHERE news.id = weighed.id OFFSET 0) AS news
WHERE bytes_before <= $5 ORDER BY weighed.pin DESC, weighed.listed_at_ms DESC, weighed.id DESC
""".replace("[wanted]", _WANTED)

_FEED_HEADS = _FEED.replace("news.* FROM weighed", HEADS + " FROM weighed")

_HOW_MANY_TAGGED = (
    "SELECT count(*) FROM (SELECT FROM news_articles WHERE tags @> ARRAY[$1::text] LIMIT $2) AS tagged"
)
_TAGGED = """tagged AS MATERIALIZED (
    SELECT id, pinned_for_all, pinned, listed_at_ms, size_bytes, scope_type, scope_id, network_id, server_id, category,
        tags, locale, visibility, status
    FROM news_articles WHERE tags @> ARRAY[$9::text]
)"""

# {statement: the same among the articles that have the tag}
_AMONG_FEW = {
    statement: (
        statement.replace("WITH ", "WITH [tagged], ", 1)
        if statement == _FEED
        else "WITH [tagged]" + statement
    )
    .replace("FROM news_articles", "FROM tagged")
    .replace("[tagged]", _TAGGED)
    for statement in (_ALL, _SCOPED, _ALL_OF_STATUS, _SCOPED_OF_STATUS, _FEED)
}
