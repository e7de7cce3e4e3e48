"""Public servers that were created for addresses that users saved. Rows only."""

from collections.abc import Collection, Mapping

from persistence.connection import Connection
from persistence.publications.publications import hold_address


async def find_or_make(conn: Connection, id: str, address: str, now_ms: int) -> str:
    """The id of the public server of an address, which stays as it is until the transaction ends; an unlisted one is
    created where there is none.

    The publication of a server or network that claims the address without proof does not count. Of several, one whose
    address is proven comes first, then the address alone; hidden ones of servers and networks come last.

    Args:
        id: the id for a public server that is created.
        address: the `Address.key` of the address.
    """
    # Concurrent transactions on one address find the same server, and so does who publishes it.
    await hold_address(conn, address)
    found = await conn.fetchval(
        "SELECT id FROM publications WHERE address_key = $1 AND discovery_state <> 'SUPPRESSED'"
        " AND (target_id IS NULL OR ownership_state = 'OWNED')"
        " ORDER BY (discovery_state = 'UNLISTED' AND target_id IS NOT NULL), target_id IS NULL, created_at_ms, id"
        " LIMIT 1 FOR SHARE",
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


async def hold(conn: Connection, id: str) -> None:
    """Keep a public server, and who has saved it, as they are until the transaction ends."""
    await conn.execute("SELECT FROM publications WHERE id = $1 FOR UPDATE", id)


async def drop_unsaved(conn: Connection, ids: Collection[str]) -> None:
    """Delete those of these public servers that were created by saving their addresses and that no user has saved
    any more.

    The transaction has locked them by `hold`.
    """
    await conn.execute(
        "DELETE FROM publications WHERE id = ANY ($1::text[])"
        " AND discovery_source = 'USER' AND discovery_state = 'UNLISTED' AND target_id IS NULL"
        " AND NOT EXISTS (SELECT FROM saved_servers WHERE server_id = publications.id)",
        list(ids),
    )


async def release(conn: Connection, address_ids: Mapping[str, str], now_ms: int) -> None:
    """Move the entries of publications in users' lists to public servers for the bare addresses of the publications.

    The entries keep their place and whether they are favourites. Their id changes, because the publication keeps its.

    Args:
        address_ids: {publication: id of the public server that is created for its address if it is saved}.
        now_ms: epoch milliseconds.
    """
    ids, fresh_ids = list(address_ids), list(address_ids.values())
    # Publications are locked before their entries, in the same order as by saving and unsaving.
    await conn.execute(
        "SELECT FROM publications WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE", ids
    )
    await conn.execute(
        """
        INSERT INTO publications (id, address, display_name, discovery_source, discovery_state, ownership_state,
               created_at_ms, updated_at_ms)
        SELECT n.fresh_id, p.address_key, p.address_key, 'USER', 'UNLISTED', 'UNCLAIMED', $3, $3
        FROM unnest($1::text[], $2::text[]) AS n (id, fresh_id) JOIN publications p USING (id)
        WHERE EXISTS (SELECT FROM saved_servers s WHERE s.server_id = p.id)
        """,
        ids, fresh_ids, now_ms,
    )  # fmt: skip
    moved = await conn.fetch(
        """
        WITH moved AS (
            UPDATE saved_servers s SET server_id = n.fresh_id
            FROM unnest($1::text[], $2::text[]) AS n (id, fresh_id) WHERE s.server_id = n.id
            RETURNING n.id, n.fresh_id, s.favorite
        )
        SELECT id, fresh_id, count(*) AS favorites FROM moved WHERE favorite GROUP BY id, fresh_id
        """,
        ids, fresh_ids,
    )  # fmt: skip
    # A statement of its own: it sees the favourites that were marked while this transaction waited for the entries.
    await conn.execute(
        """
        WITH moved AS (
            SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS n (id, fresh_id, favorites)
        ), made AS (
            INSERT INTO server_favorites (server_id, favorites) SELECT fresh_id, favorites FROM moved
        )
        UPDATE server_favorites f SET favorites = f.favorites - moved.favorites FROM moved WHERE f.server_id = moved.id
        """,
        [row["id"] for row in moved],
        [row["fresh_id"] for row in moved],
        [row["favorites"] for row in moved],
    )


async def sweep(
    conn: Connection, after: tuple[int, str] | None, limit: int, *, before_ms: int
) -> tuple[int, str] | None:
    """Delete those public servers, among the next that users created, that are older than a moment and
    no longer saved.

    Args:
        after: (creation, id) of the last of the page before; None from the start.
        limit: how many public servers are looked at.
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
    # Public servers that are just being saved or published are locked, and skipped here; the statement that deletes the
    # others sees what was saved and published before it.
    free = await conn.fetch(
        "SELECT id FROM publications WHERE id = ANY ($1::text[]) FOR UPDATE SKIP LOCKED",
        [row["id"] for row in page if not row["saved"]],
    )
    await drop_unsaved(conn, [row["id"] for row in free])
    return (page[-1]["created_at_ms"], page[-1]["id"]) if len(page) >= limit else None
