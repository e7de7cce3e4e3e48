"""Published articles of which followers are still to be notified. Rows only."""

from typing import NamedTuple

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


class Waiting(NamedTuple):
    """An article of which followers are still to be notified, and since when (epoch milliseconds)."""

    created_at_ms: int
    news_id: str


async def announce(conn: Connection, news_id: str, *, now_ms: int) -> None:
    """Store that followers of an article's scope are to be notified of it; run in the transaction that publishes it."""
    await conn.execute(
        "INSERT INTO news_announcements (news_id, after_user_id, created_at_ms) VALUES ($1, '', $2)",
        news_id,
        now_ms,
    )


async def waiting(conn: Connection, after: Waiting | None, limit: int) -> list[Waiting]:
    """Articles of which followers are still to be notified, the oldest first.

    Args:
        after: the last one of the page before; None from the start.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT created_at_ms, news_id FROM news_announcements WHERE (created_at_ms, news_id) > ($1, $2)"
        " ORDER BY created_at_ms, news_id LIMIT $3",
        *(after or Waiting(-1, "")),
        limit,
    )
    return [Waiting(*row) for row in rows]


async def lock(conn: Connection, news_id: str) -> Announcement | None:
    """The announcement of an article, locked until the transaction ends; None when all followers were notified, or
    another transaction has it locked."""
    row = await conn.fetchrow(
        "SELECT * FROM news_announcements WHERE news_id = $1 FOR UPDATE SKIP LOCKED", news_id
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
