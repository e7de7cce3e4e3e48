"""Friend requests. Rows only."""

from dataclasses import dataclass

from persistence.connection import Connection


@dataclass(frozen=True, slots=True)
class Request:
    """One pending request, with both names."""

    id: str
    sender_id: str
    sender_name: str
    recipient_id: str
    recipient_name: str
    note: str | None
    created_at_ms: int
    expires_at_ms: int


async def of_user(conn: Connection, user_id: str, now_ms: int) -> list[Request]:
    """The requests that a user has sent or received, and that have not expired."""
    rows = await conn.fetch(
        "SELECT r.*, s.name AS sender_name, t.name AS recipient_name FROM friend_requests r"
        " JOIN users s ON s.id = r.sender_id JOIN users t ON t.id = r.recipient_id"
        " WHERE (r.sender_id = $1 OR r.recipient_id = $1) AND r.expires_at_ms > $2",
        user_id,
        now_ms,
    )
    return [Request(*(row[name] for name in Request.__slots__)) for row in rows]
