"""Which master key the secrets in a database are sealed with: the key lies in a folder, its name in a row."""

from persistence.connection import Connection


async def read_master(conn: Connection) -> str | None:
    """The name of the master key with which this database is used; None where no name was stored."""
    if await _is_before(conn):
        return None
    name: str | None = await conn.fetchval("SELECT name FROM master_key")
    return name


async def was_served(conn: Connection) -> bool:
    """Whether a node has ever served from this database; if so, there were keys, since no node serves without."""
    if await conn.fetchval("SELECT to_regclass('leases')") is None:
        return False
    served: bool = await conn.fetchval("SELECT EXISTS (SELECT FROM leases)")
    return served


async def note_master(conn: Connection, name: str) -> str:
    """Store the name of the master key of this database unless one is stored; returns the stored name.

    Args:
        name: the master key's name.
    """
    if await _is_before(conn):
        return name
    await conn.execute("INSERT INTO master_key (name) VALUES ($1) ON CONFLICT (one) DO NOTHING", name)
    noted: str = await conn.fetchval("SELECT name FROM master_key")
    return noted


async def change_master(conn: Connection, name: str) -> None:
    """Store that this database is used with another master key from now on.

    Args:
        name: the master key's name.
    """
    await conn.execute(
        "INSERT INTO master_key (name) VALUES ($1) ON CONFLICT (one) DO UPDATE SET name = excluded.name", name
    )


async def _is_before(conn: Connection) -> bool:
    """Whether the database is still that of a version without this table, because it was not migrated yet."""
    return await conn.fetchval("SELECT to_regclass('master_key')") is None
