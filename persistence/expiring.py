"""Rows that end by themselves and are deleted some time after."""

from typing import Literal, get_args

from persistence.connection import Connection

Table = Literal["connect_claim_keys", "connect_tickets", "network_join_tokens"]
"""Those with an indexed `expires_at_ms`, of which nothing else has to be known."""

_FORGET = """
DELETE FROM ended WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ended WHERE expires_at_ms < $1 ORDER BY expires_at_ms LIMIT $2
)) AND expires_at_ms < $1
"""

_STATEMENTS: dict[str, str] = {table: _FORGET.replace("ended", table) for table in get_args(Table)}


async def forget_ended(conn: Connection, table: Table, limit: int, *, before_ms: int) -> int:
    """Delete the rows that ended before that time, at most `limit`, the oldest first; returns how many.

    A row that was put off meanwhile stays: it is looked at again once it is locked.
    """
    tag = await conn.execute(_STATEMENTS[table], before_ms, limit)
    return int(tag.rpartition(" ")[2])
