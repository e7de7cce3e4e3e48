"""The order in which members of a conversation are locked: that of their ids, by whoever changes more than one of them.

Two transactions that lock the same members in different orders wait for each other until PostgreSQL ends one.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from persistence.connection import Connection


async def hold(conn: Connection, pairs: Collection[tuple[str, str]]) -> None:
    """Keep the memberships of (conversation id, user id) pairs as they are until the transaction ends, so that it
    changes and deletes them in any order."""
    await conn.execute(
        """
        SELECT FROM conversation_members JOIN unnest($1::text[], $2::text[]) AS n (conversation_id, user_id)
        USING (conversation_id, user_id) ORDER BY conversation_id, user_id FOR NO KEY UPDATE OF conversation_members
        """,
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
    )


async def hold_all(conn: Connection, conversation_id: str) -> None:
    """Keep the memberships of all members of a conversation as they are until the transaction ends, as `hold` does."""
    await conn.execute(
        "SELECT FROM conversation_members WHERE conversation_id = $1 ORDER BY user_id FOR NO KEY UPDATE",
        conversation_id,
    )


_LOCKED = """
WITH locked AS MATERIALIZED (
    SELECT conversation_id, user_id FROM conversation_members
    JOIN unnest($1::text[], $2::text[]) AS n (conversation_id, user_id) USING (conversation_id, user_id)
    ORDER BY conversation_id, user_id FOR NO KEY UPDATE OF conversation_members
)
"""
_OF_LOCKED = "JOIN locked USING (conversation_id, user_id)"


class MemberChange(NamedTuple):
    """A statement that changes members of conversations, who are named by `n`.

    Args:
        plain: locks them in whatever order PostgreSQL finds them.
        ordered: locks them in the same order as `hold`, before it changes any; more expensive.
    """

    plain: str
    ordered: str

    def about(self, pairs: Sequence[tuple[str, str]]) -> str:
        """The statement for (conversation id, user id) pairs. One that changes a single member of each conversation
        needs no order, since nobody but the writer locks members of several conversations."""
        conversations = {conversation_id for conversation_id, _ in pairs}
        return self.plain if len(conversations) == len(pairs) else self.ordered


def changing(update: str, where: str) -> MemberChange:
    """The change that an UPDATE makes.

    Args:
        update: the statement up to its FROM, in which `n` has arrays of conversation ids ($1) and user ids ($2).
        where: its WHERE, which joins `n` with the members.
    """
    return MemberChange(f"{update} {where}", f"{_LOCKED} {update} {_OF_LOCKED} {where}")
