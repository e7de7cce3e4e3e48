"""Deletes rows of several tables some time after they have expired."""

from typing import Literal, get_args

from persistence.connection import Connection

Table = Literal["connect_claim_keys", "connect_tickets", "network_join_tokens"]
"""Tables with an indexed `expires_at_ms` from which a row may be deleted for its age alone."""

_FORGET = """
DELETE FROM ended WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ended WHERE expires_at_ms < $1 ORDER BY expires_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED
))
"""

_STATEMENTS: dict[str, str] = {table: _FORGET.replace("ended", table) for table in get_args(Table)}


async def forget_ended(conn: Connection, table: Table, limit: int, *, before_ms: int) -> int:
    """Delete the table's rows that expired before `before_ms` (epoch milliseconds), the oldest first; returns how many.

    One call deletes at most `limit`. Rows that another transaction is changing are left to the next call: the writer
    renews several in an order of its own, so the two transactions could deadlock.
    """
    tag = await conn.execute(_STATEMENTS[table], before_ms, limit)
    return int(tag.rpartition(" ")[2])
