"""Vote in the poll of an article: a unit of work, inside the caller's transaction.

Voters of one poll wait for each other at its row, where the counts are; a voter's own row is written beside it.
"""

import msgspec

from actors import polls
from actors.change import Change
from actors.errors import NotFound, PollClosed
from actors.news.states import is_readable
from actors.polls import Poll
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.news import articles
from persistence.news import polls as poll_rows
from persistence.news.rows import ArticleRow


class Voted(msgspec.Struct, frozen=True):
    """The article after a vote, and the ids of the options that the voter has chosen."""

    row: ArticleRow
    choice: tuple[str, ...]


class PollVoted(msgspec.Struct, frozen=True):
    """The counts of an article's poll have changed."""

    news_id: str


async def polled(conn: Connection, news_id: str, now_ms: int) -> ArticleRow:
    """The article of a poll, as readers see it or have seen it.

    Args:
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such article for readers, or it has no poll.
    """
    row = await articles.read(conn, news_id)
    if row is None or not (is_readable(row, now_ms) or row.published_at_ms is not None):
        raise NotFound
    if row.poll is None:
        raise NotFound("the article has no poll")
    return row


async def vote(
    conn: Connection, news_id: str, user_id: str, option_ids: tuple[str, ...], now_ms: int
) -> Change[Voted]:
    """Replace a voter's whole choice; an empty one withdraws it.

    Args:
        option_ids: ids of the options, as the client sent them.
        now_ms: epoch milliseconds.

    Raises:
        NotFound: there is no such article for readers, or it has no poll.
        Invalid: an option is unknown or named twice, or there are more than the poll takes.
        PollClosed: the poll is closed, or the article is archived.
    """
    await require_user(conn, user_id)
    row = await polled(conn, news_id, now_ms)
    stored = await poll_rows.lock(conn, news_id)
    if stored is None:
        raise NotFound("the article has no poll")
    poll = msgspec.json.decode(stored, type=Poll)
    chosen = polls.valid_choice(poll, option_ids)
    if polls.at(poll, now_ms).closed or row.status == "archived":
        raise PollClosed
    previous = await poll_rows.choice_of(conn, news_id, user_id)
    if set(previous) == set(chosen):
        return Change(Voted(msgspec.structs.replace(row, poll=stored), chosen))
    await poll_rows.put_choice(conn, news_id, user_id, chosen)
    encoded = msgspec.json.encode(polls.with_vote(poll, previous, chosen))
    await poll_rows.put(conn, news_id, encoded)
    return Change(Voted(msgspec.structs.replace(row, poll=encoded), chosen), (PollVoted(news_id),))
