"""Public servers that were created for addresses that users saved. Rows only."""

from persistence.connection import Connection


async def find_or_make(conn: Connection, id: str, address: str, now_ms: int) -> str:
    """The public server of an address; an unlisted one is created where there is none.

    Of several, unlisted ones of servers and networks come last; among the others, one whose address is proven comes
    first, then an unclaimed one.

    Args:
        id: for a new one.
        address: an `Address.key`.
    """
    await _hold(conn, address)
    found = await conn.fetchval(
        "SELECT id FROM publications WHERE address_key = $1 AND discovery_state <> 'SUPPRESSED'"
        " ORDER BY (discovery_state = 'UNLISTED' AND target_id IS NOT NULL),"
        " array_position(ARRAY['OWNED', 'UNCLAIMED', 'PENDING', 'LOST'], ownership_state), created_at_ms, id LIMIT 1",
        address,
    )
    if found is not None:
        return str(found)
    await conn.execute(
        "INSERT INTO publications (id, address, display_name, discovery_source, discovery_state, ownership_state,"
        " created_at_ms, updated_at_ms) VALUES ($1, $2, $2, 'USER', 'UNLISTED', 'UNCLAIMED', $3, $3)",
        id,
        address,
        now_ms,
    )
    return id


async def drop_unsaved(conn: Connection, id: str, address: str) -> None:
    """Delete the public server of an address if it was created by saving the address and no user has
    it saved any more.

    Args:
        address: its `Address.key`.
    """
    await _hold(conn, address)
    # A transaction that is just saving it holds a lock on it; after that, the second statement sees what it saved.
    await conn.execute("SELECT FROM publications WHERE id = $1 FOR UPDATE", id)
    await conn.execute(
        "DELETE FROM publications WHERE id = $1 AND discovery_source = 'USER' AND discovery_state = 'UNLISTED'"
        " AND target_id IS NULL AND NOT EXISTS (SELECT FROM saved_servers WHERE server_id = publications.id)",
        id,
    )


async def _hold(conn: Connection, address: str) -> None:
    """Serialise transactions on one address: concurrent ones find the same server, and none that is being deleted."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 15))", address)


async def sweep(
    conn: Connection, after: tuple[int, str] | None, limit: int, *, before_ms: int
) -> tuple[int, str] | None:
    """Delete those public servers, among the next that users created, that are older than a moment and
    no longer saved.

    Args:
        after: (creation, id) of the last of the page before; None from the start.
        limit: how many are looked at.
        before_ms: epoch milliseconds.

    Returns:
        Where the next page starts; None after the last.
    """
    page = await conn.fetch(
        "SELECT created_at_ms, id, EXISTS (SELECT FROM saved_servers WHERE server_id = publications.id) AS saved"
        " FROM publications WHERE discovery_source = 'USER' AND discovery_state = 'UNLISTED'"
        " AND (created_at_ms, id) > ($1, $2) AND created_at_ms < $3 ORDER BY created_at_ms, id LIMIT $4",
        *(after or (-1, "")),
        before_ms,
        limit,
    )
    # Those that are just being saved are locked, and skipped; the second statement sees what was saved before.
    free = await conn.fetch(
        "SELECT id FROM publications WHERE id = ANY ($1::text[]) FOR UPDATE SKIP LOCKED",
        [row["id"] for row in page if not row["saved"]],
    )
    await conn.execute(
        "DELETE FROM publications WHERE id = ANY ($1::text[]) AND discovery_state = 'UNLISTED'"
        " AND NOT EXISTS (SELECT FROM saved_servers WHERE server_id = publications.id)",
        [row["id"] for row in free],
    )
    return (page[-1]["created_at_ms"], page[-1]["id"]) if len(page) >= limit else None
