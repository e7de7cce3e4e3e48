"""Members of conversations: who they are, and how far each has read."""

from collections.abc import Sequence
from sys import intern

from persistence.chat.member_locks import changing
from persistence.chat.rows import JoinRow, MemberRow, ReadRow
from persistence.connection import Connection
from persistence.journal.turn import Statement


async def is_member(conn: Connection, conversation_id: str, user_id: str) -> bool:
    """Whether the user is a member of the conversation; one indexed read."""
    found = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM conversation_members WHERE conversation_id = $1 AND user_id = $2)",
        conversation_id,
        user_id,
    )
    return bool(found)


async def of_conversations(conn: Connection, conversation_ids: Sequence[str]) -> dict[str, list[MemberRow]]:
    """{conversation id: all its members, longest-standing first}."""
    rows = await conn.fetch(
        """
        SELECT m.conversation_id, m.user_id, coalesce(u.name, 'deleted') AS name, m.joined_at_ms, m.joined_seq, m.muted,
               m.read_seq, m.read_at_ms, m.own_at_read, m.spoke,
               greatest(m.sent, (SELECT x.sender_seq FROM messages x
                                 WHERE x.conversation_id = m.conversation_id AND x.sender_id = m.user_id
                                   AND x.seq > m.joined_seq
                                 ORDER BY x.seq DESC LIMIT 1)) AS sent,
               ARRAY(SELECT n.seq FROM mentions n
                     WHERE n.conversation_id = m.conversation_id AND n.user_id = m.user_id
                       AND n.seq > m.read_seq
                     ORDER BY n.seq DESC LIMIT 200) AS mentions
        FROM conversation_members m LEFT JOIN users u ON u.id = m.user_id
        WHERE m.conversation_id = ANY ($1::text[])
        ORDER BY m.joined_at_ms, m.user_id
        """,
        conversation_ids,
    )
    found: dict[str, list[MemberRow]] = {id: [] for id in conversation_ids}
    # One object for equal ones: a number that is kept by itself takes four times its place.
    seqs: dict[int, int] = {}
    for row in rows:
        member = MemberRow(
            user_id=intern(row["user_id"]),
            name=intern(row["name"]),
            joined_at_ms=row["joined_at_ms"],
            joined_seq=row["joined_seq"],
            muted=row["muted"],
            read_seq=row["read_seq"],
            read_at_ms=row["read_at_ms"],
            own_at_read=row["own_at_read"],
            sent=row["sent"],
            spoke=row["spoke"],
            mentions=tuple([seqs.setdefault(seq, seq) for seq in sorted(row["mentions"])]),
        )
        found[row["conversation_id"]].append(member)
    return found


async def page(
    conn: Connection, conversation_id: str, first_id: str, *, after: tuple[int, str] | None, limit: int
) -> list[tuple[str, str, int, bool]]:
    """(user id, name, joined at ms, whether they have spoken) of members: one of them, then the longest-standing.

    Args:
        first_id: the user id of the member to begin with, usually the owner; "" for none.
        after: joined at ms and user id of the last member already seen; the first's position is (-1, "").
        limit: at most so many.
    """
    joined_at_ms, user_id = after or (-2, "")
    rows = await conn.fetch(
        """
        SELECT one.user_id, coalesce(u.name, 'deleted') AS name, one.joined_at_ms, one.spoke
        FROM (SELECT m.user_id, m.spoke, CASE WHEN m.user_id = $2 THEN -1 ELSE m.joined_at_ms END AS joined_at_ms,
                     CASE WHEN m.user_id = $2 THEN '' ELSE m.user_id END AS place
              FROM conversation_members m WHERE m.conversation_id = $1) AS one
        LEFT JOIN users u ON u.id = one.user_id
        WHERE (one.joined_at_ms, one.place) > ($3, $4)
        ORDER BY one.joined_at_ms, one.place LIMIT $5
        """,
        conversation_id,
        first_id,
        joined_at_ms,
        user_id,
        limit,
    )
    return [(row["user_id"], row["name"], row["joined_at_ms"], row["spoke"]) for row in rows]


async def beside(conn: Connection, user_id: str, after_id: str, limit: int) -> dict[str, frozenset[str]]:
    """{conversation id: ids of all its members} of a user's conversations, in order, after a given one.

    Args:
        after_id: the last of the page before; "" from the start.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT m.conversation_id, array_agg(m.user_id) AS user_ids FROM conversation_members m
        WHERE m.conversation_id IN (SELECT conversation_id FROM conversation_members
                                    WHERE user_id = $1 AND conversation_id > $2 ORDER BY conversation_id LIMIT $3)
        GROUP BY m.conversation_id ORDER BY m.conversation_id
        """,
        user_id,
        after_id,
        limit,
    )
    return {row["conversation_id"]: frozenset(row["user_ids"]) for row in rows}


async def ids_of(conn: Connection, conversation_ids: Sequence[str]) -> dict[str, frozenset[str]]:
    """{conversation id: ids of all its members} of the conversations that have any."""
    rows = await conn.fetch(
        """
        SELECT conversation_id, array_agg(user_id) AS user_ids FROM conversation_members
        WHERE conversation_id = ANY($1::text[]) GROUP BY conversation_id
        """,
        list(conversation_ids),
    )
    return {row["conversation_id"]: frozenset(row["user_ids"]) for row in rows}


async def parted(conn: Connection, conversation_id: str) -> bool:
    """Whether one of the two members of a direct conversation blocks the other; always False for a group."""
    found: bool = await conn.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM conversations c
            JOIN conversation_members a ON a.conversation_id = c.id
            JOIN conversation_members b ON b.conversation_id = c.id
            JOIN blocks k ON k.user_id = a.user_id AND k.target_id = b.user_id
            WHERE c.id = $1 AND c.kind = 'direct')
        """,
        conversation_id,
    )
    return found


async def join(conn: Connection, rows: Sequence[JoinRow]) -> None:
    """Add members, with everything so far marked as read; a former membership of the same user is reset."""
    await conn.execute(
        """
        INSERT INTO conversation_members (conversation_id, user_id, joined_at_ms, joined_seq, read_seq)
        SELECT n.conversation_id, n.user_id, n.joined_at_ms, n.joined_seq, n.joined_seq
        FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
             AS n (conversation_id, user_id, joined_at_ms, joined_seq)
        ON CONFLICT (conversation_id, user_id) DO UPDATE
        SET joined_at_ms = excluded.joined_at_ms, joined_seq = excluded.joined_seq,
            read_seq = excluded.read_seq, read_at_ms = NULL, own_at_read = 0, sent = 0, muted = false, spoke = false
        """,
        [row.conversation_id for row in rows],
        [row.user_id for row in rows],
        [row.joined_at_ms for row in rows],
        [row.joined_seq for row in rows],
    )


async def remove(conn: Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Delete the memberships of (conversation id, user id) pairs, and their unread mentions."""
    conversations, users = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    await conn.execute(
        """
        DELETE FROM conversation_members m
        USING unnest($1::text[], $2::text[]) AS n (conversation_id, user_id)
        WHERE m.conversation_id = n.conversation_id AND m.user_id = n.user_id
        """,
        conversations,
        users,
    )
    await conn.execute(
        """
        DELETE FROM mentions m USING unnest($1::text[], $2::text[]) AS n (conversation_id, user_id)
        WHERE m.conversation_id = n.conversation_id AND m.user_id = n.user_id
        """,
        conversations,
        users,
    )


_THESE = "WHERE m.conversation_id = n.conversation_id AND m.user_id = n.user_id"

_SPEAK = changing(
    """
    UPDATE conversation_members m SET spoke = true
    FROM unnest($1::text[], $2::text[]) AS n (conversation_id, user_id)
    """,
    _THESE,
)


def speaking(pairs: Sequence[tuple[str, str]]) -> Statement:
    """The statement that `speak` runs; it locks members in the order of `member_locks.py`."""
    return Statement(_SPEAK.about(pairs), ([pair[0] for pair in pairs], [pair[1] for pair in pairs]))


async def speak(conn: Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Store that members have written for the first time.

    Args:
        pairs: (conversation id, user id), each once.
    """
    statement = speaking(pairs)
    await conn.execute(statement.sql, *statement.parameters)


_MARK = changing(
    """
    UPDATE conversation_members m
    SET read_seq = n.read_seq, read_at_ms = n.read_at_ms, own_at_read = n.own_at_read
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
         AS n (conversation_id, user_id, read_seq, read_at_ms, own_at_read)
    """,
    _THESE,
)

_FORGET_READ = """
DELETE FROM mentions m
USING unnest($1::text[], $2::text[], $3::bigint[]) AS n (conversation_id, user_id, seq)
WHERE m.conversation_id = n.conversation_id AND m.user_id = n.user_id AND m.seq <= n.seq
"""


def marking(rows: Sequence[ReadRow]) -> tuple[Statement, Statement]:
    """The statements that `mark_read` runs; they lock members in the order of `member_locks.py`."""
    conversations, users = [row.conversation_id for row in rows], [row.user_id for row in rows]
    seqs = [row.read_seq for row in rows]
    at_ms, own = [row.read_at_ms for row in rows], [row.own_at_read for row in rows]
    return (
        Statement(
            _MARK.about(list(zip(conversations, users, strict=True))),
            (conversations, users, seqs, at_ms, own),
        ),
        Statement(_FORGET_READ, (conversations, users, seqs)),
    )


async def mark_read(conn: Connection, rows: Sequence[ReadRow]) -> None:
    """Move read markers, each member once, and delete the mentions that are now read."""
    for statement in marking(rows):
        await conn.execute(statement.sql, *statement.parameters)


async def mute(conn: Connection, rows: Sequence[tuple[str, str, bool]]) -> None:
    """Store whether members have muted their conversation.

    Args:
        rows: (conversation id, user id, muted), each member once.
    """
    await conn.execute(
        """
        UPDATE conversation_members m SET muted = n.muted
        FROM unnest($1::text[], $2::text[], $3::boolean[]) AS n (conversation_id, user_id, muted)
        WHERE m.conversation_id = n.conversation_id AND m.user_id = n.user_id
        """,
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
    )
