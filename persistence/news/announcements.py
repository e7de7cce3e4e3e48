"""Published articles of which followers are still to be notified. Rows only."""

import msgspec

from persistence.connection import Connection


class Announcement(msgspec.Struct, frozen=True):
    """An article of which followers are being notified.

    Args:
        news_id: the article's id.
        after_user_id: the last user who was notified; "" at first.
        created_at_ms: when the article was published, epoch milliseconds.
    """

    news_id: str
    after_user_id: str
    created_at_ms: int


async def announce(conn: Connection, news_id: str, *, now_ms: int) -> None:
    """Store that followers of an article's scope are to be notified of it; run in the transaction that publishes it."""
    await conn.execute(
        "INSERT INTO news_announcements (news_id, after_user_id, created_at_ms) VALUES ($1, '', $2)",
        news_id,
        now_ms,
    )


async def lock_next(conn: Connection) -> Announcement | None:
    """The oldest article of which followers are still to be notified, locked until the transaction ends; those that
    other transactions have locked are left out. None when there is no such article."""
    row = await conn.fetchrow(
        "SELECT * FROM news_announcements ORDER BY created_at_ms, news_id LIMIT 1 FOR UPDATE SKIP LOCKED"
    )
    return None if row is None else Announcement(row["news_id"], row["after_user_id"], row["created_at_ms"])


async def move(conn: Connection, news_id: str, after_user_id: str) -> None:
    """Store that followers up to and including this user were notified."""
    await conn.execute(
        "UPDATE news_announcements SET after_user_id = $2 WHERE news_id = $1", news_id, after_user_id
    )


async def finish(conn: Connection, news_id: str) -> None:
    """Delete the announcement of an article, because all followers were notified."""
    await conn.execute("DELETE FROM news_announcements WHERE news_id = $1", news_id)
