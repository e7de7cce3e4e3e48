"""Friend links. Rows only.

A friendship is two rows, one for each side, created and deleted in one transaction.
"""

from collections.abc import Collection, Sequence

import msgspec

from persistence.connection import Connection
from persistence.friends.visibilities import Visibility

_SELECT = """
SELECT l.user_id, l.friend_id, l.favorite, l.visibility, l.note, l.created_at_ms, l.accepted_at_ms, l.updated_at_ms,
       u.name, u.last_seen_at_ms, s.first_day, s.last_day, s.last_contact_ms
FROM friend_links l
JOIN users u ON u.id = l.friend_id
LEFT JOIN flame_streaks s
    ON s.low_id = least(l.user_id, l.friend_id) AND s.high_id = greatest(l.user_id, l.friend_id)
"""

_OF_USERS = f"{_SELECT} WHERE l.user_id = ANY ($1::text[]) ORDER BY l.accepted_at_ms, l.friend_id"
_NAMED = f"{_SELECT} WHERE l.user_id = $1 AND l.friend_id = ANY ($2::text[]) ORDER BY l.accepted_at_ms, l.friend_id"
_IDS = "SELECT user_id, friend_id FROM friend_links WHERE user_id = ANY ($1::text[])"


class Link(msgspec.Struct, frozen=True):
    """One side of a friendship, with the friend's name and the flame streak of the two: the columns of `_SELECT`.

    Args:
        user_id: the holder of the link, who has chosen `favorite`, `visibility` and `note`.
        visibility: what the friend sees of the holder.
        created_at_ms: when the request was sent.
        name: the friend's name.
        last_seen_at_ms: when the friend was last seen, as stored; memory may know a later time.
        first_day, last_day: the run of UTC days, from the epoch, on which both were in touch; None before the first.
        last_contact_ms: when the two were last in touch, epoch milliseconds; None when they never were.
    """

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


async def of_user(conn: Connection, user_id: str) -> list[Link]:
    """All links of a user, the oldest friend first."""
    return (await of_users(conn, [user_id]))[user_id]


async def of_users(conn: Connection, user_ids: Sequence[str]) -> dict[str, list[Link]]:
    """{user id: all their links, the oldest friend first}."""
    found: dict[str, list[Link]] = {user_id: [] for user_id in user_ids}
    for row in await conn.fetch(_OF_USERS, user_ids):
        found[row["user_id"]].append(Link(*row))
    return found


async def named(conn: Connection, user_id: str, friend_ids: Collection[str]) -> list[Link]:
    """Those of a user's links that are with the named friends, the oldest friend first."""
    return [Link(*row) for row in await conn.fetch(_NAMED, user_id, list(friend_ids))]


async def friend_ids(conn: Connection, user_ids: Sequence[str]) -> dict[str, list[str]]:
    """{user id: the ids of all their friends}."""
    found: dict[str, list[str]] = {user_id: [] for user_id in user_ids}
    for user_id, friend_id in await conn.fetch(_IDS, user_ids):
        found[user_id].append(friend_id)
    return found


async def friends_among(conn: Connection, user_id: str, others: Collection[str]) -> set[str]:
    """Those of the other users who are friends of the user."""
    rows = await conn.fetch(
        "SELECT friend_id FROM friend_links WHERE user_id = $1 AND friend_id = ANY ($2::text[])",
        user_id,
        list(others),
    )
    return {row["friend_id"] for row in rows}


async def add(
    conn: Connection, one_id: str, other_id: str, *, created_at_ms: int, accepted_at_ms: int
) -> None:
    """Create both rows of a friendship, which must not exist, and end what an earlier friendship of the two has left
    hidden.
    """
    await conn.execute(
        "DELETE FROM veils WHERE holder_id = $1 AND viewer_id = $2 OR holder_id = $2 AND viewer_id = $1",
        one_id,
        other_id,
    )
    await conn.execute(
        "INSERT INTO friend_links (user_id, friend_id, created_at_ms, accepted_at_ms, updated_at_ms)"
        " VALUES ($1, $2, $3, $4, $4), ($2, $1, $3, $4, $4)",
        one_id,
        other_id,
        created_at_ms,
        accepted_at_ms,
    )


async def remove(conn: Connection, one_id: str, other_id: str) -> None:
    """Delete both rows of a friendship, and the streak of the two. A user hidden from the other stays hidden."""
    await conn.execute(
        "WITH ended AS (DELETE FROM friend_links"
        " WHERE user_id = $1 AND friend_id = $2 OR user_id = $2 AND friend_id = $1"
        " RETURNING user_id, friend_id, visibility)"
        " INSERT INTO veils (holder_id, viewer_id)"
        " SELECT user_id, friend_id FROM ended WHERE visibility = 'HIDDEN' ON CONFLICT DO NOTHING",
        one_id,
        other_id,
    )
    await conn.execute(
        "DELETE FROM flame_streaks WHERE low_id = least($1, $2) AND high_id = greatest($1, $2)",
        one_id,
        other_id,
    )


async def change(
    conn: Connection,
    user_id: str,
    friend_id: str,
    *,
    favorite: bool | None,
    visibility: Visibility | None,
    note: str | None,
    keep_note: bool,
    now_ms: int,
) -> bool:
    """Change a user's own choices about a friend; False when they are so already, or the two are not friends.

    Args:
        favorite, visibility: None leaves it as it is.
        note: None removes it.
        keep_note: True leaves the note as it is, whatever `note` is.
    """
    tag = await conn.execute(
        "UPDATE friend_links SET favorite = coalesce($3, favorite), visibility = coalesce($4, visibility),"
        " note = CASE WHEN $6 THEN note ELSE $5 END, updated_at_ms = $7 WHERE user_id = $1 AND friend_id = $2"
        " AND (favorite, visibility, note) IS DISTINCT FROM"
        " (coalesce($3, favorite), coalesce($4, visibility), CASE WHEN $6 THEN note ELSE $5 END)",
        user_id,
        friend_id,
        favorite,
        visibility,
        note,
        keep_note,
        now_ms,
    )
    return tag == "UPDATE 1"
