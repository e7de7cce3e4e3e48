"""Conversations' rows, and a user's list of them.

What changes with each message lies in the summary of the head row. Its first 8 bytes are the time of the last
activity and the next 8 the newest message's seq, both big-endian, so that lists are sorted and counted
without decoding it.
"""

from collections.abc import Sequence
from sys import intern
from typing import Any

from persistence.chat.rows import ConversationRow, CountRow, EntryRow
from persistence.connection import Connection, Row
from persistence.journal import journal

KIND = "conversation"
"""The kind under which the kernel keeps heads and journals of conversations."""

# A member's view of the conversations in `mine`; the counts are looked up only for rows that are returned.
_ENTRY = """
SELECT mine.*,
       greatest(mine.sent_base, (SELECT x.sender_seq FROM messages x
                                 WHERE x.conversation_id = mine.id AND x.sender_id = mine.user_id
                                   AND x.seq > mine.joined_seq
                                 ORDER BY x.seq DESC LIMIT 1)) AS sent,
       (SELECT count(*) FROM (SELECT FROM mentions n
                              WHERE n.conversation_id = mine.id AND n.user_id = mine.user_id
                                AND n.seq > mine.read_seq LIMIT 200) AS unread) AS mention_count,
       (SELECT count(*) FROM conversation_members p WHERE p.conversation_id = mine.id) AS participant_count,
       shown.ids AS participant_ids, shown.names AS participant_names, shown.silent
FROM mine CROSS JOIN LATERAL (
    SELECT array_agg(one.user_id ORDER BY one.place) AS ids, array_agg(one.name ORDER BY one.place) AS names,
           array_agg(one.user_id) FILTER (WHERE NOT one.spoke) AS silent
    FROM (SELECT p.user_id, p.spoke, coalesce(u.name, 'deleted') AS name,
                 row_number() OVER (
                     ORDER BY p.user_id IS DISTINCT FROM mine.owner_id, p.joined_at_ms, p.user_id) AS place
          FROM conversation_members p LEFT JOIN users u ON u.id = p.user_id
          WHERE p.conversation_id = mine.id
          ORDER BY place LIMIT 100) AS one
) AS shown
"""

_OF_MEMBER = """
SELECT c.id, c.kind, c.title, c.owner_id, c.created_at_ms, h.summary, m.user_id, m.joined_seq, m.muted,
       m.read_seq, m.read_at_ms, m.own_at_read, m.sent AS sent_base
FROM conversation_members m
JOIN conversations c ON c.id = m.conversation_id
JOIN heads h ON h.kind = 'conversation' AND h.id = c.id
"""
_MINE = f"{_OF_MEMBER} WHERE m.user_id = $1"

_LISTS = f"""
WITH mine AS (SELECT one.* FROM unnest($1::text[]) AS member(id) CROSS JOIN LATERAL (
                  {_OF_MEMBER} WHERE m.user_id = member.id AND (substr(h.summary, 1, 8), c.id) < ($2, $3)
                  ORDER BY substr(h.summary, 1, 8) DESC, c.id DESC LIMIT $4) AS one)
{_ENTRY} ORDER BY substr(mine.summary, 1, 8) DESC, mine.id DESC
"""  # noqa: S608 - constants only

_NAMED = f"WITH mine AS ({_MINE} AND m.conversation_id = ANY($2::text[])) {_ENTRY}"

_COUNTS = f"""
WITH mine AS ({_MINE} AND (substr(h.summary, 1, 8), c.id) < ($2, $3)
              ORDER BY substr(h.summary, 1, 8) DESC, c.id DESC LIMIT $4)
SELECT mine.id, mine.summary, mine.read_seq, mine.own_at_read,
       greatest(mine.sent_base, (SELECT x.sender_seq FROM messages x
                                 WHERE x.conversation_id = mine.id AND x.sender_id = mine.user_id
                                   AND x.seq > mine.joined_seq
                                 ORDER BY x.seq DESC LIMIT 1)) AS sent,
       (SELECT count(*) FROM (SELECT FROM mentions n
                              WHERE n.conversation_id = mine.id AND n.user_id = mine.user_id
                                AND n.seq > mine.read_seq LIMIT 200) AS unread) AS mention_count
FROM mine
"""  # noqa: S608 - constants only

FIRST_PAGE = (2**62, "")
"""The position before every conversation in a list: (updated at ms, id)."""


async def find(conn: Connection, participant_key: str) -> str | None:
    """The id of the oldest conversation of a kind with exactly these members; inside a transaction.

    Locks the digest of kind and members, so that no other transaction creates such a conversation
    before this one ends.

    Args:
        participant_key: the digest of the conversation's kind and members.
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", participant_key)
    found: str | None = await conn.fetchval(
        "SELECT id FROM conversations WHERE participant_key = $1 ORDER BY created_at_ms, id LIMIT 1",
        participant_key,
    )
    return found


async def create(
    conn: Connection,
    row: ConversationRow,
    *,
    maker_id: str,
    member_ids: Sequence[str],
    participant_key: str,
    epoch: str,
    summary: bytes,
) -> None:
    """Create a conversation that `find` has not found, inside the same transaction.

    Args:
        maker_id: the member who creates it.
        participant_key: the digest of the conversation's kind and members.
        epoch: a new name for its history (`journal.Head`).
        summary: what lists show of it, in the form that this module describes.
    """
    await conn.execute(
        """
        INSERT INTO conversations (id, kind, title, owner_id, created_at_ms, participant_key)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        row.id,
        row.kind,
        row.title,
        row.owner_id,
        row.created_at_ms,
        participant_key,
    )
    await conn.execute(
        """
        INSERT INTO conversation_members (conversation_id, user_id, joined_at_ms, joined_seq, read_seq, spoke)
        SELECT $1, user_id, $2, 0, 0, user_id = $4 FROM unnest($3::text[]) AS n (user_id)
        """,
        row.id,
        row.created_at_ms,
        list(member_ids),
        maker_id,
    )
    await journal.create_head(
        conn, KIND, row.id, epoch=epoch, summary=summary, due_at_ms=None, at_ms=row.created_at_ms
    )


async def read(conn: Connection, conversation_id: str) -> ConversationRow | None:
    """One conversation, or None."""
    row = await conn.fetchrow(
        "SELECT id, kind, title, owner_id, created_at_ms FROM conversations WHERE id = $1", conversation_id
    )
    return None if row is None else _conversation(row)


async def read_with_summaries(
    conn: Connection, conversation_ids: Sequence[str]
) -> dict[str, tuple[ConversationRow, bytes]]:
    """{id: the conversation, and the summary of its head}; ids without a conversation are left out."""
    rows = await conn.fetch(
        """
        SELECT c.id, c.kind, c.title, c.owner_id, c.created_at_ms, h.summary
        FROM conversations c JOIN heads h ON h.kind = $2 AND h.id = c.id WHERE c.id = ANY ($1::text[])
        """,
        conversation_ids,
        KIND,
    )
    return {row["id"]: (_conversation(row), row["summary"]) for row in rows}


async def of_member(conn: Connection, user_id: str, after_id: str, limit: int) -> list[str]:
    """Ids of a user's conversations, in order, after a given one.

    Args:
        after_id: the last of the page before; "" from the start.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT conversation_id FROM conversation_members WHERE user_id = $1 AND conversation_id > $2"
        " ORDER BY conversation_id LIMIT $3",
        user_id,
        after_id,
        limit,
    )
    return [row["conversation_id"] for row in rows]


_SET_TITLES = """
UPDATE conversations c SET title = n.title
FROM unnest($1::text[], $2::text[]) AS n (id, title) WHERE c.id = n.id
"""
_SET_OWNERS = """
UPDATE conversations c SET owner_id = n.owner_id
FROM unnest($1::text[], $2::text[]) AS n (id, owner_id) WHERE c.id = n.id
"""
_SET_KEYS = """
UPDATE conversations c SET participant_key = n.participant_key
FROM unnest($1::text[], $2::text[]) AS n (id, participant_key) WHERE c.id = n.id
"""


async def change(
    conn: Connection,
    *,
    titles: dict[str, str | None],
    owners: dict[str, str | None],
    keys: dict[str, str | None],
) -> None:
    """Write changed columns of conversations.

    Args:
        titles, owners: {conversation id: title, or owner's id}.
        keys: {conversation id: digest of kind and members}, or None for one that `find` is not to find.
    """
    for statement, values in ((_SET_TITLES, titles), (_SET_OWNERS, owners), (_SET_KEYS, keys)):
        if values:
            await conn.execute(statement, list(values), list(values.values()))


async def list_of(
    conn: Connection, user_id: str, *, after: tuple[int, str] = FIRST_PAGE, limit: int
) -> list[EntryRow]:
    """A user's conversations, newest activity first.

    Args:
        after: (updated at ms, id) of the last one already seen.
        limit: at most so many.
    """
    return (await lists_of(conn, [user_id], after=after, limit=limit))[user_id]


async def lists_of(
    conn: Connection, user_ids: Sequence[str], *, after: tuple[int, str] = FIRST_PAGE, limit: int
) -> dict[str, list[EntryRow]]:
    """{user id: what `list_of` returns}."""
    found: dict[str, list[EntryRow]] = {user_id: [] for user_id in user_ids}
    for row in await conn.fetch(_LISTS, user_ids, _place(after), after[1], limit):
        found[row["user_id"]].append(_entry(row))
    return found


async def named(conn: Connection, user_id: str, ids: Sequence[str]) -> list[EntryRow]:
    """Those of the conversations with these ids that the user is in, in any order."""
    rows = await conn.fetch(_NAMED, user_id, list(ids))
    return [_entry(row) for row in rows]


async def counts_of(conn: Connection, user_id: str, *, after: tuple[int, str], limit: int) -> list[CountRow]:
    """The counts that unread totals need of conversations further down a user's list, newest activity first.

    Args:
        after: (updated at ms, id) of the last one already counted.
        limit: at most so many.
    """
    rows = await conn.fetch(_COUNTS, user_id, _place(after), after[1], limit)
    return [
        CountRow(
            conversation_id=row["id"],
            updated_at_ms=int.from_bytes(row["summary"][:8], "big"),
            message_seq=int.from_bytes(row["summary"][8:16], "big"),
            read_seq=row["read_seq"],
            own_at_read=row["own_at_read"],
            sent=row["sent"],
            mention_count=row["mention_count"],
        )
        for row in rows
    ]


def _place(after: tuple[int, str]) -> bytes:
    return min(max(after[0], 0), FIRST_PAGE[0]).to_bytes(8, "big")


def _entry(row: Row) -> EntryRow:
    ids: list[Any] = row["participant_ids"] or []
    return EntryRow(
        conversation=_conversation(row),
        summary=row["summary"],
        participants=tuple(zip(map(intern, ids), map(intern, row["participant_names"] or []), strict=True)),
        silent=tuple(map(intern, row["silent"] or ())),
        participant_count=row["participant_count"],
        muted=row["muted"],
        read_seq=row["read_seq"],
        read_at_ms=row["read_at_ms"],
        own_at_read=row["own_at_read"],
        sent=row["sent"],
        mention_count=row["mention_count"],
    )


def _conversation(row: Row) -> ConversationRow:
    return ConversationRow(
        intern(row["id"]), intern(row["kind"]), row["title"], row["owner_id"], row["created_at_ms"]
    )
