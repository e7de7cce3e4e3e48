"""Votes in polls: one row per voter and poll, with all options that they chose."""

from collections.abc import Sequence

from persistence.chat.rows import VoteRow
from persistence.connection import Connection


async def store(conn: Connection, rows: Sequence[VoteRow]) -> None:
    """Store users' choices, each voter and poll once; an empty choice deletes the row."""
    kept = [row for row in rows if row.option_ids]
    gone = [row for row in rows if not row.option_ids]
    if gone:
        await conn.execute(
            """
            DELETE FROM poll_votes v USING unnest($1::text[], $2::text[]) AS n (message_id, user_id)
            WHERE v.message_id = n.message_id AND v.user_id = n.user_id
            """,
            [row.message_id for row in gone],
            [row.user_id for row in gone],
        )
    if kept:
        # unnest flattens arrays of arrays, so choices are passed as text: option ids are digits.
        await conn.execute(
            """
            INSERT INTO poll_votes (message_id, user_id, option_ids)
            SELECT n.message_id, n.user_id, string_to_array(n.options, ',')
            FROM unnest($1::text[], $2::text[], $3::text[]) AS n (message_id, user_id, options)
            ON CONFLICT (message_id, user_id) DO UPDATE SET option_ids = excluded.option_ids
            """,
            [row.message_id for row in kept],
            [row.user_id for row in kept],
            [",".join(row.option_ids) for row in kept],
        )


async def drop(conn: Connection, message_ids: Sequence[str]) -> None:
    """Delete the votes of deleted polls."""
    await conn.execute("DELETE FROM poll_votes WHERE message_id = ANY($1::text[])", list(message_ids))


async def votes(conn: Connection, message_ids: Sequence[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """{message id: {user id: option ids}} of the named polls that have votes."""
    rows = await conn.fetch(
        "SELECT message_id, user_id, option_ids FROM poll_votes WHERE message_id = ANY($1::text[])",
        list(message_ids),
    )
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in rows:
        found.setdefault(row["message_id"], {})[row["user_id"]] = tuple(row["option_ids"])
    return found


async def choices(conn: Connection, message_ids: Sequence[str], user_id: str) -> dict[str, tuple[str, ...]]:
    """{message id: option ids} that one user has chosen in the named polls."""
    rows = await conn.fetch(
        "SELECT message_id, option_ids FROM poll_votes WHERE message_id = ANY($1::text[]) AND user_id = $2",
        list(message_ids),
        user_id,
    )
    return {row["message_id"]: tuple(row["option_ids"]) for row in rows}
