"""Blocks between users. Rows only."""

from collections.abc import Collection

import msgspec

from persistence.connection import Connection, Row

APART_MS = 3_600_000
"""How far the clock by which a block was made may be behind that of what it ends. Jobs that look for what blocks have
left over, because nobody ended it, ask for blocks that are younger than that and the lifetime of what they look for."""


class Block(msgspec.Struct, frozen=True):
    """A block of one user by another.

    Args:
        user_id: the user who blocks `target_id`.
        reason: the blocking user's own note, or None.
    """

    user_id: str
    target_id: str
    reason: str | None
    created_at_ms: int
    updated_at_ms: int


async def of_user(conn: Connection, user_id: str, after: tuple[int, str] | None, limit: int) -> list[Block]:
    """The blocks of a user, the newest first.

    Args:
        after: (created at ms, target id) of the last one already seen; None from the start.
        limit: at most so many.
    """
    at_ms, target_id = after if after is not None else (None, None)
    rows = await conn.fetch(
        "SELECT * FROM blocks WHERE user_id = $1 AND ($2::bigint IS NULL OR (created_at_ms, target_id) < ($2, $3))"
        " ORDER BY created_at_ms DESC, target_id DESC LIMIT $4",
        user_id,
        at_ms,
        target_id,
        limit,
    )
    return [_block(row) for row in rows]


async def barred_among(conn: Connection, user_id: str, others: Collection[str]) -> set[str]:
    """Those of the other users who block the user or are blocked by the user."""
    rows = await conn.fetch(
        "SELECT target_id AS id FROM blocks WHERE user_id = $1 AND target_id = ANY ($2::text[])"
        " UNION SELECT user_id FROM blocks WHERE target_id = $1 AND user_id = ANY ($2::text[])",
        user_id,
        list(others),
    )
    return {row["id"] for row in rows}


async def parted(conn: Connection) -> list[tuple[str, str]]:
    """(blocking user, blocked user) of every block."""
    rows = await conn.fetch("SELECT user_id, target_id FROM blocks")
    return [(row["user_id"], row["target_id"]) for row in rows]


async def count(conn: Connection, user_id: str) -> int:
    """How many users a user blocks."""
    found: int = await conn.fetchval("SELECT count(*) FROM blocks WHERE user_id = $1", user_id)
    return found


async def put(conn: Connection, user_id: str, target_id: str, *, reason: str | None, now_ms: int) -> Block:
    """Store a block, or give an existing one another reason.

    Args:
        reason: the blocking user's own note, or None.

    Raises:
        LookupError: the database returned no row; a defect.
    """
    row = await conn.fetchrow(
        "INSERT INTO blocks (user_id, target_id, reason, created_at_ms, updated_at_ms) VALUES ($1, $2, $3, $4, $4)"
        " ON CONFLICT (user_id, target_id) DO UPDATE SET reason = $3, updated_at_ms = $4 RETURNING *",
        user_id,
        target_id,
        reason,
        now_ms,
    )
    if row is None:
        raise LookupError("an upsert returned no row")
    return _block(row)


async def remove(conn: Connection, user_id: str, target_id: str) -> None:
    """Delete a block."""
    await conn.execute("DELETE FROM blocks WHERE user_id = $1 AND target_id = $2", user_id, target_id)


def _block(row: Row) -> Block:
    return Block(*(row[name] for name in Block.__struct_fields__))
