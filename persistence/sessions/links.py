"""Links that sign somebody in once. Rows only; the code itself is stored nowhere."""

import msgspec

from persistence.connection import Connection, Row
from persistence.sessions.sessions import Lineage


class SignInLink(msgspec.Struct, frozen=True):
    """A sign-in link that was not used yet.

    Args:
        code_hash: the SHA-256 of its code.
        user_id: the user whom it signs in.
        maker_id: the user who asked for it; None for the command line.
        lineage: the lineage of the session that it will make.
        created_at_ms, expires_at_ms: epoch milliseconds.
    """

    code_hash: bytes
    user_id: str
    maker_id: str | None
    lineage: Lineage
    created_at_ms: int
    expires_at_ms: int


_COLUMNS = "code_hash, user_id, maker_id, parent_id, bound_at_ms, capped, created_at_ms, expires_at_ms"


def _link(row: Row) -> SignInLink:
    lineage = Lineage(row["parent_id"], row["bound_at_ms"], row["capped"])
    return SignInLink(
        row["code_hash"], row["user_id"], row["maker_id"], lineage, row["created_at_ms"], row["expires_at_ms"]
    )


async def add(conn: Connection, link: SignInLink) -> None:
    """Store a link."""
    await conn.execute(
        f"INSERT INTO sign_in_links ({_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",  # noqa: S608
        link.code_hash,
        link.user_id,
        link.maker_id,
        link.lineage.parent_id,
        link.lineage.bound_at_ms,
        link.lineage.capped,
        link.created_at_ms,
        link.expires_at_ms,
    )


async def find(conn: Connection, code_hash: bytes, now_ms: int) -> SignInLink | None:
    """The link with this code; None when there is none, or it has expired.

    Args:
        code_hash: SHA-256 of the code.
        now_ms: epoch milliseconds.
    """
    row = await conn.fetchrow(
        f"SELECT {_COLUMNS} FROM sign_in_links WHERE code_hash = $1 AND expires_at_ms > $2",  # noqa: S608
        code_hash,
        now_ms,
    )
    return None if row is None else _link(row)


async def take(conn: Connection, code_hash: bytes) -> bool:
    """Use up the link with this code; False when it was used before. Of several transactions at once, one succeeds."""
    return (
        await conn.fetchrow("DELETE FROM sign_in_links WHERE code_hash = $1 RETURNING 1", code_hash)
        is not None
    )


async def keep_newest(conn: Connection, maker_id: str, keep: int) -> None:
    """Delete the links that a user has asked for, except the newest ones.

    Args:
        keep: how many of the newest links stay.
    """
    await conn.execute(
        "DELETE FROM sign_in_links WHERE code_hash IN (SELECT code_hash FROM sign_in_links WHERE maker_id = $1"
        " ORDER BY created_at_ms DESC, code_hash OFFSET $2)",
        maker_id,
        keep,
    )


async def remove_of(conn: Connection, user_id: str) -> None:
    """Delete the links that sign a user in, and those that they have asked for."""
    await conn.execute("DELETE FROM sign_in_links WHERE user_id = $1 OR maker_id = $1", user_id)


async def prune(conn: Connection, limit: int, *, now_ms: int) -> int:
    """Delete links that have expired by `now_ms` (epoch milliseconds), at most `limit`; returns how many."""
    tag = await conn.execute(
        "DELETE FROM sign_in_links WHERE code_hash = ANY (ARRAY(SELECT code_hash FROM sign_in_links"
        " WHERE expires_at_ms <= $1 ORDER BY expires_at_ms LIMIT $2)) AND expires_at_ms <= $1",
        now_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])
