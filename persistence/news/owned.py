"""What the articles in all networks and game servers of one owner take, and room for more of them."""

from persistence.connection import Connection
from persistence.news.rows import Scope

ARTICLE_MIN_BYTES = 4 * 1024
"""What an article counts at least: its row, its places in indexes, title and summary."""


async def hold_owner(conn: Connection, scope: Scope) -> str | None:
    """The id of a scope's owner, or None where nobody owns it, as with the global one. Until the transaction ends,
    others who ask this about the same owner wait, so that together they keep to the owner's limit.

    Asked for while the scope is held, and before any article is locked.
    """
    if scope.type == "global":
        return None
    owner_id: str | None = await conn.fetchval(_OWNER[scope.type], scope.id)
    if owner_id is not None:
        await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('news of ' || $1, 33))", owner_id)
    return owner_id


async def owned_bytes(conn: Connection, owner_id: str, *, but: str) -> int:
    """What the articles of an owner's networks and servers take, each counted with `ARTICLE_MIN_BYTES` at least.

    Args:
        but: the id of an article that is left out.
    """
    return int(await conn.fetchval(_TAKEN, owner_id, but, ARTICLE_MIN_BYTES))


async def make_owned_room(conn: Connection, owner_id: str, *, but: str, excess_bytes: int) -> bool:
    """Delete the oldest archived articles of an owner's networks and servers until so many bytes are free; returns
    whether they are.

    Args:
        but: the id of an article that stays.
    """
    freed = await conn.fetchval(_MAKE_ROOM, owner_id, but, ARTICLE_MIN_BYTES, excess_bytes)
    return int(freed) >= excess_bytes


_OWNER = {
    "network": "SELECT owner_id FROM networks WHERE network_id = $1",
    "server": "SELECT owner_id FROM connect_servers WHERE server_id = $1",
}

_OWNED = """
SELECT article.id, article.status, article.listed_at_ms, greatest(article.size_bytes, $3) AS bytes
FROM networks AS own JOIN news_articles AS article USING (network_id) WHERE own.owner_id = $1 AND article.id <> $2
UNION ALL
SELECT article.id, article.status, article.listed_at_ms, greatest(article.size_bytes, $3)
FROM connect_servers AS own JOIN news_articles AS article USING (server_id)
WHERE own.owner_id = $1 AND article.id <> $2
"""

_TAKEN = "SELECT coalesce(sum(bytes), 0) FROM (_OWNED) AS owned".replace("_OWNED", _OWNED)

_MAKE_ROOM = """
WITH in_order AS (
    SELECT id, sum(bytes) OVER (ORDER BY listed_at_ms, id) - bytes AS before
    FROM (_OWNED) AS owned WHERE status = 'archived'
), gone AS (
    DELETE FROM news_articles WHERE id = ANY (ARRAY(SELECT id FROM in_order WHERE before < $4))
    RETURNING greatest(size_bytes, $3) AS bytes
)
SELECT coalesce(sum(bytes), 0) FROM gone
""".replace("_OWNED", _OWNED)
