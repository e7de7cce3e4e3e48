"""Counts for the bounds of conversations: groups owned, groups that users are in, others brought into them.

Transactions that add to groups are serialised (`lock`), so that a count stays valid until the commit. The group's
actor decides on an addition in a later turn: until then it stands in `members_to_be`, and counts.
"""

from collections.abc import Sequence

from persistence.connection import Connection

TO_BE_MS = 60_000
"""After this time an undecided addition counts no longer: the request that would decide on it has ended."""

DAY_MS = 24 * 3600 * 1000


async def lock(conn: Connection) -> None:
    """Serialise all transactions that add to groups, until the end of this one."""
    await conn.execute("SELECT pg_advisory_xact_lock(4, 0)")


async def groups_owned(conn: Connection, user_id: str) -> int:
    """How many groups a user owns."""
    return int(await conn.fetchval("SELECT count(*) FROM conversations WHERE owner_id = $1", user_id))


async def in_too_many(conn: Connection, user_ids: Sequence[str], *, most: int, now_ms: int) -> list[str]:
    """Those of the users who are in more groups than allowed, counting groups that they are just being added to.

    Args:
        most: how many groups are allowed.
        now_ms: epoch milliseconds.
    """
    rows = await conn.fetch(
        """
        SELECT u.id FROM unnest($1::text[]) AS u (id) WHERE (
            SELECT count(*) FROM (
                SELECT m.conversation_id FROM conversation_members m
                JOIN conversations c ON c.id = m.conversation_id AND c.kind = 'group'
                WHERE m.user_id = u.id
                UNION
                SELECT t.conversation_id FROM members_to_be t WHERE t.user_id = u.id AND t.at_ms > $3
                LIMIT $2 + 1
            ) AS groups
        ) > $2
        """,
        list(user_ids),
        most,
        now_ms - TO_BE_MS,
    )
    return [row["id"] for row in rows]


async def count_added(conn: Connection, user_id: str, members: int, *, now_ms: int) -> int:
    """Count users whom a user brings into conversations; returns how many there are on this day.

    Args:
        members: how many to add to the count; negative to take back additions that were not made.
        now_ms: epoch milliseconds, whose UTC day counts.
    """
    return int(
        await conn.fetchval(
            """
            INSERT INTO members_added AS a (user_id, day, members) VALUES ($1, $2, greatest($3, 0))
            ON CONFLICT (user_id) DO UPDATE
            SET day = excluded.day, members = CASE WHEN a.day = excluded.day THEN greatest(a.members + $3, 0)
                                                   ELSE greatest($3, 0) END
            RETURNING members
            """,
            user_id,
            now_ms // DAY_MS,
            members,
        )
    )


async def not_joining(
    conn: Connection, conversation_id: str, user_ids: Sequence[str], *, now_ms: int
) -> list[str]:
    """Those of the users who are neither members of a group nor counted as future ones."""
    rows = await conn.fetch(
        """
        SELECT u.id FROM unnest($2::text[]) AS u (id) WHERE NOT EXISTS (
            SELECT FROM conversation_members m WHERE m.conversation_id = $1 AND m.user_id = u.id
        ) AND NOT EXISTS (
            SELECT FROM members_to_be t WHERE t.conversation_id = $1 AND t.user_id = u.id AND t.at_ms > $3
        )
        """,
        conversation_id,
        list(user_ids),
        now_ms - TO_BE_MS,
    )
    return [row["id"] for row in rows]


async def begin_joining(
    conn: Connection, conversation_id: str, user_ids: Sequence[str], *, now_ms: int
) -> list[str]:
    """Count users as future members of a group that they are about to be added to.

    Returns:
        Those of the users who were neither members nor future members yet.
    """
    rows = await conn.fetch(
        """
        INSERT INTO members_to_be AS t (user_id, conversation_id, at_ms)
        SELECT u.id, $1, $3 FROM unnest($2::text[]) AS u (id) WHERE NOT EXISTS (
            SELECT FROM conversation_members m WHERE m.conversation_id = $1 AND m.user_id = u.id
        )
        ON CONFLICT (user_id, conversation_id) DO UPDATE SET at_ms = excluded.at_ms WHERE t.at_ms <= $4
        RETURNING user_id
        """,
        conversation_id,
        list(user_ids),
        now_ms,
        now_ms - TO_BE_MS,
    )
    return [row["user_id"] for row in rows]


async def end_joining(conn: Connection, conversation_id: str, user_ids: Sequence[str]) -> int:
    """Delete the future memberships of these users, whose addition was decided; returns how many of
    them are no members.
    """
    gone = await conn.fetchval(
        """
        WITH gone AS (
            DELETE FROM members_to_be WHERE conversation_id = $1 AND user_id = ANY($2::text[]) RETURNING user_id
        )
        SELECT count(*) FROM gone WHERE NOT EXISTS (
            SELECT FROM conversation_members m WHERE m.conversation_id = $1 AND m.user_id = gone.user_id
        )
        """,
        conversation_id,
        list(user_ids),
    )
    return int(gone)


async def prune(conn: Connection, now_ms: int, *, limit: int = 5_000) -> int:
    """Delete additions that were never decided, and counts of past days.

    Args:
        limit: rows of each kind at most.

    Returns:
        The greater of the numbers of deleted rows of each kind.
    """
    undecided = await conn.execute(
        """
        DELETE FROM members_to_be WHERE (user_id, conversation_id) IN (
            SELECT user_id, conversation_id FROM members_to_be WHERE at_ms <= $1 LIMIT $2
        )
        """,
        now_ms - TO_BE_MS,
        limit,
    )
    past = await conn.execute(
        "DELETE FROM members_added WHERE user_id IN (SELECT user_id FROM members_added WHERE day < $1 LIMIT $2)",
        now_ms // DAY_MS,
        limit,
    )
    return max(int(tag.rpartition(" ")[2]) for tag in (undecided, past))
