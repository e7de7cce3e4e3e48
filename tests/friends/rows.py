"""Friendships and requests as rows, for tests of what shows them: what FR's rules would have written."""

from persistence.connection import Connection
from persistence.friends.visibilities import Visibility


async def befriend(conn: Connection, one_id: str, other_id: str, now_ms: int) -> None:
    """Link two users both ways; the first one has a note."""
    for user_id, friend_id, note in ((one_id, other_id, "met"), (other_id, one_id, None)):
        await conn.execute(
            "INSERT INTO friend_links (user_id, friend_id, note, created_at_ms, accepted_at_ms, updated_at_ms)"
            " VALUES ($1, $2, $3, $4, $4, $4)",
            user_id,
            friend_id,
            note,
            now_ms,
        )


async def unfriend(conn: Connection, one_id: str, other_id: str) -> None:
    """End a friendship both ways."""
    await conn.execute(
        "DELETE FROM friend_links WHERE user_id = ANY ($1::text[]) AND friend_id = ANY ($1::text[])",
        [one_id, other_id],
    )


async def choose(
    conn: Connection, user_id: str, friend_id: str, visibility: Visibility, favorite: bool
) -> None:
    """Change a link as its holder does."""
    await conn.execute(
        "UPDATE friend_links SET visibility = $3, favorite = $4, updated_at_ms = updated_at_ms + 1"
        " WHERE user_id = $1 AND friend_id = $2",
        user_id,
        friend_id,
        visibility,
        favorite,
    )


async def request(
    conn: Connection, id: str, sender_id: str, recipient_id: str, now_ms: int, expires_at_ms: int
) -> None:
    """A request that waits."""
    await conn.execute(
        "INSERT INTO friend_requests (id, sender_id, recipient_id, note, created_at_ms, expires_at_ms)"
        " VALUES ($1, $2, $3, 'hi', $4, $5)",
        id,
        sender_id,
        recipient_id,
        now_ms,
        expires_at_ms,
    )


async def withdraw(conn: Connection, one_id: str, other_id: str) -> None:
    """No request waits between two users any more."""
    await conn.execute(
        "DELETE FROM friend_requests WHERE sender_id = ANY ($1::text[]) AND recipient_id = ANY ($1::text[])",
        [one_id, other_id],
    )
