"""Discord settings of networks, and the state of their webhooks."""

from typing import NamedTuple

from persistence.connection import Connection
from persistence.discord.rows import WebhookRow


class DueWebhook(NamedTuple):
    """A webhook of a network that is due, and since when (epoch milliseconds)."""

    due_at_ms: int
    network_id: str
    webhook_id: str


_READ = """
SELECT network_id, guild_id, invite_url, events, webhook_status, webhook_id, sealed_token, failures, failing_since_ms,
       due_at_ms, created_at_ms, updated_at_ms
FROM network_discord WHERE network_id = $1
"""
_LOCK = _READ + "FOR NO KEY UPDATE"
_CLOSE = _READ + "FOR UPDATE"

# Networks with posts are found by one step into the index for each, however long their queues are.
_DUE = """
WITH RECURSIVE queued (network_id) AS (
    (SELECT network_id FROM discord_outbox ORDER BY network_id LIMIT 1)
    UNION ALL
    SELECT (SELECT o.network_id FROM discord_outbox o WHERE o.network_id > q.network_id ORDER BY o.network_id LIMIT 1)
    FROM queued q WHERE q.network_id IS NOT NULL
)
(
    SELECT d.network_id, d.webhook_id, d.due_at_ms FROM queued JOIN network_discord d USING (network_id)
    WHERE d.webhook_status = 'active' AND d.due_at_ms <= $1 AND (d.due_at_ms, d.network_id) > ($3, $4)
    ORDER BY d.due_at_ms, d.network_id LIMIT $2
) UNION ALL (
    SELECT network_id, webhook_id, due_at_ms FROM network_discord
    WHERE webhook_status = 'unreachable' AND due_at_ms <= $1 AND (due_at_ms, network_id) > ($3, $4)
    ORDER BY due_at_ms, network_id LIMIT $2
) ORDER BY 3, 1 LIMIT $2
"""


async def read(conn: Connection, network_id: str) -> WebhookRow | None:
    """A network's Discord settings, or None."""
    row = await conn.fetchrow(_READ, network_id)
    return None if row is None else _row(dict(row))


async def lock(conn: Connection, network_id: str) -> WebhookRow | None:
    """A network's Discord settings, or None; locked for changes until the transaction ends."""
    row = await conn.fetchrow(_LOCK, network_id)
    return None if row is None else _row(dict(row))


async def close(conn: Connection, network_id: str) -> WebhookRow | None:
    """Lock a network's Discord settings as `lock` does, and let nobody add a post to its queue until the transaction
    ends; waits for transactions that have added one. Returns the settings, or None."""
    row = await conn.fetchrow(_CLOSE, network_id)
    return None if row is None else _row(dict(row))


async def put(conn: Connection, row: WebhookRow) -> None:
    """Store a network's Discord settings, in place of former ones."""
    await conn.execute(
        """
        INSERT INTO network_discord
               (network_id, guild_id, invite_url, events, webhook_status, webhook_id, sealed_token, failures,
                failing_since_ms, due_at_ms, created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (network_id) DO UPDATE SET guild_id = $2, invite_url = $3, events = $4, webhook_status = $5,
               webhook_id = $6, sealed_token = $7, failures = $8, failing_since_ms = $9, due_at_ms = $10,
               updated_at_ms = $12
        """,
        row.network_id, row.guild_id, row.invite_url, list(row.events), row.webhook_status, row.webhook_id,
        row.sealed_token, row.failures, row.failing_since_ms, row.due_at_ms, row.created_at_ms, row.updated_at_ms,
    )  # fmt: skip


async def note_health(conn: Connection, row: WebhookRow) -> None:
    """Write the state of a network's webhook: status, failures and when it is due."""
    await conn.execute(
        """
        UPDATE network_discord SET webhook_status = $2, sealed_token = $3, failures = $4, failing_since_ms = $5,
               due_at_ms = $6 WHERE network_id = $1
        """,
        row.network_id, row.webhook_status, row.sealed_token, row.failures, row.failing_since_ms, row.due_at_ms,
    )  # fmt: skip


async def remove(conn: Connection, network_id: str) -> None:
    """Delete a network's Discord settings and its queue of posts."""
    await conn.execute("DELETE FROM network_discord WHERE network_id = $1", network_id)


async def due(conn: Connection, after: DueWebhook | None, now_ms: int, limit: int) -> list[DueWebhook]:
    """Webhooks that have a post to send now, or are to be asked whether they answer again; the longest waiting first.

    Args:
        after: the last one of the page before; None from the start.
        now_ms: epoch milliseconds.
        limit: at most so many.
    """
    due_at_ms, network_id = (-1, "") if after is None else (after.due_at_ms, after.network_id)
    rows = await conn.fetch(_DUE, now_ms, limit, due_at_ms, network_id)
    return [DueWebhook(row["due_at_ms"], row["network_id"], row["webhook_id"]) for row in rows]


def _row(values: dict[str, object]) -> WebhookRow:
    return WebhookRow(**{**values, "events": tuple(values["events"])})  # type: ignore[arg-type]
