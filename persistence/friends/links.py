"""Friend links. Rows only."""

from collections.abc import Collection
from dataclasses import dataclass

from persistence.connection import Connection, Row
from persistence.friends.visibilities import Visibility

_SELECT = (
    "SELECT l.*, u.name, u.last_seen_at_ms, s.first_day, s.last_day, s.last_contact_ms FROM friend_links l"
    " JOIN users u ON u.id = l.friend_id LEFT JOIN flame_streaks s"
    " ON s.low_id = least(l.user_id, l.friend_id) AND s.high_id = greatest(l.user_id, l.friend_id)"
    " WHERE l.user_id = $1"
)


@dataclass(frozen=True, slots=True)
class Link:
    """One side of a friendship, with the friend's name and the streak."""

    user_id: str
    friend_id: str
    favorite: bool
    visibility: Visibility
    note: str | None
    created_at_ms: int
    accepted_at_ms: int
    updated_at_ms: int
    name: str
    last_seen_at_ms: int | None
    first_day: int | None
    last_day: int | None
    last_contact_ms: int | None


def _link(row: Row) -> Link:
    return Link(*(row[name] for name in Link.__slots__))


async def of_user(conn: Connection, user_id: str) -> list[Link]:
    """All links of a user."""
    return [_link(row) for row in await conn.fetch(_SELECT, user_id)]


async def named(conn: Connection, user_id: str, friend_ids: Collection[str]) -> list[Link]:
    """Those of a user's links that are with these."""
    rows = await conn.fetch(_SELECT + " AND l.friend_id = ANY ($2::text[])", user_id, list(friend_ids))
    return [_link(row) for row in rows]
