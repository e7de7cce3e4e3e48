"""Notes of moderators about users. Rows only.

A note is deleted with the user whom it is about; where its author is erased, it stays without an author.
"""

import msgspec

from persistence.connection import Connection, Row


class Note(msgspec.Struct, frozen=True):
    """A moderator's note about a user. Times are epoch milliseconds.

    Args:
        seq: its place among all, for paging.
        id: objectId.
        user_id: the user whom it is about.
        author_id, author_name: id and present name of the moderator who wrote it; None once they are erased.
    """

    seq: int
    id: str
    user_id: str
    author_id: str | None
    author_name: str | None
    text: str
    created_at_ms: int
    updated_at_ms: int


async def add_note(conn: Connection, note: Note) -> None:
    """Store a note; its `seq` and the author's name are ignored."""
    await conn.execute(
        "INSERT INTO moderator_notes (id, user_id, author_id, text, created_at_ms, updated_at_ms)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        note.id,
        note.user_id,
        note.author_id,
        note.text,
        note.created_at_ms,
        note.updated_at_ms,
    )


async def count_notes(conn: Connection, user_id: str) -> int:
    """How many notes there are about a user."""
    count: int = await conn.fetchval("SELECT count(*) FROM moderator_notes WHERE user_id = $1", user_id)
    return count


async def list_notes(conn: Connection, user_id: str, before_seq: int | None, limit: int) -> list[Note]:
    """The notes about a user with a `seq` below `before_seq` (None for the newest), newest first, at most `limit`."""
    rows = await conn.fetch(
        f"{_SELECT} WHERE note.user_id = $1 AND note.seq < $2 ORDER BY note.seq DESC LIMIT $3",
        user_id,
        2**63 - 1 if before_seq is None else before_seq,
        limit,
    )
    return [_note(row) for row in rows]


async def read_note(conn: Connection, user_id: str, id: str) -> Note | None:
    """A note about a user, or None."""
    row = await conn.fetchrow(f"{_SELECT} WHERE note.id = $1 AND note.user_id = $2", id, user_id)
    return None if row is None else _note(row)


async def lock_note(conn: Connection, user_id: str, id: str) -> Note | None:
    """A note about a user, its row locked until the transaction ends, or None."""
    row = await conn.fetchrow(
        f"{_SELECT} WHERE note.id = $1 AND note.user_id = $2 FOR UPDATE OF note", id, user_id
    )
    return None if row is None else _note(row)


async def save_text(conn: Connection, note: Note) -> None:
    """Write the text of a note, and when it was changed."""
    await conn.execute(
        "UPDATE moderator_notes SET text = $2, updated_at_ms = $3 WHERE id = $1",
        note.id,
        note.text,
        note.updated_at_ms,
    )


async def remove_note(conn: Connection, id: str) -> None:
    """Delete a note."""
    await conn.execute("DELETE FROM moderator_notes WHERE id = $1", id)


_SELECT = (
    "SELECT note.*, author.name AS author_name FROM moderator_notes AS note"
    " LEFT JOIN users AS author ON author.id = note.author_id"
)


def _note(row: Row) -> Note:
    return Note(*(row[name] for name in Note.__struct_fields__))
