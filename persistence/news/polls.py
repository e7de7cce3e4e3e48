"""Polls of articles, and the options that users have chosen. Rows only."""

from collections.abc import Collection, Sequence

from persistence.connection import Connection


async def put(conn: Connection, news_id: str, poll: bytes) -> None:
    """Store the poll of an article, in place of a former one.

    Args:
        poll: the poll as encoded JSON, with the counts of its votes.
    """
    await conn.execute(
        "INSERT INTO news_polls (news_id, poll) VALUES ($1, $2)"
        " ON CONFLICT (news_id) DO UPDATE SET poll = excluded.poll",
        news_id,
        poll,
    )


async def remove(conn: Connection, news_id: str) -> None:
    """Delete the poll of an article, with its votes."""
    await conn.execute("DELETE FROM news_polls WHERE news_id = $1", news_id)


async def lock(conn: Connection, news_id: str) -> bytes | None:
    """The poll of an article, its row locked until the transaction ends; None where there is none."""
    poll: bytes | None = await conn.fetchval(
        "SELECT poll FROM news_polls WHERE news_id = $1 FOR NO KEY UPDATE", news_id
    )
    return poll


async def choice_of(conn: Connection, news_id: str, user_id: str) -> tuple[str, ...]:
    """The ids of the options that a user has chosen; empty without a vote."""
    return (await choices(conn, [news_id], user_id)).get(news_id, ())


async def choices(conn: Connection, news_ids: Collection[str], user_id: str) -> dict[str, tuple[str, ...]]:
    """{article id: ids of the options that a user has chosen} of those of the articles in whose poll the user voted."""
    rows = await conn.fetch(
        "SELECT news_id, option_ids FROM news_votes WHERE user_id = $1 AND news_id = ANY ($2::text[])",
        user_id,
        list(news_ids),
    )
    return {row["news_id"]: tuple(row["option_ids"]) for row in rows}


async def put_choice(conn: Connection, news_id: str, user_id: str, option_ids: Sequence[str]) -> None:
    """Store a user's whole choice, in place of a former one; an empty one withdraws it. The poll's row is locked."""
    if not option_ids:
        await conn.execute("DELETE FROM news_votes WHERE news_id = $1 AND user_id = $2", news_id, user_id)
        return
    await conn.execute(
        "INSERT INTO news_votes (news_id, user_id, option_ids) VALUES ($1, $2, $3::text[])"
        " ON CONFLICT (news_id, user_id) DO UPDATE SET option_ids = excluded.option_ids",
        news_id,
        user_id,
        list(option_ids),
    )
