"""With which master key the secrets in a database are sealed: the key lies in a folder, its name in a row."""

from persistence.connection import Connection


async def read_master(conn: Connection) -> str | None:
    """The name of the master key with which this database is used; None where that was never written down."""
    if await _is_before(conn):
        return None
    name: str | None = await conn.fetchval("SELECT name FROM master_key")
    return name


async def was_served(conn: Connection) -> bool:
    """Whether a node has ever served from this database; none does without keys."""
    if await conn.fetchval("SELECT to_regclass('leases')") is None:
        return False
    served: bool = await conn.fetchval("SELECT EXISTS (SELECT FROM leases)")
    return served


async def note_master(conn: Connection, name: str) -> str:
    """Write down which master key this database is used with, unless that is known; returns the name that it has then.

    Args:
        name: of the master key.
    """
    if await _is_before(conn):
        return name
    await conn.execute("INSERT INTO master_key (name) VALUES ($1) ON CONFLICT (one) DO NOTHING", name)
    noted: str = await conn.fetchval("SELECT name FROM master_key")
    return noted


async def change_master(conn: Connection, name: str) -> None:
    """Write down that this database is used with another master key from now on.

    Args:
        name: of the master key.
    """
    await conn.execute(
        "INSERT INTO master_key (name) VALUES ($1) ON CONFLICT (one) DO UPDATE SET name = excluded.name", name
    )


async def _is_before(conn: Connection) -> bool:
    """Whether it is the database of an earlier version, which runs, or was not migrated yet."""
    return await conn.fetchval("SELECT to_regclass('master_key')") is None
