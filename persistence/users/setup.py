"""The one-time code with which the first super-admin is created. Only its SHA-256 is stored."""

from persistence.connection import Connection


async def replace_setup_code(conn: Connection, code_hash: bytes, now_ms: int) -> None:
    """Store the code that opens the setup, in place of all former ones.

    Args:
        code_hash: the SHA-256 of the code.
    """
    await conn.execute("DELETE FROM setup_codes")
    await conn.execute(
        "INSERT INTO setup_codes (code_hash, created_at_ms) VALUES ($1, $2)", code_hash, now_ms
    )


async def take_setup_code(conn: Connection, code_hash: bytes) -> bool:
    """Use a code up; False when there is no such code, or it was used already.

    The DELETE locks the row: of any number of concurrent transactions, one gets it and the others see it gone.
    """
    return (
        await conn.fetchrow("DELETE FROM setup_codes WHERE code_hash = $1 RETURNING 1", code_hash) is not None
    )


async def close_setup(conn: Connection) -> None:
    """Delete all setup codes, once there is a super-admin."""
    await conn.execute("DELETE FROM setup_codes")
