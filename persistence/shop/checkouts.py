"""Checkouts of the shop. Rows only."""

from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Connection, Row
from persistence.statements import inserting, updating

CheckoutStatus: TypeAlias = Literal["open", "completed", "expired", "cancelled"]
"""The state of a checkout (contract §10)."""

ProviderName: TypeAlias = Literal["manual", "stripe"]
"""Who takes the money."""


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """A checkout: what a payer is to pay at once for a recipient.

    Args:
        payer_id, recipient_id: ids of users; None once they were erased.
        total: the price in the smallest unit of the currency, as it was when the checkout was made.
        request_key: `Receipt.key` of the request that made it; None when the request had no Idempotency-Key.
        request_body: the SHA-256 of that request's body; None likewise.
        session_ref: the provider's id of its checkout session; None before there is one, and with `manual`.
        url: the page of the provider where the payer pays; None before there is one.
        attempt: the number of the idempotency key in use towards the provider, from 0.
        payment_ref: the provider's id of the payment; None until it is known.
        disputes: the provider's ids of disputes that are not over.
        disputes_won: ids of disputes that ended in the service's favour, even if their beginning was never heard of.
        asked_at_ms: when the provider was last asked about it, or else when it was made; epoch milliseconds.
        ended_at_ms: when it left the state `open`, epoch milliseconds; None before.
    """

    id: str
    payer_id: str | None
    recipient_id: str | None
    status: CheckoutStatus = "open"
    provider: ProviderName
    total: int
    currency: str
    success_url: str | None
    cancel_url: str | None
    request_key: bytes | None
    request_body: bytes | None
    session_ref: str | None = None
    url: str | None = None
    attempt: int = 0
    payment_ref: str | None = None
    disputes: tuple[str, ...] = ()
    disputes_won: tuple[str, ...] = ()
    created_at_ms: int
    expires_at_ms: int
    asked_at_ms: int
    ended_at_ms: int | None = None


async def add_checkout(conn: Connection, checkout: Checkout) -> None:
    """Store a new checkout."""
    await conn.execute(_ADD, *(getattr(checkout, name) for name in _COLUMNS))


async def save_checkout(conn: Connection, checkout: Checkout) -> None:
    """Store a checkout that the caller has locked."""
    await conn.execute(_SAVE, *(getattr(checkout, name) for name in _COLUMNS))


async def read_checkout(conn: Connection, id: str) -> Checkout | None:
    """One checkout, or None."""
    return _or_none(await conn.fetchrow("SELECT * FROM shop_checkouts WHERE id = $1", id))


async def lock_checkout(conn: Connection, id: str) -> Checkout | None:
    """One checkout, its row locked until the transaction ends; None when there is none."""
    return _or_none(await conn.fetchrow("SELECT * FROM shop_checkouts WHERE id = $1 FOR UPDATE", id))


async def lock_of_user(conn: Connection, user_id: str) -> None:
    """Lock all checkouts that a user pays or receives, in the order of their ids, until the transaction ends."""
    await conn.execute(
        "SELECT id FROM shop_checkouts WHERE payer_id = $1 OR recipient_id = $1 ORDER BY id FOR UPDATE",
        user_id,
    )


async def lock_payment(conn: Connection, payment_ref: str) -> None:
    """Let transactions about one payment wait for each other until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 31))", payment_ref)


async def id_of_payment(conn: Connection, payment_ref: str) -> str | None:
    """The id of the checkout of a payment, or None."""
    found: str | None = await conn.fetchval(
        "SELECT id FROM shop_checkouts WHERE payment_ref = $1", payment_ref
    )
    return found


async def id_of_request(conn: Connection, payer_id: str, key: bytes, since_ms: int) -> str | None:
    """The id of the checkout that a payer's request has made, or None.

    Args:
        key: `Receipt.key` of the request.
        since_ms: epoch milliseconds; older checkouts do not count.
    """
    found: str | None = await conn.fetchval(
        "SELECT id FROM shop_checkouts WHERE payer_id = $1 AND request_key = $2 AND created_at_ms >= $3",
        payer_id,
        key,
        since_ms,
    )
    return found


async def count_of_payer(conn: Connection, payer_id: str, since_ms: int) -> tuple[int, int]:
    """(number of a payer's open checkouts, number of those made since `since_ms` and not completed)."""
    row = await conn.fetchrow(
        "SELECT count(*) FILTER (WHERE status = 'open'),"
        " count(*) FILTER (WHERE status <> 'completed' AND created_at_ms >= $2)"
        " FROM shop_checkouts WHERE payer_id = $1",
        payer_id,
        since_ms,
    )
    return (0, 0) if row is None else (row[0], row[1])


async def list_overdue(
    conn: Connection,
    after: tuple[int, str] | None,
    before_ms: int,
    limit: int,
    *,
    but_of: ProviderName | None,
) -> list[Checkout]:
    """Open checkouts that expired before a moment, the longest-expired first.

    Args:
        after: (expires at ms, id) of the last checkout of the page before; None from the start.
        before_ms: the moment, epoch milliseconds.
        limit: at most so many.
        but_of: checkouts of this provider are left out; None leaves out none.
    """
    rows = await conn.fetch(
        "SELECT * FROM shop_checkouts WHERE status = 'open' AND expires_at_ms >= $1 AND (expires_at_ms, id) > ($1, $2)"
        " AND expires_at_ms < $3 AND provider IS DISTINCT FROM $4 ORDER BY expires_at_ms, id LIMIT $5",
        *(after or (-1, "")),
        before_ms,
        but_of,
        limit,
    )
    return [_checkout(row) for row in rows]


async def list_unasked(
    conn: Connection, provider: ProviderName, before_ms: int, limit: int
) -> list[Checkout]:
    """Checkouts whose provider may know of a payment that we do not, the longest-unasked first: open ones, and
    completed ones of which a purchase is pending.

    Args:
        before_ms: only checkouts about which the provider was last asked before this, epoch milliseconds.
        limit: at most so many.
    """
    rows = await conn.fetch(_UNASKED, provider, before_ms, limit)
    return [_checkout(row) for row in rows]


async def note_asked(conn: Connection, id: str, now_ms: int) -> None:
    """Store that the provider was asked about a checkout at `now_ms` (epoch milliseconds)."""
    await conn.execute("UPDATE shop_checkouts SET asked_at_ms = $2 WHERE id = $1", id, now_ms)


async def note_attempt(conn: Connection, id: str, attempt: int) -> None:
    """Store `attempt`, the number of the idempotency key in use towards the provider; the number never goes back."""
    await conn.execute("UPDATE shop_checkouts SET attempt = greatest(attempt, $2) WHERE id = $1", id, attempt)


async def prune_checkouts(conn: Connection, limit: int, *, before_ms: int) -> int:
    """Delete checkouts made before a moment that were not completed, with their purchases that were never paid, at
    most `limit`; returns how many."""
    deleted: int = await conn.fetchval(_PRUNE, before_ms, limit)
    return deleted


_COLUMNS = Checkout.__struct_fields__

_ADD = inserting("shop_checkouts", _COLUMNS)
_SAVE = updating("shop_checkouts", _COLUMNS[1:])

# Two indexed halves: completed checkouts are kept for ever, and hardly any of them has a pending purchase.
_UNASKED = """
(SELECT * FROM shop_checkouts WHERE status = 'open' AND provider = $1 AND asked_at_ms < $2
ORDER BY asked_at_ms LIMIT $3)
UNION ALL
(SELECT * FROM shop_checkouts WHERE status = 'completed' AND provider = $1 AND asked_at_ms < $2 AND id IN (
    SELECT checkout_id FROM shop_purchases WHERE status = 'pending'
) ORDER BY asked_at_ms LIMIT $3)
ORDER BY asked_at_ms LIMIT $3
"""

_PRUNE = """
WITH gone AS (
    DELETE FROM shop_checkouts WHERE id = ANY (ARRAY(
        SELECT id FROM shop_checkouts WHERE status <> 'completed' AND created_at_ms < $1 ORDER BY created_at_ms LIMIT $2
    )) AND status <> 'completed' RETURNING id
), unpaid AS (
    DELETE FROM shop_purchases USING gone WHERE checkout_id = gone.id AND shop_purchases.status IN ('pending', 'failed')
)
SELECT count(*) FROM gone
"""


def _or_none(row: Row | None) -> Checkout | None:
    return None if row is None else _checkout(row)


def _checkout(row: Row) -> Checkout:
    fields = {name: row[name] for name in _COLUMNS}
    return Checkout(**fields | {name: tuple(row[name]) for name in ("disputes", "disputes_won")})
