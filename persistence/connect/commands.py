"""Commands for game servers, in rows: the open ones, which their server's actor holds too, and the finished ones."""

from collections.abc import Sequence

import msgspec

from persistence.connect.rows import CommandRow
from persistence.connection import Connection, Row
from persistence.journal.turn import Statement
from persistence.pages import BEFORE_ANY

_PUT = """
INSERT INTO connect_commands (id, server_id, action, payload, status, version, attempts, extension_id, created_by,
       result, error, progress, created_at_ms, updated_at_ms, delivered_at_ms, started_at_ms, finished_at_ms,
       expires_at_ms, leased_until_ms, masked)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::integer[], $7::integer[],
       $8::text[], $9::text[], $10::bytea[], $11::text[], $12::double precision[], $13::bigint[], $14::bigint[],
       $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bytea[])
"""
_COLUMNS = (
    "id", "server_id", "action", "payload", "status", "version", "attempts", "extension_id", "created_by", "result",
    "error", "progress", "created_at_ms", "updated_at_ms", "delivered_at_ms", "started_at_ms", "finished_at_ms",
    "expires_at_ms", "leased_until_ms", "masked",
)  # fmt: skip

# PostgreSQL writes a large payload or result anew only where it is another value than the row's own. Of a command that
# ends, the secrets in its payload end.
_MOVE = """
UPDATE connect_commands AS c SET status = n.status, version = n.version, attempts = n.attempts, error = n.error,
       progress = n.progress, updated_at_ms = n.updated_at_ms, delivered_at_ms = n.delivered_at_ms,
       started_at_ms = n.started_at_ms, finished_at_ms = n.finished_at_ms, leased_until_ms = n.leased_until_ms,
       result = CASE WHEN n.result_kept THEN c.result ELSE n.result END,
       payload = CASE WHEN n.finished_at_ms IS NULL THEN c.payload ELSE coalesce(c.masked, c.payload) END,
       masked = CASE WHEN n.finished_at_ms IS NULL THEN c.masked END
FROM unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::text[], $6::double precision[], $7::bigint[],
       $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[], $13::boolean[])
       AS n (id, status, version, attempts, error, progress, updated_at_ms, delivered_at_ms, started_at_ms,
             finished_at_ms, leased_until_ms, result, result_kept)
WHERE c.id = n.id
"""
_MOVED_COLUMNS = (
    "id", "status", "version", "attempts", "error", "progress", "updated_at_ms", "delivered_at_ms", "started_at_ms",
    "finished_at_ms", "leased_until_ms",
)  # fmt: skip


def putting(rows: Sequence[CommandRow]) -> Statement:
    """The statement that stores new commands, each of which may occur once."""
    return Statement(_PUT, [[getattr(row, name) for row in rows] for name in _COLUMNS])


def moving(rows: Sequence[tuple[CommandRow, bool]]) -> Statement:
    """The statement that changes stored commands, each of which may occur once. What does not change, or is in the row
    already, such as payloads, is not sent.

    Args:
        rows: (command, whether its result equals the stored one, which is then not sent either).
    """
    columns: list[list[object]] = [[getattr(row, name) for row, _ in rows] for name in _MOVED_COLUMNS]
    results: list[object] = [None if kept else row.result for row, kept in rows]
    return Statement(_MOVE, [*columns, results, [kept for _, kept in rows]])


async def read(conn: Connection, server_id: str, command_id: str) -> CommandRow | None:
    """One command of this server, or None."""
    row = await conn.fetchrow(
        "SELECT * FROM connect_commands WHERE id = $2 AND server_id = $1", server_id, command_id
    )
    return None if row is None else _command(row)


async def exists(conn: Connection, server_id: str, command_id: str) -> bool:
    """Whether this server has such a command."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM connect_commands WHERE id = $2 AND server_id = $1)", server_id, command_id
    )
    return found


async def named(conn: Connection, server_id: str, command_ids: Sequence[str]) -> list[CommandRow]:
    """Those of the commands with these ids that are this server's."""
    rows = await conn.fetch(
        "SELECT * FROM connect_commands WHERE id = ANY($2::text[]) AND server_id = $1",
        server_id,
        list(command_ids),
    )
    return [_command(row) for row in rows]


async def total_bytes(conn: Connection, server_id: str, command_ids: Sequence[str]) -> int:
    """How many bytes the payloads and results of these commands have together; one that is named twice counts twice."""
    total: int = await conn.fetchval(
        """
        SELECT coalesce(sum(octet_length(payload) + coalesce(octet_length(masked), 0)
                            + coalesce(octet_length(result), 0)), 0)::bigint
        FROM unnest($2::text[]) AS wanted (id) JOIN connect_commands USING (id) WHERE server_id = $1
        """,
        server_id,
        list(command_ids),
    )
    return total


async def open_of(conn: Connection, server_id: str) -> list[CommandRow]:
    """The commands of a server that are not finished, oldest first."""
    rows = await conn.fetch(
        """
        SELECT * FROM connect_commands WHERE server_id = $1 AND finished_at_ms IS NULL
        ORDER BY created_at_ms, id
        """,
        server_id,
    )
    return [_command(row) for row in rows]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of a page of a server's commands.

    Args:
        status: only commands with this status; None for all.
        before: (created at ms, id) of the last command of the page before; None from the newest.
        limit: at most so many.
        max_bytes: the page ends with the first command that brings the bytes of payloads and results above this.
    """

    status: str | None = None
    before: tuple[int, str] | None = None
    limit: int
    max_bytes: int


async def page(conn: Connection, server_id: str, wanted: Wanted) -> list[CommandRow]:
    """Commands of a server, newest first."""
    rows = await conn.fetch(
        """
        SELECT * FROM (
            SELECT *, sum(bytes) OVER (ORDER BY created_at_ms DESC, id DESC) - bytes AS bytes_before FROM (
                SELECT *, octet_length(payload) + coalesce(octet_length(masked), 0)
                          + coalesce(octet_length(result), 0) AS bytes
                FROM connect_commands
                WHERE server_id = $1 AND ($2::text IS NULL OR status = $2)
                AND (created_at_ms, id) < ($3, $4)
                ORDER BY created_at_ms DESC, id DESC LIMIT $5
            ) AS wanted
        ) AS weighed
        WHERE bytes_before <= $6 ORDER BY created_at_ms DESC, id DESC
        """,
        server_id,
        wanted.status,
        *(wanted.before or BEFORE_ANY),
        wanted.limit,
        wanted.max_bytes,
    )
    return [_command(row) for row in rows]


async def forget_old(
    conn: Connection, after: tuple[int, str], limit: int, *, keep: int, keep_bytes: int
) -> tuple[tuple[int, str], bool]:
    """Go through finished commands in the order of their end, and delete those beyond what their server may keep.

    Args:
        after: (end in epoch milliseconds, id) of the last command of the page before; (0, "") from the start.
        limit: commands that are looked at, and commands that are deleted, at most.
        keep: how many finished commands of a server stay, the newest ones.
        keep_bytes: how many bytes of payloads and results they may have together; the newest stays in any case.

    Returns:
        `after` for the next page, and whether there are more commands already.
    """
    page = await conn.fetch(
        "SELECT finished_at_ms, id, server_id FROM connect_commands WHERE finished_at_ms IS NOT NULL"
        " AND (finished_at_ms, id) > ($1, $2) ORDER BY finished_at_ms, id LIMIT $3",
        *after,
        limit,
    )
    tag = await conn.execute(
        """
        DELETE FROM connect_commands WHERE ctid = ANY (ARRAY(
            SELECT ranked.place FROM unnest($1::text[]) AS busy (server_id) CROSS JOIN LATERAL (
                SELECT place, row_number() OVER newest AS nth, sum(bytes) OVER newest AS bytes FROM (
                    SELECT c.ctid AS place, c.created_at_ms, c.id,
                           octet_length(c.payload) + coalesce(octet_length(c.masked), 0)
                           + coalesce(octet_length(c.result), 0) AS bytes
                    FROM connect_commands c WHERE c.server_id = busy.server_id AND c.finished_at_ms IS NOT NULL
                    ORDER BY c.created_at_ms DESC, c.id DESC LIMIT $2::bigint + $3
                ) AS finished WINDOW newest AS (ORDER BY created_at_ms DESC, id DESC)
            ) AS ranked WHERE nth > $2 OR (nth > 1 AND bytes > $4) LIMIT $3
        )) AND finished_at_ms IS NOT NULL
        """,
        sorted({row["server_id"] for row in page}),
        keep,
        limit,
        keep_bytes,
    )
    if int(tag.rpartition(" ")[2]) >= limit:
        return after, True
    place = (page[-1]["finished_at_ms"], page[-1]["id"]) if page else after
    return place, len(page) >= limit


def _command(row: Row) -> CommandRow:
    return CommandRow(**{name: row[name] for name in _COLUMNS})
