"""The one-time code that makes the first super-admin. Only its SHA-256 is kept."""

from persistence.connection import Connection


async def replace_setup_code(conn: Connection, code_hash: bytes, now_ms: int) -> None:
    """Make this the only code that opens the setup.

    Args:
        code_hash: SHA-256 of the code.
    """
    await conn.execute("DELETE FROM setup_codes")
    await conn.execute(
        "INSERT INTO setup_codes (code_hash, created_at_ms) VALUES ($1, $2)", code_hash, now_ms
    )


async def take_setup_code(conn: Connection, code_hash: bytes) -> bool:
    """Use the code up; False when there is no such code (any more).

    The DELETE locks the row: of any number of transactions that try at once, one gets it and the others see
    it gone.
    """
    return (
        await conn.fetchrow("DELETE FROM setup_codes WHERE code_hash = $1 RETURNING 1", code_hash) is not None
    )


async def close_setup(conn: Connection) -> None:
    """There is a super-admin: no code opens anything any more."""
    await conn.execute("DELETE FROM setup_codes")
