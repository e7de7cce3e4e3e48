"""How much the articles of one owner's networks and game servers may take together.

Each scope has its own limit, but a user may have a thousand servers.
"""

from actors.errors import QuotaExceeded
from persistence.connection import Connection
from persistence.news.owned import ARTICLE_MIN_BYTES, make_owned_room, owned_bytes
from persistence.news.rows import ArticleRow

OWNED_BYTES = 256 * 1024 * 1024
"""Most bytes of all articles of one owner, with their HTML: some ten thousand of ordinary length."""


async def keep_to_quota(
    conn: Connection, owner_id: str | None, before: ArticleRow, after: ArticleRow
) -> None:
    """Make room for an article that is new or has grown; the owner's oldest archived ones go.

    Args:
        owner_id: who owns the article's scope, as `hold_owner` has returned it in this transaction; None for nobody.
        before: the article as it is stored; of revision 0 where it is not.
        after: the article as it is to be stored.

    Raises:
        QuotaExceeded: the owner's articles that are not archived leave no room.
    """
    if owner_id is None or (before.revision and after.size_bytes <= before.size_bytes):
        return
    others = await owned_bytes(conn, owner_id, but=after.id)
    excess_bytes = others + max(after.size_bytes, ARTICLE_MIN_BYTES) - OWNED_BYTES
    if excess_bytes > 0 and not await make_owned_room(
        conn, owner_id, but=after.id, excess_bytes=excess_bytes
    ):
        raise QuotaExceeded(
            max=OWNED_BYTES,
            message="the articles of all networks and servers of an owner have at most"
            f" {OWNED_BYTES} bytes together",
        )
