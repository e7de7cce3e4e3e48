"""Invitations to game servers, in rows."""

from collections.abc import Sequence

from persistence.connect.rows import InviteRow
from persistence.connection import Connection, Row


async def put(conn: Connection, row: InviteRow) -> None:
    """Store an invite, or its new status; a user who was erased meanwhile is skipped."""
    await conn.execute(
        """
        INSERT INTO connect_invites (id, server_id, inviter_id, invitee_user_id, role, capabilities, note, status,
                                     created_at_ms, expires_at_ms)
        SELECT $1, $2, $3, id, $5, $6::text[], $7, $8, $9::bigint, $10::bigint FROM users WHERE id = $4
        ON CONFLICT (id) DO UPDATE SET status = excluded.status
        """,
        row.id, row.server_id, row.inviter_id, row.invitee_user_id, row.role, list(row.capabilities), row.note,
        row.status, row.created_at_ms, row.expires_at_ms,
    )  # fmt: skip


async def remove(conn: Connection, ids: Sequence[str]) -> None:
    """Delete invites."""
    await conn.execute("DELETE FROM connect_invites WHERE id = ANY ($1::text[])", list(ids))


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


def _invite(row: Row) -> InviteRow:
    return InviteRow(**{**dict(row), "capabilities": tuple(row["capabilities"])})
