"""Invitations to game servers, in rows."""

from collections.abc import Sequence

from persistence.connect.rows import InviteRow, OfferRow
from persistence.connection import Connection, Row
from persistence.pages import BEFORE_ANY


async def add(conn: Connection, row: InviteRow) -> None:
    """Store an invite."""
    await conn.execute(
        """
        INSERT INTO connect_invites (id, server_id, inviter_id, invitee_user_id, role, capabilities, note, status,
                                     created_at_ms, expires_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6::text[], $7, $8, $9::bigint, $10::bigint)
        """,
        row.id, row.server_id, row.inviter_id, row.invitee_user_id, row.role, list(row.capabilities), row.note,
        row.status, row.created_at_ms, row.expires_at_ms,
    )  # fmt: skip


async def end(conn: Connection, row: InviteRow) -> None:
    """Write the status of an invite; one that was deleted with its invitee stays so."""
    await conn.execute("UPDATE connect_invites SET status = $2 WHERE id = $1", row.id, row.status)


async def remove(conn: Connection, ids: Sequence[str]) -> None:
    """Delete invites."""
    await conn.execute("DELETE FROM connect_invites WHERE id = ANY ($1::text[])", list(ids))


async def forget_inviter(conn: Connection, user_id: str) -> None:
    """Delete the notes of the invites that a user has sent; no index serves this rare query."""
    await conn.execute("UPDATE connect_invites SET note = '' WHERE inviter_id = $1 AND note <> ''", user_id)


async def of_server(conn: Connection, server_id: str) -> list[InviteRow]:
    """The invites of a server, oldest first."""
    rows = await conn.fetch(
        "SELECT * FROM connect_invites WHERE server_id = $1 ORDER BY created_at_ms, id", server_id
    )
    return [_invite(row) for row in rows]


async def read(conn: Connection, id: str) -> InviteRow | None:
    """One invite, or None."""
    row = await conn.fetchrow("SELECT * FROM connect_invites WHERE id = $1", id)
    return None if row is None else _invite(row)


async def open_of_invitee(
    conn: Connection, user_id: str, now_ms: int, *, after: tuple[int, str] | None, limit: int
) -> list[OfferRow]:
    """The invites that a user can accept, newest first, without those whose sender and the user are parted by a block.

    Args:
        after: (created at ms, id) of the last one of the page before; None from the newest.
        limit: the most invites that are read.
    """
    rows = await conn.fetch(
        """
        SELECT i.*, s.name AS server_name, u.name AS inviter_name
        FROM connect_invites i
        JOIN connect_servers s USING (server_id)
        LEFT JOIN users u ON u.id = i.inviter_id
        WHERE i.invitee_user_id = $1 AND i.status = 'pending' AND i.expires_at_ms > $2::bigint
          AND s.owner_id IS NOT NULL AND (i.created_at_ms, i.id) < ($3, $4)
          AND NOT EXISTS (SELECT FROM blocks WHERE user_id = $1 AND target_id = i.inviter_id)
          AND NOT EXISTS (SELECT FROM blocks WHERE user_id = i.inviter_id AND target_id = $1)
        ORDER BY i.created_at_ms DESC, i.id DESC
        LIMIT $5
        """,
        user_id, now_ms, *(after or BEFORE_ANY), limit,
    )  # fmt: skip
    return [OfferRow(**{**dict(row), "capabilities": tuple(row["capabilities"])}) for row in rows]


def _invite(row: Row) -> InviteRow:
    return InviteRow(**{**dict(row), "capabilities": tuple(row["capabilities"])})
