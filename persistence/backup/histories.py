"""After a restore, histories go on under new names, and so do the nodes as a whole.

Clients remember (epoch, offset) of what they have seen. What was after the backup is gone, and other events will take
those offsets; under the old names, a client of the time before would be told that it has missed nothing. And what was
backed up may still serve: its nodes have the same names and keys, and would be heard where both have one NATS.
"""

from persistence.connection import Connection


async def name_anew(conn: Connection, salt: bytes) -> None:
    """Give every history another epoch, so that whoever comes back gets a fresh snapshot, and have the nodes meet under
    another name. A unit of work.

    Args:
        salt: random bytes; equal ones give equal names.
    """
    await conn.execute("SET LOCAL statement_timeout = 0")
    await conn.execute(
        "UPDATE heads SET epoch = left(encode(sha256($1 || convert_to(kind || '/' || id, 'UTF8')), 'hex'), 10)",
        salt,
    )
    # Users without a head count from their first notification, which they may have got in the time that is lost.
    await conn.execute(
        """
        INSERT INTO notification_heads (user_id, epoch, seq, added)
        SELECT id, left(encode(sha256($1 || convert_to(id, 'UTF8')), 'hex'), 10), 0, 0 FROM users
        ON CONFLICT (user_id) DO UPDATE SET epoch = excluded.epoch
        """,
        salt,
    )
    if await conn.fetchval("SELECT to_regclass('cluster')") is not None:  # not in backups of early versions
        await conn.execute("DELETE FROM cluster")
