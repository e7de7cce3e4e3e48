"""Publish what is due, and tell followers: units of work, inside the caller's transaction.

What a publication leads to is written in its transaction, so that a killed process neither forgets nor repeats it.
"""

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.discord.posting import post
from actors.ids import RandomBytes, new_object_id
from actors.news.states import is_readable, settled
from actors.notifications.view import NotificationsChanged
from persistence.connection import Connection
from persistence.discord.rows import Subject
from persistence.news import announcements, articles, follows
from persistence.news.rows import ArticleRow
from persistence.notifications import notifications
from persistence.notifications.notifications import NewNotification

NOTIFIED_AT_ONCE = 500
"""Most followers that one transaction notifies."""


class ArticleChanged(msgspec.Struct, frozen=True):
    """An article that readers may see, or could see, has changed.

    Args:
        row: the article as it is now.
        published: whether this was its first publication.
    """

    row: ArticleRow
    published: bool


async def publish_due(conn: Connection, news_id: str, now_ms: int) -> Change[bool]:
    """Store that a scheduled article is published; the value is whether this call has done it, and not another
    before."""
    seen = await articles.read(conn, news_id)
    if seen is None or not await articles.hold_scope(conn, seen.scope):
        return Change(False)
    row = await articles.lock(conn, news_id)
    if row is None or row.status != "scheduled" or not is_readable(row, now_ms):
        return Change(False)
    row = await settle(conn, row, now_ms)
    return Change(True, (ArticleChanged(row, published=True),))


async def settle(conn: Connection, row: ArticleRow, now_ms: int) -> ArticleRow:
    """Store the publication of an article whose time has come, with all that it leads to; returns the article.

    Args:
        row: the article, locked by the caller, who holds its scope as well.
        now_ms: epoch milliseconds.
    """
    now = settled(row, now_ms)
    if now is row:
        return row
    revision = await articles.put(conn, now)
    await tell(conn, now, now_ms)
    return replace(now, revision=revision)


async def tell(conn: Connection, row: ArticleRow, now_ms: int) -> None:
    """Queue everything that tells of a first publication (posts, notifications), in its transaction."""
    # Who reads along at Discord is not known here.
    if row.visibility == "public" and row.scope_type != "global":
        await post(conn, "news_published", _subject(row), now_ms)
    if row.notify and row.scope_type != "global":
        await announcements.announce(conn, row.id, now_ms=now_ms)


async def notify_next(conn: Connection, news_id: str, random_bytes: RandomBytes, now_ms: int) -> Change[bool]:
    """Notify the next followers of an article that is being announced, `NOTIFIED_AT_ONCE` at most.

    The place in the list of followers moves in the same transaction, so that each follower is notified once.

    Returns:
        Whether there may be more of them.
    """
    todo = await announcements.lock(conn, news_id)
    if todo is None:
        return Change(False)
    row = await articles.read(conn, news_id)
    if row is None or not is_readable(row, now_ms):
        await announcements.finish(conn, news_id)
        return Change(False)
    user_ids = await follows.followers(conn, row.scope, after=todo.after_user_id, limit=NOTIFIED_AT_ONCE)
    data = _data_of(row)
    await notifications.add(
        conn,
        [
            NewNotification(new_object_id(now_ms, random_bytes), user_id, "news", row.author_id, data, now_ms)
            for user_id in user_ids
            if user_id != row.author_id
        ],
    )
    more = len(user_ids) >= NOTIFIED_AT_ONCE
    if more:
        await announcements.move(conn, news_id, user_ids[-1])
    else:
        await announcements.finish(conn, news_id)
    return Change(more, tuple(map(NotificationsChanged, user_ids)))


def _subject(row: ArticleRow) -> Subject:
    if row.scope_type == "network":
        return Subject(news_id=row.id, network_id=row.scope_id)
    return Subject(news_id=row.id, server_id=row.scope_id)


def _data_of(row: ArticleRow) -> bytes:
    scope = {"type": row.scope_type, "id": row.scope_id}
    return msgspec.json.encode({"newsId": row.id, "slug": row.slug, "title": row.title, "scope": scope})
