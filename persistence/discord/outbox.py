"""The posts that wait for the webhooks of networks.

Adding a post waits for nothing but the closing of its queue (`webhooks.close`), because one transaction may add posts
to the queues of many networks.
"""

from collections.abc import Collection, Sequence

from persistence.connection import Connection
from persistence.discord.rows import DiscordEvent, PostRow, Subject

_ADD = """
INSERT INTO discord_outbox (network_id, event, server_id, user_id, news_id, publication_id, created_at_ms)
SELECT d.network_id, $2, $3, $4, $5, $6, $7 FROM network_discord d
WHERE d.network_id = coalesce($1, (SELECT network_id FROM connect_servers WHERE server_id = $3))
    AND $2 = ANY (d.events) AND d.webhook_status IN ('active', 'unreachable')
    AND ($4::text IS NULL OR EXISTS (SELECT FROM users WHERE id = $4))
FOR KEY SHARE OF d
RETURNING network_id
"""
_ADD_OF_SERVERS = """
INSERT INTO discord_outbox (network_id, event, server_id, created_at_ms)
SELECT d.network_id, $2, s.server_id, $3 FROM connect_servers s JOIN network_discord d USING (network_id)
WHERE s.server_id = ANY ($1::text[]) AND $2 = ANY (d.events) AND d.webhook_status IN ('active', 'unreachable')
FOR KEY SHARE OF d
RETURNING network_id
"""
_DROP_OLDEST = """
DELETE FROM discord_outbox WHERE seq = ANY (ARRAY(
    SELECT seq FROM discord_outbox WHERE network_id = $1 ORDER BY seq DESC OFFSET $2 FOR UPDATE SKIP LOCKED
))
"""
_HEAD = """
SELECT o.seq, o.event, o.created_at_ms, o.attempts, o.sending, n.name AS network_name,
    CASE o.event
        WHEN 'news_published' THEN a.status = 'published' AND a.visibility = 'public'
        WHEN 'publication_listed' THEN p.discovery_state = 'CONNECT'
        WHEN 'member_joined' THEN m.user_id IS NOT NULL
        ELSE true
    END AS current,
    coalesce(a.title, p.display_name, s.name) AS title,
    coalesce(a.summary, p.address, '') AS text,
    u.name AS player_name,
    a.cover_url AS image_url
FROM discord_outbox o
JOIN networks n USING (network_id)
LEFT JOIN connect_servers s ON s.server_id = o.server_id
LEFT JOIN users u ON u.id = o.user_id
LEFT JOIN connect_members m ON m.server_id = o.server_id AND m.user_id = o.user_id
LEFT JOIN news_articles a ON a.id = o.news_id
LEFT JOIN publications p ON p.id = o.publication_id
WHERE o.network_id = $1 ORDER BY o.seq LIMIT 1
"""
_PRUNE = """
DELETE FROM discord_outbox WHERE seq = ANY (ARRAY(
    SELECT seq FROM discord_outbox WHERE created_at_ms < $1 ORDER BY created_at_ms LIMIT $2
))
"""


async def add(conn: Connection, event: DiscordEvent, about: Subject, *, now_ms: int) -> str | None:
    """Add a post if its network wants the event and has a webhook that can be sent to; returns the network's id, or
    None if no post was added."""
    found = await conn.fetchval(
        _ADD, about.network_id, event, about.server_id, about.user_id, about.news_id, about.publication_id, now_ms
    )  # fmt: skip
    return None if found is None else str(found)


async def add_of_servers(
    conn: Connection, event: DiscordEvent, server_ids: Collection[str], *, now_ms: int
) -> set[str]:
    """Add a post about each of these servers, as `add` does; returns the ids of the networks that got posts."""
    rows = await conn.fetch(_ADD_OF_SERVERS, list(server_ids), event, now_ms)
    return {row["network_id"] for row in rows}


async def drop_oldest(conn: Connection, network_id: str, *, keep: int) -> None:
    """Delete all posts of a network but the newest `keep`.

    Posts that another transaction is deleting are skipped, so more may remain until the next one is added.
    """
    await conn.execute(_DROP_OLDEST, network_id, keep)


async def drop_before(conn: Connection, network_id: str, before_ms: int) -> int:
    """Delete a network's posts that are older than `before_ms` (epoch milliseconds); returns how many."""
    tag = await conn.execute(
        "DELETE FROM discord_outbox WHERE network_id = $1 AND created_at_ms < $2", network_id, before_ms
    )
    return int(tag.rpartition(" ")[2])


async def drop_all(conn: Connection, network_id: str) -> None:
    """Delete all posts of a network."""
    await conn.execute("DELETE FROM discord_outbox WHERE network_id = $1", network_id)


async def head(conn: Connection, network_id: str) -> PostRow | None:
    """The next post in a network's queue, or None."""
    row = await conn.fetchrow(_HEAD, network_id)
    return None if row is None else PostRow(**dict(row))


async def note_sending(conn: Connection, seq: int) -> None:
    """Store that a post is being sent, so that Discord may have received it from now on."""
    await conn.execute("UPDATE discord_outbox SET sending = true WHERE seq = $1", seq)


async def put_back(conn: Connection, seq: int, attempts: int) -> None:
    """Store that Discord did not take a post; `attempts` is how often sending it has failed."""
    await conn.execute(
        "UPDATE discord_outbox SET sending = false, attempts = $2 WHERE seq = $1", seq, attempts
    )


async def remove(conn: Connection, seqs: Sequence[int]) -> None:
    """Delete posts."""
    await conn.execute("DELETE FROM discord_outbox WHERE seq = ANY ($1::bigint[])", list(seqs))


async def prune(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete posts of all networks that are older than `before_ms` (epoch milliseconds), at most `limit`; returns how
    many."""
    tag = await conn.execute(_PRUNE, before_ms, limit)
    return int(tag.rpartition(" ")[2])
