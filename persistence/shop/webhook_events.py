"""Events that payment providers have sent: the ids of all, so that each is handled once, and the content of those whose
payment is not known yet. Rows only."""

from collections.abc import Sequence

from persistence.connection import Connection


async def take(conn: Connection, id: str, now_ms: int) -> bool:
    """Store the id of an event; returns False when it was stored before. Waits for another transaction that stores it.

    Args:
        id: the provider's id of the event, unique among all providers.
    """
    fresh: bool | None = await conn.fetchval(
        "INSERT INTO shop_webhook_events (id, received_at_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING true",
        id,
        now_ms,
    )
    return bool(fresh)


async def let_wait(
    conn: Connection, id: str, event: bytes, *, checkout_id: str | None, payment_ref: str | None
) -> None:
    """Keep a stored event's content until the payment that it is about is known.

    Args:
        event: the encoded event.
        checkout_id, payment_ref: ids of the checkout and the payment, by either of which it will be found.
    """
    await conn.execute(
        "UPDATE shop_webhook_events SET event = $2, checkout_id = $3, payment_ref = $4 WHERE id = $1",
        id,
        event,
        checkout_id,
        payment_ref,
    )


async def take_waiting(conn: Connection, checkout_id: str, payment_ref: str | None) -> Sequence[bytes]:
    """Take the events that wait for a checkout or its payment, `payment_ref`, in the order in which they came. They
    do not wait any more."""
    rows = await conn.fetch(
        "WITH found AS (SELECT id, event, seq FROM shop_webhook_events WHERE event IS NOT NULL"
        " AND (checkout_id = $1 OR payment_ref = $2) FOR UPDATE),"
        " done AS (UPDATE shop_webhook_events AS kept SET event = NULL FROM found WHERE kept.id = found.id)"
        " SELECT event FROM found ORDER BY seq",
        checkout_id,
        payment_ref,
    )
    return [row["event"] for row in rows]


async def prune_events(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete events that came before a moment, at most `limit`, the oldest first; returns how many."""
    tag = await conn.execute(
        "DELETE FROM shop_webhook_events WHERE seq = ANY (ARRAY(SELECT seq FROM shop_webhook_events"
        " WHERE received_at_ms < $1 ORDER BY received_at_ms LIMIT $2))",
        before_ms,
        limit,
    )
    return int(tag.rpartition(" ")[2])
