"""Join tickets, and the sessions that servers exchange them for, in rows."""

from collections.abc import Collection, Sequence

import msgspec

from persistence.connect.rows import SessionRow, TicketRow
from persistence.connection import Connection
from persistence.expiring import forget_ended
from persistence.pages import BEFORE_ANY

_COLUMNS = SessionRow.__struct_fields__


async def put_tickets(conn: Connection, rows: Sequence[TicketRow]) -> None:
    """Store tickets, each in place of the player's former one for that server; a player who was erased meanwhile is
    skipped.
    """
    await conn.execute(
        """
        INSERT INTO connect_tickets (server_id, user_id, ticket, name, expires_at_ms, used)
        SELECT n.* FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bigint[], $6::boolean[])
            AS n (server_id, user_id, ticket, name, expires_at_ms, used)
        JOIN users u ON u.id = n.user_id FOR KEY SHARE OF u
        ON CONFLICT (server_id, user_id) DO UPDATE
        SET ticket = excluded.ticket, name = excluded.name, expires_at_ms = excluded.expires_at_ms,
            used = excluded.used
        """,
        [row.server_id for row in rows],
        [row.user_id for row in rows],
        [row.ticket for row in rows],
        [row.name for row in rows],
        [row.expires_at_ms for row in rows],
        [row.used for row in rows],
    )


async def void_tickets(conn: Connection, tickets: Collection[tuple[str, str]]) -> None:
    """Delete the tickets of these (server id, user id) pairs."""
    await conn.execute(
        """
        DELETE FROM connect_tickets t USING unnest($1::text[], $2::text[]) AS n (server_id, user_id)
        WHERE t.server_id = n.server_id AND t.user_id = n.user_id
        """,
        [server_id for server_id, _ in tickets],
        [user_id for _, user_id in tickets],
    )


async def tickets_of(conn: Connection, server_id: str) -> list[TicketRow]:
    """The tickets of a server that have not been deleted, also used and expired ones."""
    rows = await conn.fetch(
        "SELECT server_id, user_id, ticket, name, expires_at_ms, used FROM connect_tickets WHERE server_id = $1",
        server_id,
    )
    return [TicketRow(*row) for row in rows]


async def forget_tickets(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete the tickets that expired before `before_ms`, at most `limit`; returns how many."""
    return await forget_ended(conn, "connect_tickets", limit, before_ms=before_ms)


async def end(conn: Connection, sessions: Collection[tuple[str, str]]) -> None:
    """Delete the sessions of these (server id, user id) pairs."""
    await conn.execute(
        """
        DELETE FROM connect_sessions s USING unnest($1::text[], $2::text[]) AS n (server_id, user_id)
        WHERE s.server_id = n.server_id AND s.user_id = n.user_id
        """,
        [server_id for server_id, _ in sessions],
        [user_id for _, user_id in sessions],
    )


async def start(conn: Connection, rows: Sequence[SessionRow]) -> None:
    """Store sessions; the players must have none on that server. Those who were erased meanwhile are skipped."""
    await conn.execute(
        """
        INSERT INTO connect_sessions (server_id, user_id, id, name, started_at_ms, expires_at_ms)
        SELECT n.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
            AS n (server_id, user_id, id, name, started_at_ms, expires_at_ms)
        JOIN users u ON u.id = n.user_id FOR KEY SHARE OF u
        """,
        [row.server_id for row in rows],
        [row.user_id for row in rows],
        [row.id for row in rows],
        [row.name for row in rows],
        [row.started_at_ms for row in rows],
        [row.expires_at_ms for row in rows],
    )


async def sessions_of(conn: Connection, server_id: str) -> list[SessionRow]:
    """The sessions on a server, the first to expire first."""
    rows = await conn.fetch(
        """
        SELECT server_id, user_id, id, name, started_at_ms, expires_at_ms FROM connect_sessions
        WHERE server_id = $1 ORDER BY expires_at_ms, id
        """,
        server_id,
    )
    return [SessionRow(*row) for row in rows]


async def everywhere(conn: Connection) -> list[SessionRow]:
    """The sessions of all servers."""
    rows = await conn.fetch(
        "SELECT server_id, user_id, id, name, started_at_ms, expires_at_ms FROM connect_sessions"
    )
    return [SessionRow(*row) for row in rows]


class NamedSession(msgspec.Struct, frozen=True):
    """A session with its server's name."""

    session: SessionRow
    server_name: str


async def of_player(
    conn: Connection, user_id: str, now_ms: int, *, after: tuple[int, str] | None, limit: int
) -> list[NamedSession]:
    """The sessions of one player that have not expired, newest first.

    Args:
        after: (started at ms, id) of the last one of the page before; None from the newest.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT s.server_id, s.user_id, s.id, s.name, s.started_at_ms, s.expires_at_ms, c.name AS server_name
        FROM connect_sessions s JOIN connect_servers c USING (server_id)
        WHERE s.user_id = $1 AND s.expires_at_ms > $2 AND (s.started_at_ms, s.id) < ($3, $4)
        ORDER BY s.started_at_ms DESC, s.id DESC LIMIT $5
        """,
        user_id,
        now_ms,
        *(after or BEFORE_ANY),
        limit,
    )
    return [NamedSession(SessionRow(*(row[name] for name in _COLUMNS)), row["server_name"]) for row in rows]


async def between(conn: Connection, one_id: str, other_id: str) -> list[tuple[str, str]]:
    """(server id, player id) for each server that one of two users owns, with the other user as the player."""
    rows = await conn.fetch(
        """
        SELECT server_id, $2 AS user_id FROM connect_servers WHERE owner_id = $1
        UNION ALL SELECT server_id, $1 FROM connect_servers WHERE owner_id = $2
        """,
        one_id,
        other_id,
    )
    return [(row["server_id"], row["user_id"]) for row in rows]


async def consenting(conn: Connection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of these (server id, player) pairs that have a session or a ticket."""
    rows = await conn.fetch(
        """
        SELECT server_id, user_id FROM unnest($1::text[], $2::text[]) AS asked (server_id, user_id)
        WHERE EXISTS (SELECT FROM connect_sessions s
                      WHERE s.server_id = asked.server_id AND s.user_id = asked.user_id)
           OR EXISTS (SELECT FROM connect_tickets t
                      WHERE t.server_id = asked.server_id AND t.user_id = asked.user_id)
        """,
        [server_id for server_id, _ in pairs],
        [user_id for _, user_id in pairs],
    )
    return {(row["server_id"], row["user_id"]) for row in rows}


async def consented(conn: Connection, user_id: str, after: str, limit: int) -> list[str]:
    """The servers on which a player has a session or a ticket, by id.

    Args:
        after: the last of the page before; empty from the start.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT server_id FROM connect_sessions WHERE user_id = $1 AND server_id > $2
        UNION SELECT server_id FROM connect_tickets WHERE user_id = $1 AND server_id > $2
        ORDER BY server_id LIMIT $3
        """,
        user_id,
        after,
        limit,
    )
    return [row["server_id"] for row in rows]


async def barred(
    conn: Connection, after: tuple[str, str] | None, limit: int, *, since_ms: int
) -> list[tuple[str, str]]:
    """(owner id, player id) of sessions that exist although one of the two blocks the other, in order.

    Reads as many rows as there are new blocks, however many sessions there are.

    Args:
        after: the last pair of the page before; None from the start.
        limit: at most so many.
        since_ms: only blocks made at this time or later, epoch milliseconds.
    """
    rows = await conn.fetch(
        """
        SELECT DISTINCT c.owner_id, s.user_id
        FROM blocks b CROSS JOIN LATERAL (VALUES (b.user_id, b.target_id), (b.target_id, b.user_id)) AS p (one, other)
        JOIN connect_sessions s ON s.user_id = p.one
        JOIN connect_servers c ON c.server_id = s.server_id AND c.owner_id = p.other
        WHERE b.created_at_ms >= $4 AND (c.owner_id, s.user_id) > ($1, $2)
        ORDER BY c.owner_id, s.user_id LIMIT $3
        """,
        *(after or ("", "")),
        limit,
        since_ms,
    )
    return [(row["owner_id"], row["user_id"]) for row in rows]
