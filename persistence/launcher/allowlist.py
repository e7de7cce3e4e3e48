"""The hosts that launchers may talk to: one row, which the migration made. Rows only."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection, Row


class Allowlist(msgspec.Struct, frozen=True):
    """The allowlist as it was last stored.

    Args:
        version: 1 before the first change; rises by one with each.
        hosts: host names in their normal form, sorted.
        updated_at_ms: when it was last changed, epoch milliseconds.
    """

    version: int
    hosts: list[str]
    updated_at_ms: int


async def read(conn: Connection) -> Allowlist:
    """Read the allowlist."""
    return _only(await conn.fetch("SELECT * FROM network_guard_allowlist"))


async def lock(conn: Connection) -> Allowlist:
    """Read the allowlist, and lock its row until the transaction ends."""
    return _only(await conn.fetch("SELECT * FROM network_guard_allowlist FOR UPDATE"))


async def save(conn: Connection, allowlist: Allowlist) -> None:
    """Replace the allowlist, which the caller has locked."""
    await conn.execute(
        "UPDATE network_guard_allowlist SET version = $1, hosts = $2, updated_at_ms = $3",
        allowlist.version,
        allowlist.hosts,
        allowlist.updated_at_ms,
    )


def _only(rows: Sequence[Row]) -> Allowlist:
    (row,) = rows
    return Allowlist(*(row[name] for name in Allowlist.__struct_fields__))
