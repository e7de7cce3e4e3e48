"""Find messages that name a user, live or archived, page by page; no index serves this rare query.

A page is a run of rows in the order of the primary key, of all senders.
"""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from persistence.chat.archive import CHANNEL
from persistence.connection import Connection

PAGE_ROWS = 2_000

Place: TypeAlias = tuple[str, int]
"""(conversation id, position in it): the key of a row."""

FIRST: Place = ("", 0)
"""The position before every row."""


class Table(msgspec.Struct, frozen=True):
    """A table of messages, as SQL statements.

    Args:
        end: finds the last row of the page after a position.
        named: finds the rows of a page that contain a text.
        rewrite: replaces records that have not changed meanwhile.
        announced: live conversations must be notified of a rewrite.
    """

    end: str
    named: str
    rewrite: str
    announced: bool


class Naming(msgspec.Struct, frozen=True):
    """A message that contains the user's id."""

    conversation_id: str
    id: str
    record: bytes


LIVE = Table(
    """
    SELECT conversation_id, seq FROM messages WHERE (conversation_id, seq) > ($1, $2)
    ORDER BY conversation_id, seq OFFSET $3 LIMIT 1
    """,
    """
    SELECT conversation_id, id, record FROM messages
    WHERE (conversation_id, seq) > ($1, $2) AND ($3::text IS NULL OR (conversation_id, seq) <= ($3, $4::bigint))
      AND position($5::bytea IN record) > 0
    """,
    """
    UPDATE messages m SET record = n.record
    FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS n (id, was, record) WHERE m.id = n.id AND m.record = n.was
    """,
    announced=False,
)

ARCHIVED = Table(
    """
    SELECT conversation_id, created_at_ms FROM archived_messages WHERE (conversation_id, created_at_ms) > ($1, $2)
    ORDER BY conversation_id, created_at_ms OFFSET $3 LIMIT 1
    """,
    """
    SELECT conversation_id, id, record FROM archived_messages
    WHERE (conversation_id, created_at_ms) > ($1, $2)
      AND ($3::text IS NULL OR (conversation_id, created_at_ms) <= ($3, $4::bigint))
      AND position($5::bytea IN record) > 0
    """,
    """
    UPDATE archived_messages m SET record = n.record
    FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS n (id, was, record) WHERE m.id = n.id AND m.record = n.was
    """,
    announced=True,
)


async def page_end(conn: Connection, table: Table, after: Place) -> Place | None:
    """The last row of the page after a position; None when all remaining rows are one page."""
    row = await conn.fetchrow(table.end, *after, PAGE_ROWS - 1)
    return None if row is None else (row[0], row[1])


async def in_page(
    conn: Connection, table: Table, user_id: str, after: Place, upto: Place | None
) -> list[Naming]:
    """The messages of a page that contain the user's id.

    Args:
        after: the page starts after this position.
        upto: the last row of the page; None for all that remain.
    """
    last = upto if upto is not None else (None, None)
    rows = await conn.fetch(table.named, *after, *last, user_id.encode())
    return [Naming(*row) for row in rows]


async def rewrite(conn: Connection, table: Table, changed: Sequence[tuple[Naming, bytes]]) -> None:
    """Replace records, each unless it has changed meanwhile; live conversations are notified of
    changes in the archive.

    Args:
        changed: (message as it was read, its new record).
    """
    await conn.execute(
        table.rewrite,
        [one.id for one, _ in changed],
        [one.record for one, _ in changed],
        [record for _, record in changed],
    )
    if table.announced:
        for conversation_id in sorted({one.conversation_id for one, _ in changed}):
            await conn.execute("SELECT pg_notify($1, $2)", CHANNEL, conversation_id)
