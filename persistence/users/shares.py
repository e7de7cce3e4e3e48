"""Launcher profiles that users share by a code. Rows only; an expired share counts as absent."""

import msgspec

from persistence.connection import Connection
from persistence.pages import BEFORE_ANY


class ShareHead(msgspec.Struct, frozen=True):
    """A shared profile without its manifest. Times are epoch milliseconds.

    Args:
        code: the code by which others fetch it.
        name: the name that its owner gave it.
    """

    code: str
    name: str
    created_at_ms: int
    expires_at_ms: int


class Share(msgspec.Struct, frozen=True):
    """A shared profile with its manifest.

    Args:
        manifest: the profile as encoded JSON object.
    """

    head: ShareHead
    manifest: bytes


async def of_user(
    conn: Connection, user_id: str, now_ms: int, before: tuple[int, str] | None, limit: int
) -> list[ShareHead]:
    """A user's shares without their manifests, the newest first.

    Args:
        before: (created_at_ms, code) of the last share of the page before; None for the first page.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT code, name, created_at_ms, expires_at_ms FROM profile_shares"
        " WHERE user_id = $1 AND expires_at_ms > $2 AND (created_at_ms, code) < ($3, $4)"
        " ORDER BY created_at_ms DESC, code DESC LIMIT $5",
        user_id,
        now_ms,
        *(before or BEFORE_ANY),
        limit,
    )
    return [ShareHead(*row) for row in rows]


async def count(conn: Connection, user_id: str, now_ms: int) -> int:
    """How many shares a user has."""
    found: int = await conn.fetchval(
        "SELECT count(*) FROM profile_shares WHERE user_id = $1 AND expires_at_ms > $2", user_id, now_ms
    )
    return found


async def is_shared(conn: Connection, code: str, now_ms: int) -> bool:
    """Whether there is a share with this code."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM profile_shares WHERE code = $1 AND expires_at_ms > $2)", code, now_ms
    )
    return found


async def read(conn: Connection, code: str, now_ms: int) -> Share | None:
    """The share with this code, or None."""
    row = await conn.fetchrow(
        "SELECT code, name, created_at_ms, expires_at_ms, manifest FROM profile_shares"
        " WHERE code = $1 AND expires_at_ms > $2",
        code,
        now_ms,
    )
    return None if row is None else Share(ShareHead(*tuple(row)[:4]), row["manifest"])


async def add(conn: Connection, user_id: str, share: Share) -> None:
    """Store a share."""
    head = share.head
    await conn.execute(
        "INSERT INTO profile_shares (code, user_id, name, manifest, created_at_ms, expires_at_ms)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        head.code,
        user_id,
        head.name,
        share.manifest,
        head.created_at_ms,
        head.expires_at_ms,
    )


async def remove(conn: Connection, user_id: str, code: str, now_ms: int) -> bool:
    """Delete a user's share; False when they have none with this code."""
    found = await conn.fetchval(
        "DELETE FROM profile_shares WHERE code = $1 AND user_id = $2 RETURNING expires_at_ms > $3",
        code,
        user_id,
        now_ms,
    )
    return bool(found)


async def prune(conn: Connection, limit: int, *, now_ms: int) -> int:
    """Delete expired shares, at most `limit`; returns how many."""
    tag = await conn.execute(
        "DELETE FROM profile_shares WHERE ctid = ANY (ARRAY(SELECT ctid FROM profile_shares WHERE expires_at_ms <= $1"
        " ORDER BY expires_at_ms LIMIT $2)) AND expires_at_ms <= $1",
        now_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])
