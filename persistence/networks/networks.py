"""Networks, their join tokens and their hosts, in rows."""

from persistence.connection import Connection
from persistence.expiring import forget_ended
from persistence.networks.rows import HostRow, NetworkRow, TokenRow

_READ = """
SELECT network_id, id, name, owner_id, slug, public_summary, public_profile_mode, public_profile_share_code,
       created_at_ms, updated_at_ms
FROM networks WHERE network_id = $1
"""
_LOCK = _READ + " FOR NO KEY UPDATE"
_HOLD = _READ + " FOR UPDATE"
_OF_OWNER = """
SELECT network_id, id, name, owner_id, slug, public_summary, public_profile_mode, public_profile_share_code,
       created_at_ms, updated_at_ms
FROM networks WHERE owner_id = $1 ORDER BY created_at_ms, network_id LIMIT $2
"""

_OF_SLUG = """
SELECT network_id, id, name, owner_id, slug, public_summary, public_profile_mode, public_profile_share_code,
       created_at_ms, updated_at_ms
FROM networks WHERE slug = $1
"""

_OF_TOKEN = _READ.replace("= $1", "= (SELECT network_id FROM network_join_tokens WHERE token = $1)")


async def create(conn: Connection, row: NetworkRow) -> None:
    """Store a new network; only id, name, owner and times are written."""
    await conn.execute(
        """
        INSERT INTO networks (network_id, id, name, owner_id, created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        row.network_id, row.id, row.name, row.owner_id, row.created_at_ms, row.updated_at_ms,
    )  # fmt: skip


async def read(conn: Connection, network_id: str) -> NetworkRow | None:
    """One network, or None."""
    row = await conn.fetchrow(_READ, network_id)
    return None if row is None else NetworkRow(**dict(row))


async def lock(conn: Connection, network_id: str) -> NetworkRow | None:
    """One network, or None; its row is locked for changes until the transaction ends."""
    row = await conn.fetchrow(_LOCK, network_id)
    return None if row is None else NetworkRow(**dict(row))


async def hold(conn: Connection, network_id: str) -> NetworkRow | None:
    """Lock a network as `lock` does, and let nobody add rows that refer to it until the transaction ends; waits for
    transactions that have added some. Returns the network, or None.
    """
    row = await conn.fetchrow(_HOLD, network_id)
    return None if row is None else NetworkRow(**dict(row))


async def remove(conn: Connection, network_id: str) -> None:
    """Delete a network, and with it whatever refers to it; servers that are in it are in none afterwards."""
    await conn.execute("DELETE FROM networks WHERE network_id = $1", network_id)


async def of_owner(conn: Connection, owner_id: str, limit: int) -> list[NetworkRow]:
    """The networks of a user, oldest first, at most `limit`."""
    return [NetworkRow(**dict(row)) for row in await conn.fetch(_OF_OWNER, owner_id, limit)]


async def of_slug(conn: Connection, slug: str) -> NetworkRow | None:
    """The network that has this slug, or None."""
    row = await conn.fetchrow(_OF_SLUG, slug)
    return None if row is None else NetworkRow(**dict(row))


async def take_slug(conn: Connection, slug: str) -> str | None:
    """The network that has this slug, or None; concurrent calls for the same slug wait until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('slug ' || $1, 0))", slug)
    found = await conn.fetchval("SELECT network_id FROM networks WHERE slug = $1", slug)
    return None if found is None else str(found)


async def change(conn: Connection, row: NetworkRow) -> None:
    """Write the changeable columns of a network."""
    await conn.execute(
        """
        UPDATE networks SET name = $2, slug = $3, public_summary = $4, public_profile_mode = $5,
               public_profile_share_code = $6, updated_at_ms = $7
        WHERE network_id = $1
        """,
        row.network_id, row.name, row.slug, row.public_summary, row.public_profile_mode,
        row.public_profile_share_code, row.updated_at_ms,
    )  # fmt: skip


# ---- join tokens


async def add_token(conn: Connection, row: TokenRow, *, keep: int) -> None:
    """Store a join token, and delete the network's oldest ones beyond a limit.

    Args:
        keep: how many tokens the network may have, the new one included.
    """
    await conn.execute(
        """
        DELETE FROM network_join_tokens WHERE token IN (
            SELECT token FROM network_join_tokens WHERE network_id = $1 ORDER BY expires_at_ms DESC, token OFFSET $2
        )
        """,
        row.network_id,
        keep - 1,
    )
    await conn.execute(
        "INSERT INTO network_join_tokens (token, network_id, expires_at_ms) VALUES ($1, $2, $3)",
        row.token,
        row.network_id,
        row.expires_at_ms,
    )


async def lock_token(conn: Connection, token: bytes) -> TokenRow | None:
    """A join token, or None; its row is locked until the transaction ends.

    Args:
        token: the token's SHA-256 digest.
    """
    row = await conn.fetchrow(
        "SELECT token, network_id, expires_at_ms, used FROM network_join_tokens WHERE token = $1 FOR UPDATE",
        token,
    )
    return None if row is None else TokenRow(*row)


async def of_token(conn: Connection, token: bytes) -> NetworkRow | None:
    """The network of a join token; None where there is no such token.

    Args:
        token: the token's SHA-256 digest.
    """
    row = await conn.fetchrow(_OF_TOKEN, token)
    return None if row is None else NetworkRow(**dict(row))


async def use_token(conn: Connection, token: bytes) -> None:
    """Mark a join token, given by its SHA-256, as used."""
    await conn.execute("UPDATE network_join_tokens SET used = true WHERE token = $1", token)


async def forget_tokens(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete the join tokens that expired before `before_ms`, at most `limit`; returns how many."""
    return await forget_ended(conn, "network_join_tokens", limit, before_ms=before_ms)


# ---- hosts


async def count_servers(conn: Connection, network_id: str) -> int:
    """How many servers are in a network."""
    return int(await conn.fetchval("SELECT count(*) FROM connect_servers WHERE network_id = $1", network_id))


async def hosts_of(conn: Connection, owner_id: str, limit: int) -> list[HostRow]:
    """A user's servers that have joined a network as its agent, oldest first, at most `limit`."""
    rows = await conn.fetch(
        """
        SELECT id, server_id, network_id, name, owner_id, last_seen_at_ms, last_seen_ip, created_at_ms, updated_at_ms
        FROM connect_servers WHERE owner_id = $1 AND server_type = 'agent' AND network_id IS NOT NULL
        ORDER BY created_at_ms, server_id LIMIT $2
        """,
        owner_id,
        limit,
    )
    return [HostRow(**dict(row)) for row in rows]
