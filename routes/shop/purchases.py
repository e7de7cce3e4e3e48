"""Purchases: a user's own, and all of them for those who manage the shop (contract §10)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.errors import Conflict, Invalid, NotFound
from actors.ids import ObjectId, UserId
from actors.shop.public import PurchaseEntry, purchase_entry
from actors.shop.units_admin import mark_paid, refund
from actors.shop.units_checkout import read_placed
from actors.texts import line
from persistence.shop.purchases import (
    Purchase,
    PurchaseStatus,
    WantedPurchases,
    list_purchases,
    read_purchases,
)
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.errors import UpstreamUnavailable
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.shop.checkout import PROVIDER_SECONDS, end_session
from routes.shop.parts import PROVIDER
from routes.shop.products import MANAGE
from routes.shop.reactions import PurchasesOf

REF_MAX = 200
NOTE_MAX = 500

_OWN_PAGES, _ALL_PAGES = Cursor("purchases", int), Cursor("all-purchases", int)


class PurchaseQuery(PageQuery, frozen=True):
    """Which purchases.

    Args:
        status: only purchases in this state; left out = all.
    """

    status: PurchaseStatus | None = None


class AllPurchasesQuery(PurchaseQuery, frozen=True):
    """Which purchases.

    Args:
        user_id: only those that this user pays or receives; left out = of all.
    """

    user_id: UserId | None = None


class PurchasePage(Wire, frozen=True):
    """A page of purchases, newest first."""

    items: list[PurchaseEntry]
    next_cursor: str | None
    has_more: bool


class PaidBody(Wire, frozen=True):
    """How a purchase was paid.

    Args:
        provider_ref: what the money is known by, at most 200 characters.
        note: for the audit trail, at most 500 characters.
    """

    provider_ref: Annotated[str, msgspec.Meta(max_length=REF_MAX)] | None = None
    note: Annotated[str, msgspec.Meta(max_length=NOTE_MAX)] | None = None


@endpoint("GET", "/v1/shop/purchases", needs=AUTHENTICATED)
async def list_own_purchases(call: Call, query: PurchaseQuery) -> PurchasePage:
    """What the caller has paid or was given, newest first.

    The payer, the payment and the checkout are shown to the payer alone.
    """
    return await _page(call, _OWN_PAGES, query, call.user_id)


@endpoint("GET", "/v1/admin/shop/purchases", needs=MANAGE)
async def list_all_purchases(call: Call, query: AllPurchasesQuery) -> PurchasePage:
    """The purchases of all users or of one, newest first. Needs `shop:manage`."""
    return await _page(call, _ALL_PAGES, query, query.user_id)


async def known_purchase(call: Call, purchase_id: ObjectId) -> Purchase:
    """Guard: reads the purchase that is marked as paid; its state is checked in the transaction.

    Raises:
        NotFound: there is no such purchase.
    """
    found = await call.service.database.read(read_purchases, [purchase_id])
    if not found:
        raise NotFound("no such purchase")
    return found[0]


@endpoint(
    "POST",
    "/v1/admin/shop/purchases/{purchaseId}/mark-paid",
    needs=MANAGE,
    refusals=(NotFound, Conflict, Invalid, UpstreamUnavailable),
    guard=known_purchase,
)
async def mark_purchase_paid(call: Call, purchase_id: ObjectId, body: PaidBody | None) -> PurchaseEntry:
    """Says that a purchase is paid, and gives what was bought.

    Also for one that is on hold. The body may be left out. Again is the same answer; a purchase that was refunded or is
    disputed is a 409. An open checkout at Stripe is ended there first, so that it is not paid twice. Needs
    `shop:manage`; the audit trail records it.
    """
    body = body or PaidBody()
    ref = None if body.provider_ref is None else line(body.provider_ref, "/providerRef", REF_MAX)
    note = None if body.note is None else line(body.note, "/note", NOTE_MAX)
    await _end_session_of(call, call.subject)
    return await change(
        call, mark_paid, purchase_id, ref, note, stamp_of(call), about=PurchasesOf(purchase_id), shape=_entry
    )


@endpoint(
    "POST",
    "/v1/admin/shop/purchases/{purchaseId}/refund",
    needs=MANAGE,
    refusals=(NotFound, Conflict),
)
async def refund_purchase(call: Call, purchase_id: ObjectId) -> PurchaseEntry:
    """Notes that the money was given back by hand, and takes back what was bought; what admins have granted stays.

    Payments by Stripe are refunded at Stripe, which tells the service: 409 here. Again is the same answer. Needs
    `shop:manage`; the audit trail records it.
    """
    return await change(
        call, refund, purchase_id, stamp_of(call), about=PurchasesOf(purchase_id), shape=_entry
    )


async def _end_session_of(call: Call, purchase: Purchase) -> None:
    provider = call.service.of(PROVIDER)
    if provider is None:
        return
    placed = await call.service.database.read(read_placed, purchase.checkout_id)
    if placed.checkout.status == "open" and placed.checkout.provider == provider.name:
        call.wait_longer(PROVIDER_SECONDS)
        await end_session(call, provider, placed)


async def _page(call: Call, pages: Cursor[int], query: PurchaseQuery, user_id: str | None) -> PurchasePage:
    wanted = WantedPurchases(
        user_id=user_id, status=query.status, before=pages.place(query.cursor), limit=query.limit + 1
    )
    rows = await call.service.database.read(list_purchases, wanted)
    page = pages.page(rows, query.limit, lambda row: row.seq)
    viewer_id = call.user_id if pages is _OWN_PAGES else None
    items = [purchase_entry(row, viewer_id) for row in page.rows]
    return PurchasePage(items, page.next_cursor, page.has_more)


_entry = partial(purchase_entry, viewer_id=None)
