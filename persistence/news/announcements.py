"""What is still to be told of publications: to followers. Rows only."""

import msgspec

from persistence.connection import Connection


class Announcement(msgspec.Struct, frozen=True):
    """An article whose followers are being notified.

    Args:
        news_id: of the article.
        after_user_id: the last user who was notified; "" at first.
        created_at_ms: when the article was published, epoch milliseconds.
    """

    news_id: str
    after_user_id: str
    created_at_ms: int


async def announce(conn: Connection, news_id: str, *, now_ms: int) -> None:
    """Note that followers of an article's scope are to be notified of it; in the transaction of its publication."""
    await conn.execute(
        "INSERT INTO news_announcements (news_id, after_user_id, created_at_ms) VALUES ($1, '', $2)",
        news_id,
        now_ms,
    )


async def lock_next(conn: Connection) -> Announcement | None:
    """The oldest article that followers are still to be notified of, locked; those that others hold are left out."""
    row = await conn.fetchrow(
        "SELECT * FROM news_announcements ORDER BY created_at_ms, news_id LIMIT 1 FOR UPDATE SKIP LOCKED"
    )
    return None if row is None else Announcement(row["news_id"], row["after_user_id"], row["created_at_ms"])


async def move(conn: Connection, news_id: str, after_user_id: str) -> None:
    """Note that all up to this user were notified."""
    await conn.execute(
        "UPDATE news_announcements SET after_user_id = $2 WHERE news_id = $1", news_id, after_user_id
    )


async def finish(conn: Connection, news_id: str) -> None:
    """Note that all were notified."""
    await conn.execute("DELETE FROM news_announcements WHERE news_id = $1", news_id)
