"""Publications, in rows."""

from collections.abc import Sequence

from persistence.connection import Connection
from persistence.publications.rows import OwnershipProof, PublicationRow, Target, publication_of

# A route below the gateway domain proves its host for the server that has the route, and for that server's network.
# While no server has such a route, the host stays with the target that had it.
_DISPUTED = """
SELECT p.id, checked.proof FROM publications p
LEFT JOIN connect_servers c ON c.server_id = p.server_id
LEFT JOIN gateway_routes r ON r.route_host = p.host
LEFT JOIN connect_servers h ON h.server_id = r.server_id
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN p.ownership_proof = 'gateway' AND coalesce(p.target_id IN (r.server_id, h.network_id), r.server_id IS NULL)
            THEN 'gateway'
        WHEN EXISTS (
            SELECT FROM network_domains d
            WHERE d.status = 'verified' AND d.network_id = coalesce(p.network_id, c.network_id)
                AND d.domain = ANY (domains_of_host(p.host))
        ) THEN 'domain'
        WHEN p.target_id IN (r.server_id, h.network_id) AND right(p.host, length($2) + 1) = '.' || $2::text
            THEN 'gateway'
    END AS proof
) AS checked
WHERE p.target_id IS NOT NULL AND checked.proof IS DISTINCT FROM p.ownership_proof AND p.id = ANY ($1::text[])
ORDER BY p.id FOR NO KEY UPDATE OF p
"""
_CHANGEABLE = """
SELECT id FROM publications
WHERE (ownership_state IN ('PENDING', 'LOST') OR ownership_proof IN ('domain', 'gateway')) AND id > $1
ORDER BY id LIMIT $2
"""
_UNPROVEN_OF = """
SELECT id FROM (
    SELECT p.id, p.ownership_state FROM publications p WHERE p.network_id = $1
    UNION ALL
    SELECT p.id, p.ownership_state FROM connect_servers c JOIN publications p ON p.server_id = c.server_id
    WHERE c.network_id = $1
) AS own WHERE ownership_state IN ('PENDING', 'LOST') ORDER BY id LIMIT $2
"""
_UNPROVEN_OF_SERVERS = """
SELECT id FROM publications WHERE server_id = ANY ($1::text[]) AND ownership_state IN ('PENDING', 'LOST')
"""


async def of_target(conn: Connection, target: Target, viewer_id: str) -> PublicationRow | None:
    """The publication of a server or network as a viewer sees it, or None."""
    found = await of_targets(conn, [target.id], viewer_id)
    return found[0] if found else None


async def of_targets(conn: Connection, target_ids: Sequence[str], viewer_id: str) -> list[PublicationRow]:
    """The publications of these servers and networks as a viewer sees them."""
    rows = await conn.fetch(
        """
        SELECT p.*, EXISTS (
            SELECT FROM saved_servers s WHERE s.user_id = $2 AND s.server_id = p.id AND s.favorite
        ) AS favorite
        FROM published p WHERE p.target_id = ANY($1::text[])
        """,
        list(target_ids),
        viewer_id,
    )
    return [publication_of(row, favorite=row["favorite"]) for row in rows]


async def listed(conn: Connection, id: str) -> PublicationRow | None:
    """A publication, if it is in the public list, else None."""
    row = await conn.fetchrow("SELECT * FROM published WHERE id = $1 AND discovery_state = 'CONNECT'", id)
    return None if row is None else publication_of(row)


async def listed_of(conn: Connection, target_id: str) -> PublicationRow | None:
    """The publication of a server or network, if it is in the public list, else None."""
    row = await conn.fetchrow(
        "SELECT * FROM published WHERE target_id = $1 AND discovery_state = 'CONNECT'", target_id
    )
    return None if row is None else publication_of(row)


async def disputed(
    conn: Connection, after: str | None, limit: int, gateway_domain: str | None
) -> tuple[list[tuple[PublicationRow, OwnershipProof | None]], str | None]:
    """Those among the next publications whose proof no longer matches the verified domains and the gateway routes,
    locked for changes until the transaction ends.

    Args:
        after: the last publication of the page before; None from the start.
        limit: how many publications are looked at.
        gateway_domain: the domain below which a route proves its host; None where there is no such domain.

    Returns:
        The publications, each with what proves its address now, and where the next page starts; None after the last.
    """
    page = [row["id"] for row in await conn.fetch(_CHANGEABLE, after or "", limit)]
    return await _disputed(conn, page, gateway_domain), page[-1] if len(page) >= limit else None


async def unproven_of(
    conn: Connection, network_id: str, limit: int, gateway_domain: str | None
) -> list[tuple[PublicationRow, OwnershipProof | None]]:
    """The publications of a network and its servers that lack a proof and could have one now, each with that proof,
    locked for changes until the transaction ends.

    Args:
        limit: how many publications are looked at.
        gateway_domain: as for `disputed`.
    """
    page = [row["id"] for row in await conn.fetch(_UNPROVEN_OF, network_id, limit)]
    return await _disputed(conn, page, gateway_domain)


async def unproven_of_servers(
    conn: Connection, server_ids: Sequence[str], gateway_domain: str | None
) -> list[tuple[PublicationRow, OwnershipProof | None]]:
    """The publications of these servers that lack a proof and could have one now, each with that proof, locked for
    changes until the transaction ends.

    Args:
        gateway_domain: as for `disputed`.
    """
    found = [row["id"] for row in await conn.fetch(_UNPROVEN_OF_SERVERS, list(server_ids))]
    return await _disputed(conn, found, gateway_domain) if found else []


async def _disputed(
    conn: Connection, ids: Sequence[str], gateway_domain: str | None
) -> list[tuple[PublicationRow, OwnershipProof | None]]:
    proofs = {row["id"]: row["proof"] for row in await conn.fetch(_DISPUTED, ids, gateway_domain)}
    rows = await conn.fetch("SELECT * FROM published WHERE id = ANY($1::text[])", list(proofs))
    return [(publication_of(row), proofs[row["id"]]) for row in rows]


async def hold(conn: Connection, target: Target) -> None:
    """Serialise changes of a target's publication until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('publication ' || $1, 0))", target.id)


async def hold_address(conn: Connection, address_key: str) -> None:
    """Serialise publishing at an address, suppressing it, and saving it, until the transaction ends; before any `hold`.

    Args:
        address_key: the address in its canonical form (`Address.key`).
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('address ' || $1, 0))", address_key)


async def address_alone(conn: Connection, address_key: str) -> tuple[str, int] | None:
    """(id, creation time in epoch milliseconds) of the publication of an address alone, without a target, locked for
    changes until the transaction ends; None when there is no such publication.
    """
    row = await conn.fetchrow(
        """
        SELECT id, created_at_ms FROM publications
        WHERE address_key = $1 AND target_id IS NULL AND discovery_state <> 'SUPPRESSED'
        ORDER BY created_at_ms, id LIMIT 1 FOR NO KEY UPDATE
        """,
        address_key,
    )
    return None if row is None else (row["id"], row["created_at_ms"])


async def is_suppressed_at(conn: Connection, address_key: str, *, proven: bool) -> bool:
    """Whether a moderator has suppressed what is published at an address.

    Args:
        address_key: the address in its canonical form (`Address.key`).
        proven: whether the address belongs to whoever asks; what somebody else has published there without proof, and a
            moderator has suppressed, then says nothing against it.
    """
    return bool(
        await conn.fetchval(
            """
            SELECT EXISTS (
                SELECT FROM publications WHERE address_key = $1 AND suppressed
                  AND (NOT $2::boolean OR ownership_state IN ('UNCLAIMED', 'OWNED'))
            )
            """,
            address_key,
            proven,
        )
    )


async def listed_at(conn: Connection, address_key: str, *, owned_as_well: bool, limit: int) -> list[Target]:
    """The servers and networks that are published at an address and not suppressed, by the ids of their publications.

    Args:
        address_key: the address in its canonical form (`Address.key`).
        owned_as_well: also those to whom the address is proven to belong.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT server_id, network_id FROM publications
        WHERE address_key = $1 AND target_id IS NOT NULL AND NOT suppressed AND ($2 OR ownership_state <> 'OWNED')
        ORDER BY id LIMIT $3
        """,
        address_key, owned_as_well, limit,
    )  # fmt: skip
    return [
        Target("network", row["network_id"])
        if row["server_id"] is None
        else Target("server", row["server_id"])
        for row in rows
    ]


async def put(conn: Connection, row: PublicationRow, *, words: str) -> None:
    """Store a publication, new or changed, with the time of its last status.

    Args:
        words: the text that searches look through.
    """
    await conn.execute(
        """
        INSERT INTO publications
               (id, server_id, network_id, address, host, display_name, category, tags, social_links, motd_override,
                hidden, featured, suppressed, discovery_source, discovery_state, ownership_state, ownership_proof,
                ownership_verified_at_ms, words, name_lower, created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
        ON CONFLICT (id) DO UPDATE SET
            server_id = $2, network_id = $3, address = $4, host = $5, display_name = $6, category = $7, tags = $8,
            social_links = $9, motd_override = $10, hidden = $11, featured = $12, suppressed = $13,
            discovery_source = $14, discovery_state = $15, ownership_state = $16, ownership_proof = $17,
            ownership_verified_at_ms = $18, words = $19, name_lower = $20, updated_at_ms = $22
        """,
        row.id, row.server_id, row.network_id, row.address, row.host, row.display_name, row.category, list(row.tags),
        row.social_links, row.motd_override, row.hidden, row.featured, row.suppressed, row.discovery_source,
        row.discovery_state, row.ownership_state, row.ownership_proof, row.ownership_verified_at_ms, words,
        row.display_name.lower(), row.created_at_ms, row.updated_at_ms,
    )  # fmt: skip
    await conn.execute(
        """
        INSERT INTO publication_statuses AS s (publication_id, seen_at_ms) VALUES ($1, $2)
        ON CONFLICT (publication_id) DO UPDATE SET seen_at_ms = greatest(s.seen_at_ms, $2)
        """,
        row.id,
        row.seen_at_ms,
    )


async def save_proof(conn: Connection, row: PublicationRow) -> None:
    """Write the ownership of the address, and the discovery state that follows from it."""
    await conn.execute(
        """
        UPDATE publications SET discovery_state = $2, ownership_state = $3, ownership_proof = $4,
               ownership_verified_at_ms = $5 WHERE id = $1
        """,
        row.id, row.discovery_state, row.ownership_state, row.ownership_proof, row.ownership_verified_at_ms,
    )  # fmt: skip


async def remove(conn: Connection, id: str) -> None:
    """Delete a publication, and that it is suppressed with it."""
    await conn.execute("UPDATE publications SET suppressed = false WHERE id = $1 AND suppressed", id)
    await conn.execute("DELETE FROM publications WHERE id = $1", id)


async def grow_stale(conn: Connection, after: str | None, limit: int, *, before_ms: int) -> str | None:
    """Mark those of the next publications as stale that had no status since `before_ms`; stale ones leave the list.

    They are locked in the order of their ids, as by whoever checks who owns them at the same time.

    Args:
        after: the last publication of the page before; None from the start.
        limit: how many publications are looked at.
        before_ms: epoch milliseconds.

    Returns:
        Where the next page starts; None after the last.
    """
    page = await conn.fetch(
        """
        SELECT publication_id AS id, seen_at_ms < $2 AS silent FROM publication_statuses
        WHERE publication_id > $1 ORDER BY publication_id LIMIT $3
        """,
        after or "", before_ms, limit,
    )  # fmt: skip
    await conn.execute(
        """
        WITH held AS MATERIALIZED (
            SELECT p.id FROM publications p JOIN publication_statuses s ON s.publication_id = p.id
            WHERE p.id = ANY ($1::text[]) AND s.seen_at_ms < $2 AND p.discovery_state = 'CONNECT'
            ORDER BY p.id FOR NO KEY UPDATE OF p
        )
        UPDATE publications p SET discovery_state = 'STALE' FROM held
        WHERE p.id = held.id AND p.discovery_state = 'CONNECT'
        """,
        [row["id"] for row in page if row["silent"]], before_ms,
    )  # fmt: skip
    return page[-1]["id"] if len(page) >= limit else None


async def route_holders(conn: Connection, host: str) -> tuple[str, str | None] | None:
    """(server id, its network's id) of the server to which gateways forward the players of this host, or None."""
    row = await conn.fetchrow(
        """
        SELECT r.server_id, c.network_id FROM gateway_routes r JOIN connect_servers c USING (server_id)
        WHERE r.route_host = $1
        """,
        host,
    )
    return None if row is None else (row["server_id"], row["network_id"])


async def calling_address(conn: Connection, server_id: str) -> str | None:
    """The IP address that a server last called from, or None if none was stored."""
    found = await conn.fetchval("SELECT last_seen_ip FROM connect_servers WHERE server_id = $1", server_id)
    return None if found is None else str(found)
