"""Purchases: the lines of checkouts, and the rights that their products gave when they were ordered. Rows only."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias, get_args

import msgspec

from persistence.connection import Connection, Row
from persistence.shop.checkouts import ProviderName
from persistence.shop.products import Sold
from persistence.statements import inserting, updating

PurchaseStatus: TypeAlias = Literal["pending", "paid", "fulfilled", "refunded", "disputed", "failed"]
"""The state of a purchase (contract §10)."""

FIRST = 2**63 - 1
"""Higher than every `seq`: the first page of the newest purchases lies below it."""

Hold: TypeAlias = Literal["AMOUNT_MISMATCH", "LIMIT", "RECIPIENT_GONE"]
"""Why a paid purchase was not fulfilled."""


class Purchase(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a checkout.

    Args:
        seq: its place among all, for paging; 0 before it is stored.
        payer_id, recipient_id: ids of users; None once they were erased.
        grants_digest: names the rights that one piece gives (`read_sold`).
        quantity: how many pieces were bought.
        amount: the price of all pieces, in the smallest unit of the currency.
        hold: why it was not fulfilled although it is paid; None if nothing held it up.
        provider_ref: the provider's id of the payment, or what an admin wrote who marked it as paid.
        refunded_amount: how much of `amount` was paid back.
    """

    seq: int = 0
    id: str
    checkout_id: str
    product_id: str
    payer_id: str | None
    recipient_id: str | None
    grants_digest: bytes
    quantity: int
    amount: int
    currency: str
    status: PurchaseStatus = "pending"
    hold: Hold | None = None
    provider: ProviderName
    provider_ref: str | None = None
    refunded_amount: int = 0
    created_at_ms: int
    fulfilled_at_ms: int | None = None
    refunded_at_ms: int | None = None


class WantedPurchases(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of a page of purchases.

    Args:
        user_id: only purchases that this user pays or receives; None for those of all.
        status: only purchases in this state; None for any.
        before: `seq` of the last purchase of the page before; None for the first page.
        limit: at most so many.
    """

    user_id: str | None = None
    status: PurchaseStatus | None = None
    before: int | None = None
    limit: int


async def keep_grants(conn: Connection, grants: Sequence[Sold]) -> bytes:
    """Store the rights that one piece of a product gives; returns the digest that names them."""
    encoded = msgspec.json.encode(tuple(grants))
    digest = hashlib.sha256(encoded).digest()
    await conn.execute(
        "INSERT INTO shop_grants (digest, grants) VALUES ($1, $2) ON CONFLICT DO NOTHING", digest, encoded
    )
    return digest


async def read_sold(conn: Connection, digest: bytes) -> tuple[Sold, ...]:
    """The rights that a digest names."""
    return _grants.decode(await conn.fetchval("SELECT grants FROM shop_grants WHERE digest = $1", digest))


async def add_purchases(conn: Connection, purchases: Sequence[Purchase]) -> None:
    """Store new purchases, in this order; their `seq` is ignored."""
    await conn.executemany(_ADD, [[getattr(one, name) for name in _COLUMNS[1:]] for one in purchases])


async def save_purchase(conn: Connection, purchase: Purchase) -> None:
    """Store what changes of a purchase, whose checkout the caller has locked."""
    await conn.execute(_SAVE, purchase.id, *(getattr(purchase, name) for name in _CHANGING))


async def of_checkout(conn: Connection, checkout_id: str) -> list[Purchase]:
    """The purchases of a checkout, in the order of its lines."""
    rows = await conn.fetch("SELECT * FROM shop_purchases WHERE checkout_id = $1 ORDER BY seq", checkout_id)
    return [_purchase(row) for row in rows]


async def checkout_of(conn: Connection, purchase_id: str) -> str | None:
    """The id of the checkout of a purchase; None when there is no such purchase."""
    found: str | None = await conn.fetchval(
        "SELECT checkout_id FROM shop_purchases WHERE id = $1", purchase_id
    )
    return found


async def read_purchases(conn: Connection, ids: Collection[str]) -> list[Purchase]:
    """Those of the named purchases that exist, the newest first."""
    rows = await conn.fetch(
        "SELECT * FROM shop_purchases WHERE id = ANY ($1::text[]) ORDER BY seq DESC", list(ids)
    )
    return [_purchase(row) for row in rows]


async def list_purchases(conn: Connection, wanted: WantedPurchases) -> list[Purchase]:
    """The wanted purchases, the newest first."""
    before = FIRST if wanted.before is None else wanted.before
    if wanted.user_id is None:
        rows = await conn.fetch(_PAGES[wanted.status], before, wanted.limit)
    else:
        rows = await conn.fetch(_PAGE_OF_USER, wanted.status, before, wanted.limit, wanted.user_id)
    return [_purchase(row) for row in rows]


async def given_to(conn: Connection, recipient_id: str) -> list[tuple[str, str]]:
    """(purchase id, payer's id) of the purchases that other users pay for a user."""
    rows = await conn.fetch(
        "SELECT id, payer_id FROM shop_purchases WHERE recipient_id = $1 AND payer_id <> $1 ORDER BY seq",
        recipient_id,
    )
    return [(row["id"], row["payer_id"]) for row in rows]


async def pieces_of(
    conn: Connection, recipient_id: str, product_ids: Collection[str], *, but: str
) -> dict[str, int]:
    """{product id: pieces that count towards the recipient's limit}: paid ones, and pending ones, which are reserved.

    Args:
        but: the id of a purchase that is not counted.
    """
    rows = await conn.fetch(
        "SELECT product_id, sum(quantity)::bigint AS pieces FROM shop_purchases"
        " WHERE recipient_id = $1 AND product_id = ANY ($2::text[]) AND id <> $3"
        " AND status IN ('pending', 'paid', 'fulfilled', 'disputed') GROUP BY product_id",
        recipient_id,
        list(product_ids),
        but,
    )
    return {row["product_id"]: row["pieces"] for row in rows}


_COLUMNS = Purchase.__struct_fields__
_CHANGING = (
    "status", "hold", "provider", "provider_ref", "refunded_amount", "fulfilled_at_ms", "refunded_at_ms",
)  # fmt: skip

_ADD = inserting("shop_purchases", _COLUMNS[1:])
_SAVE = updating("shop_purchases", _CHANGING)

_PAGE = "SELECT * FROM shop_purchases WHERE seq < $1{} ORDER BY seq DESC LIMIT $2"
# Each state is spelled out in a statement: with a parameter, PostgreSQL could not know whether the partial index of
# all unfulfilled purchases has the wanted ones.
_PAGES = {None: _PAGE.format("")} | {
    status: _PAGE.format(f" AND status = '{status}'") for status in get_args(PurchaseStatus)
}

# Two indexed halves: an OR over both columns would walk the purchases of all users.
_PAGE_OF_USER = """
SELECT * FROM (
    (SELECT * FROM shop_purchases WHERE payer_id = $4 AND ($1::text IS NULL OR status = $1)
     AND seq < $2 ORDER BY seq DESC LIMIT $3)
    UNION
    (SELECT * FROM shop_purchases WHERE recipient_id = $4 AND ($1::text IS NULL OR status = $1)
     AND seq < $2 ORDER BY seq DESC LIMIT $3)
) AS theirs ORDER BY seq DESC LIMIT $3
"""

_grants = msgspec.json.Decoder(tuple[Sold, ...])


def _purchase(row: Row) -> Purchase:
    return Purchase(**{name: row[name] for name in _COLUMNS})
