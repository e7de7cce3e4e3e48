"""Friend requests. Rows only; an expired one counts as absent, although its row may still be there."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection, Row

_SELECT = """
SELECT r.*, s.name AS sender_name, t.name AS recipient_name
FROM friend_requests r
JOIN users s ON s.id = r.sender_id
JOIN users t ON t.id = r.recipient_id
"""

_OF_USERS = f"""
{_SELECT} WHERE (r.sender_id = ANY ($1::text[]) OR r.recipient_id = ANY ($1::text[])) AND r.expires_at_ms > $2
ORDER BY r.created_at_ms, r.id
"""
_READ = f"{_SELECT} WHERE r.id = $1 AND r.expires_at_ms > $2"
_BETWEEN = f"""
{_SELECT} WHERE (r.sender_id = $1 AND r.recipient_id = $2 OR r.sender_id = $2 AND r.recipient_id = $1)
AND r.expires_at_ms > $3
"""


class Request(msgspec.Struct, frozen=True):
    """A pending request, with both users' names."""

    id: str
    sender_id: str
    sender_name: str
    recipient_id: str
    recipient_name: str
    note: str | None
    created_at_ms: int
    expires_at_ms: int


async def of_user(conn: Connection, user_id: str, now_ms: int) -> list[Request]:
    """The requests that a user has sent or received and that have not expired, the oldest first."""
    return (await of_users(conn, [user_id], now_ms))[user_id]


async def of_users(conn: Connection, user_ids: Sequence[str], now_ms: int) -> dict[str, list[Request]]:
    """{user id: the requests that `of_user` returns}."""
    found: dict[str, list[Request]] = {user_id: [] for user_id in user_ids}
    for row in await conn.fetch(_OF_USERS, user_ids, now_ms):
        request = _request(row)
        for side in (request.sender_id, request.recipient_id):
            if side in found:
                found[side].append(request)
    return found


async def read(conn: Connection, request_id: str, now_ms: int) -> Request | None:
    """One request, or None, also when it has expired."""
    row = await conn.fetchrow(_READ, request_id, now_ms)
    return None if row is None else _request(row)


async def between(conn: Connection, one_id: str, other_id: str, now_ms: int) -> list[Request]:
    """The pending requests between two users: usually one, but one in each direction if clocks disagreed."""
    rows = await conn.fetch(_BETWEEN, one_id, other_id, now_ms)
    return [_request(row) for row in rows]


async def add(
    conn: Connection,
    *,
    id: str,
    sender_id: str,
    recipient_id: str,
    note: str | None,
    created_at_ms: int,
    expires_at_ms: int,
) -> None:
    """Store a request, in place of an expired one.

    Args:
        note: the sender's message to the recipient, or None.
    """
    await conn.execute(
        "INSERT INTO friend_requests (id, sender_id, recipient_id, note, created_at_ms, expires_at_ms)"
        " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (sender_id, recipient_id) DO UPDATE SET id = $1, note = $4,"
        " created_at_ms = $5, expires_at_ms = $6",
        id,
        sender_id,
        recipient_id,
        note,
        created_at_ms,
        expires_at_ms,
    )


async def remove_between(conn: Connection, one_id: str, other_id: str) -> None:
    """Delete the requests between two users, in both directions."""
    await conn.execute(
        "DELETE FROM friend_requests"
        " WHERE sender_id = $1 AND recipient_id = $2 OR sender_id = $2 AND recipient_id = $1",
        one_id,
        other_id,
    )


async def prune(conn: Connection, limit: int, *, now_ms: int) -> list[tuple[str, str]]:
    """Delete expired requests, at most `limit`; returns their (sender, recipient) pairs."""
    rows = await conn.fetch(
        "DELETE FROM friend_requests WHERE ctid = ANY (ARRAY(SELECT ctid FROM friend_requests WHERE expires_at_ms <= $1"
        " ORDER BY expires_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING sender_id, recipient_id",
        now_ms,
        limit,
    )
    return [(row["sender_id"], row["recipient_id"]) for row in rows]


def _request(row: Row) -> Request:
    return Request(*(row[name] for name in Request.__struct_fields__))
