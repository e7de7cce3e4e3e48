"""Users' game options. Rows only."""

import msgspec

from persistence.connection import Connection


class Options(msgspec.Struct, frozen=True):
    """A user's options.

    Args:
        options: the options as encoded JSON object.
        revision: 1 at first; rises by one with each change.
        updated_at_ms: when they were last changed, epoch milliseconds.
    """

    options: bytes
    revision: int
    updated_at_ms: int


async def read(conn: Connection, user_id: str) -> Options | None:
    """A user's options, or None when they have never stored any."""
    row = await conn.fetchrow(
        "SELECT options, revision, updated_at_ms FROM minecraft_options WHERE user_id = $1", user_id
    )
    return None if row is None else Options(*row)


async def save(conn: Connection, user_id: str, options: Options) -> None:
    """Store a user's options, in place of former ones."""
    await conn.execute(
        "INSERT INTO minecraft_options (user_id, options, revision, updated_at_ms) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (user_id) DO UPDATE SET options = $2, revision = $3, updated_at_ms = $4",
        user_id,
        options.options,
        options.revision,
        options.updated_at_ms,
    )
