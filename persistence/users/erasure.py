"""Erase users. Rows only.

What refers to a user by a foreign key is deleted with their row: rights, settings, friendships, requests, their
own blocks, notifications, shares, capes. What others did to them (blocks, reports) and the audit trail stay,
under the bare id.
"""

from collections.abc import Collection, Mapping

import msgspec

from persistence.chat import attachments
from persistence.connection import Connection
from persistence.users.permissions import announce

PAGE_ROWS = 5_000
"""How many notifications are searched at once."""


_NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_END_MS = f"{_NOW_MS} + ($3::float8 * 1000)::bigint"


class Erasure(msgspec.Struct, frozen=True):
    """The record that a user was erased at a time; a user who comes back may be erased again."""

    user_id: str
    erased_at_ms: int


async def others_of(conn: Connection, user_id: str) -> dict[str, bool]:
    """{other user's id: whether they block this user} of all users who share a friendship, request or block with this
    user, or are hidden from or to them since a former friendship.
    """
    rows = await conn.fetch(
        "SELECT other_id, bool_or(blocks) FROM ("
        " SELECT friend_id AS other_id, false AS blocks FROM friend_links WHERE user_id = $1"
        " UNION SELECT recipient_id, false FROM friend_requests WHERE sender_id = $1"
        " UNION SELECT sender_id, false FROM friend_requests WHERE recipient_id = $1"
        " UNION SELECT viewer_id, false FROM veils WHERE holder_id = $1"
        " UNION SELECT holder_id, false FROM veils WHERE viewer_id = $1"
        " UNION SELECT target_id, false FROM blocks WHERE user_id = $1"
        " UNION SELECT user_id, true FROM blocks WHERE target_id = $1) AS others GROUP BY other_id",
        user_id,
    )
    return {row[0]: row[1] for row in rows}


async def erase(conn: Connection, user_id: str, now_ms: int, *, even_if_held: bool) -> bool:
    """Delete a user with everything that refers to them, and note the erasure; every process is notified at the commit.

    Args:
        now_ms: epoch milliseconds.
        even_if_held: whether to delete the user although a game server, a party or a voice channel refers to them.

    Returns:
        False if one of these refers to the user and `even_if_held` is false; the caller then has to roll back.
    """
    await conn.execute(
        "INSERT INTO erased_users (user_id, erased_at_ms) VALUES ($1, $2)"
        " ON CONFLICT (user_id) DO UPDATE SET erased_at_ms = $2, swept = false",
        user_id,
        now_ms,
    )
    await drop_attachments(conn, user_id)
    # Once nobody can take them in any more, another statement sees whoever has. Both come last and together, because
    # whatever refers to the user waits.
    await conn.execute("SELECT FROM users WHERE id = $1 FOR UPDATE", user_id)
    if await conn.fetchval(_DELETE, user_id, even_if_held) is None:
        return False
    await announce(conn, user_id)
    return True


_DELETE = """
DELETE FROM users WHERE id = $1 AND ($2 OR NOT (
    EXISTS (SELECT FROM connect_servers WHERE owner_id = $1)
    OR EXISTS (SELECT FROM connect_members WHERE user_id = $1)
    OR EXISTS (SELECT FROM connect_sessions WHERE user_id = $1)
    OR EXISTS (SELECT FROM connect_tickets WHERE user_id = $1 AND NOT used)
    OR EXISTS (SELECT FROM party_members WHERE user_id = $1)
    OR EXISTS (SELECT FROM voice_sessions WHERE user_id = $1)
)) RETURNING true
"""


async def erased_among(conn: Connection, user_ids: Collection[str]) -> set[str]:
    """Those of these users who were erased, even if they have come back since."""
    rows = await conn.fetch(
        "SELECT user_id FROM erased_users WHERE user_id = ANY ($1::text[])", list(user_ids)
    )
    return {row["user_id"] for row in rows}


async def last_erased_at_ms(conn: Connection, user_id: str) -> int | None:
    """When a user was last erased, epoch milliseconds, even if they have come back since; None for never."""
    at_ms: int | None = await conn.fetchval(
        "SELECT erased_at_ms FROM erased_users WHERE user_id = $1", user_id
    )
    return at_ms


async def drop_attachments(conn: Connection, user_id: str) -> None:
    """Free everything that a user has uploaded; the next sweep removes the files."""
    await attachments.free_of_uploader(conn, user_id)


async def unswept(
    conn: Connection, after: tuple[int, str], limit: int
) -> tuple[list[Erasure], tuple[int, str] | None]:
    """The next erasures that are not finished, the oldest first.

    Args:
        after: (time of erasure in epoch milliseconds, id) of the last of the page before; (-1, "") from the start.
        limit: at most so many.

    Returns:
        The erasures, and where the next page starts; None after the last.
    """
    rows = await conn.fetch(
        "SELECT erased_at_ms, user_id FROM erased_users WHERE NOT swept AND (erased_at_ms, user_id) > ($1, $2)"
        " ORDER BY erased_at_ms, user_id LIMIT $3",
        *after,
        limit,
    )
    place = (rows[-1]["erased_at_ms"], rows[-1]["user_id"]) if len(rows) >= limit else None
    return [Erasure(row["user_id"], row["erased_at_ms"]) for row in rows], place


async def claim(conn: Connection, erasure: Erasure, seconds: float) -> int | None:
    """Take an erasure, to finish it while nobody else does.

    Args:
        seconds: how long the claim lasts, unless it is prolonged or released.

    Returns:
        When it ends by itself, epoch milliseconds by the database's clock; it is known by that. None where the erasure
        is finished, or somebody else has claimed it.
    """
    until_ms: int | None = await conn.fetchval(
        f"UPDATE erased_users SET finishing_until_ms = {_END_MS} WHERE user_id = $1 AND erased_at_ms = $2"  # noqa: S608
        f" AND NOT swept AND finishing_until_ms <= {_NOW_MS} RETURNING finishing_until_ms",
        erasure.user_id,
        erasure.erased_at_ms,
        seconds,
    )
    return until_ms


async def prolong(conn: Connection, user_id: str, until_ms: int, seconds: float) -> int | None:
    """Let a claim last so many seconds from now on; returns when it ends now, None when it is another's or released.

    Args:
        until_ms: when it would have ended.
    """
    later_ms: int | None = await conn.fetchval(
        f"UPDATE erased_users SET finishing_until_ms = {_END_MS}"  # noqa: S608
        " WHERE user_id = $1 AND finishing_until_ms = $2 RETURNING finishing_until_ms",
        user_id,
        until_ms,
        seconds,
    )
    return later_ms


async def release(conn: Connection, user_id: str, until_ms: int) -> None:
    """End a claim, unless it has ended by itself and another was made since.

    Args:
        until_ms: when it would end by itself.
    """
    await conn.execute(
        "UPDATE erased_users SET finishing_until_ms = 0 WHERE user_id = $1 AND finishing_until_ms = $2",
        user_id,
        until_ms,
    )


async def finish(conn: Connection, erasure: Erasure, until_ms: int) -> bool:
    """Store that no row has the erased user's name any more, so that the user may come back.

    Args:
        until_ms: when the claim of whoever has finished it would end.

    Returns:
        False, without effect, when the claim is another's.
    """
    finished = await conn.fetchval(
        "UPDATE erased_users SET swept = true, finishing_until_ms = 0 WHERE user_id = $1 AND erased_at_ms = $2"
        " AND NOT swept AND finishing_until_ms = $3 RETURNING true",
        erasure.user_id,
        erasure.erased_at_ms,
        until_ms,
    )
    if finished is None:
        return False
    await drop_attachments(conn, erasure.user_id)
    return True


class Notice(msgspec.Struct, frozen=True):
    """A notification that a user has caused."""

    id: str
    user_id: str
    kind: str
    data: bytes


async def notices_end(conn: Connection, after: str) -> str | None:
    """The last notification of the page after an id, whichever user caused it; None when all remaining
    ones are one page.
    """
    found: str | None = await conn.fetchval(
        "SELECT id FROM notifications WHERE id > $1 ORDER BY id OFFSET $2 LIMIT 1", after, PAGE_ROWS - 1
    )
    return found


async def notices_by(conn: Connection, actor_id: str, after: str, upto: str | None) -> list[Notice]:
    """The notifications of a page that a user has caused.

    Args:
        after: the page starts after this id; "" from the start.
        upto: the last notification of the page; None for all that remain.
    """
    rows = await conn.fetch(
        "SELECT id, user_id, kind, data FROM notifications"
        " WHERE id > $2 AND ($3::text IS NULL OR id <= $3) AND actor_id = $1",
        actor_id,
        after,
        upto,
    )
    return [Notice(*row) for row in rows]


async def rewrite_notices(conn: Connection, data: Mapping[str, bytes]) -> None:
    """Replace the contents of notifications; `data` is {id: encoded JSON object}."""
    await conn.execute(
        "UPDATE notifications SET data = fresh.data FROM unnest($1::text[], $2::bytea[]) AS fresh (id, data)"
        " WHERE notifications.id = fresh.id",
        list(data),
        list(data.values()),
    )
