"""Game servers and their claim keys, in rows."""

from collections.abc import Collection, Mapping, Sequence

from persistence.connect.rows import ClaimKeyRow, ServerRow
from persistence.connection import Connection
from persistence.expiring import forget_ended
from persistence.journal import history, journal

KIND = "server"
"""The kind under which the kernel keeps heads and journals of servers."""

_READ = """
SELECT s.server_id, s.id, s.server_type, s.name, s.owner_id, s.network_id, s.template_id, s.is_template, s.temporary,
       s.secret, s.secret_number, s.former_secret, s.former_until_ms, s.created_at_ms, s.updated_at_ms,
       s.last_seen_at_ms, s.access_mode, s.invite_requires_direct_friend, users.name AS owner_name
FROM connect_servers s LEFT JOIN users ON users.id = s.owner_id WHERE s.server_id = $1
"""
_OF_OWNER = """
SELECT server_id, id, server_type, name, owner_id, network_id, template_id, is_template, temporary, secret,
       secret_number, former_secret, former_until_ms, created_at_ms, updated_at_ms, last_seen_at_ms, access_mode,
       invite_requires_direct_friend
FROM connect_servers WHERE owner_id = $1 ORDER BY created_at_ms, server_id LIMIT $2
"""
_CHANGE = """
UPDATE connect_servers SET owner_id = CASE
           WHEN $13 OR owner_id = $2 THEN $2 ELSE (SELECT id FROM users WHERE id = $2 FOR KEY SHARE) END,
       network_id = $3, is_template = $4, secret = $5, secret_number = $6,
       former_secret = $7, former_until_ms = $8, updated_at_ms = $9, temporary = $10,
       access_mode = $11, invite_requires_direct_friend = $12
WHERE server_id = $1
"""


async def create(conn: Connection, row: ServerRow, key: ClaimKeyRow | None, *, epoch: str) -> None:
    """Store a new server, its first claim key and its head; inside a transaction.

    Args:
        key: None for a server that has an owner from the start.
        epoch: a fresh name for its journal.
    """
    await conn.execute(
        """
        INSERT INTO connect_servers
               (server_id, id, server_type, name, owner_id, network_id, template_id, temporary, secret,
                created_at_ms, updated_at_ms, last_seen_at_ms, name_lower)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        """,
        row.server_id, row.id, row.server_type, row.name, row.owner_id, row.network_id, row.template_id, row.temporary,
        row.secret, row.created_at_ms, row.updated_at_ms, row.last_seen_at_ms, row.name.lower(),
    )  # fmt: skip
    if key is not None:
        await add_claim_keys(conn, [key])
    await journal.create_head(
        conn, KIND, row.server_id, epoch=epoch, summary=b"", due_at_ms=None, at_ms=row.created_at_ms
    )


async def count_unclaimed(conn: Connection, most: int) -> int:
    """How many servers are unclaimed, counted up to `most`; transactions that ask this wait for each other."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('unclaimed servers', 0))")
    count: int = await conn.fetchval(
        "SELECT count(*) FROM (SELECT FROM connect_servers WHERE owner_id IS NULL LIMIT $1) AS unclaimed",
        most,
    )
    return count


async def read(conn: Connection, server_id: str) -> ServerRow | None:
    """One server with its owner's name, or None."""
    row = await conn.fetchrow(_READ, server_id)
    return None if row is None else ServerRow(**dict(row))


async def of_owner(conn: Connection, owner_id: str, limit: int) -> list[ServerRow]:
    """The servers that a user owns, at most `limit`, oldest first."""
    return [ServerRow(**dict(row)) for row in await conn.fetch(_OF_OWNER, owner_id, limit)]


async def count_of_owner(conn: Connection, owner_id: str) -> int:
    """How many servers a user owns."""
    count: int = await conn.fetchval("SELECT count(*) FROM connect_servers WHERE owner_id = $1", owner_id)
    return count


async def hold_gains(conn: Connection, owner_id: str) -> None:
    """Have transactions by which a user gains servers, or a network of theirs does, wait for each other; to be called
    before they lock any row that others lock.

    Not the user's row: an erasure has that, and waits for rows that the transaction may have written before.
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('servers of ' || $1, 0))", owner_id)


async def hold(conn: Connection, server_ids: Collection[str]) -> None:
    """Keep servers as they are until the transaction ends, so that it changes and removes them in any order.

    Rows that refer to them can be written meanwhile.
    """
    await conn.execute(
        "SELECT FROM connect_servers WHERE server_id = ANY($1::text[]) ORDER BY server_id FOR NO KEY UPDATE",
        list(server_ids),
    )


async def change(conn: Connection, row: ServerRow, *, taken: bool = False) -> None:
    """Write the changeable columns of a server. If its owner was erased meanwhile, it is stored without owner.

    Args:
        taken: the owner has just taken the server over; if they were erased meanwhile, PostgreSQL refuses it
            (`ReferenceGone`).
    """
    await conn.execute(
        _CHANGE, row.server_id, row.owner_id, row.network_id, row.is_template, row.secret, row.secret_number,
        row.former_secret, row.former_until_ms, row.updated_at_ms, row.temporary, row.access_mode,
        row.invite_requires_direct_friend, taken,
    )  # fmt: skip


async def remove(conn: Connection, server_ids: Sequence[str]) -> None:
    """Delete servers with all their rows but head and journal, which `forget_removed` deletes later."""
    await conn.execute("DELETE FROM connect_servers WHERE server_id = ANY($1::text[])", list(server_ids))


_HEADS = """
SELECT h.id, s.server_id IS NULL AND h.updated_at_ms < $2 AS ended
FROM (SELECT id, updated_at_ms FROM heads WHERE kind = $1 AND id > $3 ORDER BY id LIMIT $4) AS h
LEFT JOIN connect_servers s ON s.server_id = h.id ORDER BY h.id
"""


async def forget_removed(conn: Connection, after: str | None, limit: int, *, before_ms: int) -> str | None:
    """Delete heads, journals and snapshots of the removed servers on the next page of heads.

    Args:
        after: the last server of the page before; None from the start.
        limit: servers that are looked at, and events that are deleted, at most.
        before_ms: only heads whose last turn was before this, epoch milliseconds.

    Returns:
        Where the next page starts; None after the last.
    """
    return await history.sweep_ended(conn, history.Ended(KIND, _HEADS, before_ms), after, limit)


# ---- claim keys


async def add_claim_keys(conn: Connection, rows: Sequence[ClaimKeyRow]) -> None:
    """Store claim keys."""
    await conn.execute(
        """
        INSERT INTO connect_claim_keys (key, server_id, expires_at_ms)
        SELECT * FROM unnest($1::bytea[], $2::text[], $3::bigint[])
        """,
        [row.key for row in rows],
        [row.server_id for row in rows],
        [row.expires_at_ms for row in rows],
    )


async def remove_claim_keys(conn: Connection, keys: Sequence[bytes]) -> None:
    """Delete claim keys."""
    await conn.execute("DELETE FROM connect_claim_keys WHERE key = ANY($1::bytea[])", list(keys))


async def server_of_claim_key(conn: Connection, key: bytes) -> str | None:
    """The server that a claim key was made for, whether or not it may still be used."""
    found = await conn.fetchval("SELECT server_id FROM connect_claim_keys WHERE key = $1", key)
    return None if found is None else str(found)


async def newest_claim_keys(conn: Connection, server_id: str, limit: int) -> list[ClaimKeyRow]:
    """A server's claim keys, newest first, at most `limit`."""
    rows = await conn.fetch(
        """
        SELECT key, server_id, expires_at_ms FROM connect_claim_keys WHERE server_id = $1
        ORDER BY expires_at_ms DESC, key LIMIT $2
        """,
        server_id,
        limit,
    )
    return [ClaimKeyRow(*row) for row in rows]


async def forget_claim_keys(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete the keys that expired before `before_ms`, at most `limit`; returns how many."""
    return await forget_ended(conn, "connect_claim_keys", limit, before_ms=before_ms)


# ---- silence


async def save_last_seen(conn: Connection, seen: Mapping[str, tuple[int, str]]) -> None:
    """Write servers' last calls; an earlier time than the stored one is ignored, unless that is ahead by more than an
    hour: it was written by a clock that was ahead then. Rows are locked in the order of their ids, as by `hold`.

    Args:
        seen: {server id: (epoch milliseconds, address)}.
    """
    await conn.execute(
        """
        UPDATE connect_servers s SET last_seen_at_ms = n.at_ms, last_seen_ip = n.address
        FROM (SELECT server_id, at_ms, address FROM connect_servers
              JOIN unnest($1::text[], $2::bigint[], $3::text[]) AS call (server_id, at_ms, address) USING (server_id)
              ORDER BY server_id FOR NO KEY UPDATE OF connect_servers) AS n
        WHERE s.server_id = n.server_id AND (s.last_seen_at_ms <= n.at_ms OR s.last_seen_at_ms > n.at_ms + 3600000)
        """,
        list(seen),
        [at_ms for at_ms, _ in seen.values()],
        [address for _, address in seen.values()],
    )


async def silent(
    conn: Connection, after: tuple[int, str] | None, limit: int, *, before_ms: int
) -> list[tuple[int, str]]:
    """(last call, id) of unclaimed servers and temporary instances that have not called since `before_ms`, the longest
    silent first.

    Args:
        after: the last of the page before; None from the start.
        limit: at most so many.
        before_ms: epoch milliseconds.
    """
    rows = await conn.fetch(
        """
        SELECT last_seen_at_ms, server_id FROM connect_servers
        WHERE (owner_id IS NULL OR temporary) AND (last_seen_at_ms, server_id) > ($1, $2) AND last_seen_at_ms < $3
        ORDER BY last_seen_at_ms, server_id LIMIT $4
        """,
        *(after or (-1, "")),
        before_ms,
        limit,
    )
    return [(row["last_seen_at_ms"], row["server_id"]) for row in rows]
