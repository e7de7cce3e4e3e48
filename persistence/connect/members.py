"""Members of game servers, in rows."""

from persistence.connect.rows import MemberRow, StandingRow
from persistence.connection import Connection


async def put(conn: Connection, row: MemberRow) -> None:
    """Store a member, in place of a former membership."""
    await conn.execute(
        """
        INSERT INTO connect_members (server_id, user_id, role, capabilities, added_by, created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4::text[], $5, $6::bigint, $7::bigint)
        ON CONFLICT (server_id, user_id) DO UPDATE
        SET role = excluded.role, capabilities = excluded.capabilities, added_by = excluded.added_by,
            created_at_ms = excluded.created_at_ms, updated_at_ms = excluded.updated_at_ms
        """,
        row.server_id, row.user_id, row.role, list(row.capabilities), row.added_by, row.created_at_ms,
        row.updated_at_ms,
    )  # fmt: skip


async def remove(conn: Connection, server_id: str, user_id: str) -> None:
    """Delete a membership."""
    await conn.execute(
        "DELETE FROM connect_members WHERE server_id = $1 AND user_id = $2", server_id, user_id
    )


async def standing(conn: Connection, server_id: str, user_id: str) -> StandingRow | None:
    """A user's role on a server and the server's owner, in one indexed read; None when there is no such server."""
    row = await conn.fetchrow(
        """
        SELECT s.owner_id, m.role, m.capabilities
        FROM connect_servers s LEFT JOIN connect_members m ON m.server_id = s.server_id AND m.user_id = $2
        WHERE s.server_id = $1
        """,
        server_id,
        user_id,
    )
    return (
        None if row is None else StandingRow(row["owner_id"], row["role"], tuple(row["capabilities"] or ()))
    )


async def of_server(conn: Connection, server_id: str) -> list[MemberRow]:
    """The members of a server, oldest first."""
    rows = await conn.fetch(
        """
        SELECT m.server_id, m.user_id, users.name, m.role, m.capabilities, m.added_by, m.created_at_ms, m.updated_at_ms
        FROM connect_members m JOIN users ON users.id = m.user_id
        WHERE m.server_id = $1 ORDER BY m.created_at_ms, m.user_id
        """,
        server_id,
    )
    return [MemberRow(**{**dict(row), "capabilities": tuple(row["capabilities"])}) for row in rows]


async def servers_of(conn: Connection, user_id: str) -> list[str]:
    """The servers that a user is a member of, or was ever invited to, as long as the invite is kept."""
    rows = await conn.fetch(
        """
        SELECT server_id FROM connect_members WHERE user_id = $1
        UNION SELECT server_id FROM connect_invites WHERE invitee_user_id = $1
        """,
        user_id,
    )
    return [row["server_id"] for row in rows]


async def showing(conn: Connection, user_id: str) -> list[str]:
    """The servers that show a user by name: those that they own, and those that they are a member of."""
    rows = await conn.fetch(
        """
        SELECT server_id FROM connect_servers WHERE owner_id = $1
        UNION SELECT server_id FROM connect_members WHERE user_id = $1
        """,
        user_id,
    )
    return [row["server_id"] for row in rows]


async def in_network(conn: Connection, network_id: str, user_id: str, now_ms: int) -> bool:
    """Whether a user owns, belongs to, or plays on a server of a network."""
    found: bool = await conn.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM connect_servers s WHERE s.network_id = $1 AND (
                s.owner_id = $2
                OR EXISTS (SELECT FROM connect_members m WHERE m.server_id = s.server_id AND m.user_id = $2)
                OR EXISTS (SELECT FROM connect_sessions p
                           WHERE p.server_id = s.server_id AND p.user_id = $2 AND p.expires_at_ms > $3)
            )
        )
        """,
        network_id,
        user_id,
        now_ms,
    )
    return found
