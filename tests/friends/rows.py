"""Friendships and requests as rows, as the rules of friends would write them, for tests of what shows them."""

from persistence.connection import Connection
from persistence.friends import links, requests
from persistence.friends.visibilities import Visibility


async def befriend(conn: Connection, one_id: str, other_id: str, now_ms: int) -> None:
    """Link two users both ways; the first one has a note."""
    await links.add(conn, one_id, other_id, created_at_ms=now_ms, accepted_at_ms=now_ms)
    assert await links.change(
        conn,
        one_id,
        other_id,
        favorite=None,
        visibility=None,
        note="met",
        keep_note=False,
        now_ms=now_ms,
    )


async def choose(
    conn: Connection, user_id: str, friend_id: str, visibility: Visibility, favorite: bool, now_ms: int
) -> None:
    """Change a user's settings of a friendship, as they would themselves, or leave them as they are."""
    await links.change(
        conn,
        user_id,
        friend_id,
        favorite=favorite,
        visibility=visibility,
        note=None,
        keep_note=True,
        now_ms=now_ms,
    )


async def request(
    conn: Connection, id: str, sender_id: str, recipient_id: str, now_ms: int, expires_at_ms: int
) -> None:
    """Store a friend request that waits for its answer."""
    await requests.add(
        conn,
        id=id,
        sender_id=sender_id,
        recipient_id=recipient_id,
        note="hi",
        created_at_ms=now_ms,
        expires_at_ms=expires_at_ms,
    )
