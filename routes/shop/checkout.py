"""Checkouts: a user orders products, and pays for them at the payment provider (contract §10)."""

from typing import Annotated

import msgspec
import structlog

from actors.bounds import Bigint, ObjectIdText, ShortText, UuidText, ruled
from actors.errors import Blocked, Conflict, Invalid, NotFound, QuotaExceeded
from actors.id_fields import uuid_in
from actors.ids import ObjectId
from actors.shop.moves import CheckoutMove
from actors.shop.orders import ITEMS_MAX, QUANTITY_MAX, URL_MAX, Item, check_items, check_return
from actors.shop.public import CheckoutEntry, PurchaseEntry, checkout_entry, purchase_entry
from actors.shop.units_checkout import Order, Placed, attach_session, end_checkout, place_order, read_placed
from actors.shop.units_provider import take_answer
from actors.web_addresses import origin_of
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change, change_by_itself
from routes.config.config import Config
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import IdempotencyKeyReused, UpstreamUnavailable
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.rates import CHECKOUT
from routes.shop.parts import PROVIDER
from routes.shop.provider import MANUAL_MS, Provider, ProviderAway, ProviderRefused, Session
from routes.shop.reactions import PurchasesOf
from routes.shop.sessions import Sessions

PROVIDER_SECONDS = 10.0
"""How much longer than others a request that asks the provider may take."""

ReturnUrl = Annotated[ShortText, ruled(maxLength=URL_MAX)]

log = structlog.get_logger()


class ItemBody(Wire, frozen=True):
    """A product, and how many pieces of it: 1 to 99."""

    product_id: ObjectIdText
    quantity: Annotated[Bigint, ruled(minimum=1, maximum=QUANTITY_MAX)] = 1


class CheckoutBody(Wire, frozen=True):
    """What to buy. Prices are those of the products; none is read here.

    Args:
        items: 1 to 20 products of one currency, each once.
        recipient_id: the user who is given what is bought; left out or null = the caller.
        success_url, cancel_url: where the payer's browser goes afterwards: a page of this service or its dashboard, or
            of an origin that may call it.
    """

    items: Annotated[
        tuple[ItemBody, ...], msgspec.Meta(max_length=2 * ITEMS_MAX), ruled(minItems=1, maxItems=ITEMS_MAX)
    ]
    recipient_id: UuidText | None = None
    success_url: ReturnUrl | None = None
    cancel_url: ReturnUrl | None = None


class CheckoutOut(Wire, frozen=True):
    """A checkout and its purchases, one for each line.

    Args:
        checkout: the checkout as it is now.
        purchases: one for each line of it.
    """

    checkout: CheckoutEntry
    purchases: list[PurchaseEntry]


@endpoint(
    "POST",
    "/v1/shop/checkout",
    needs=AUTHENTICATED,
    status=201,
    rate=CHECKOUT,
    refusals=(Invalid, Blocked, NotFound, QuotaExceeded, Conflict, UpstreamUnavailable, IdempotencyKeyReused),
)
async def start_checkout(call: Call, body: CheckoutBody) -> CheckoutOut:
    """Orders products; the total and what they give are frozen.

    With Stripe `checkout.url` is where to pay, within an hour, a total of 50 to 99,999,999 of the smallest unit.
    Otherwise an admin marks the purchases as paid, within a day. What costs nothing is given at once. At most five
    checkouts of a user are open. When Stripe does not answer, the answer is a 503, and the same request with the same
    Idempotency-Key goes on with the same checkout.
    """
    provider = call.service.of(PROVIDER)
    order = _order(call, body, provider)
    about = PurchasesOf(order.id)
    if provider is None:
        return await change(call, place_order, order, stamp_of(call), about=about, shape=_shown)
    call.wait_longer(PROVIDER_SECONDS)
    placed = await change_by_itself(call.service, place_order, order, stamp_of(call), about=about)
    if placed.checkout.request_body not in {None, order.request_body}:
        raise IdempotencyKeyReused
    if placed.checkout.status != "open" or placed.checkout.session_ref is not None:
        return await change(call, read_placed, placed.checkout.id, about=None, shape=_shown)
    session = await _open_session(call, provider, placed)
    return await change(
        call, attach_session, placed.checkout.id, session.ref, session.url, about=None, shape=_shown
    )


@endpoint("GET", "/v1/shop/checkout/{checkoutId}", needs=AUTHENTICATED, refusals=(NotFound,))
async def read_checkout(call: Call, checkout_id: ObjectId) -> CheckoutOut:
    """One of the caller's own checkouts; another's is a 404."""
    return _shown(await _own(call, checkout_id))


@endpoint(
    "DELETE",
    "/v1/shop/checkout/{checkoutId}",
    needs=AUTHENTICATED,
    refusals=(NotFound, Conflict, UpstreamUnavailable),
)
async def cancel_checkout(call: Call, checkout_id: ObjectId) -> None:
    """Cancels one of the caller's own checkouts; again is a 204 as well.

    One that turns out to be paid, or has expired, is a 409.
    """
    placed = await _own(call, checkout_id)
    provider = call.service.of(PROVIDER)
    ended_there = placed.checkout.status == "open" and placed.checkout.provider == "stripe"
    if provider is not None and ended_there:
        call.wait_longer(PROVIDER_SECONDS)
        await end_session(call, provider, placed)
    try:
        await change(
            call, end_checkout, checkout_id, CheckoutMove.CANCEL, stamp_of(call),
            about=PurchasesOf(checkout_id), shape=_nothing,
        )  # fmt: skip
    except Conflict as conflict:
        # The provider's webhook about the end of the session may come before this transaction.
        if not ended_there or conflict.meta.get("status") != "expired":
            raise


async def _own(call: Call, checkout_id: str) -> Placed:
    placed = await call.service.database.read(read_placed, checkout_id)
    if placed.checkout.payer_id != call.user_id:
        raise NotFound("no such checkout")
    return placed


async def _open_session(call: Call, provider: Provider, placed: Placed) -> Session:
    try:
        return await Sessions(call.service, provider).open(placed)
    except ProviderAway:
        raise UpstreamUnavailable from None
    except ProviderRefused as refused:
        _log_refusal(placed, refused)
        await change_by_itself(
            call.service, end_checkout, placed.checkout.id, CheckoutMove.CANCEL, stamp_of(call),
            about=PurchasesOf(placed.checkout.id),
        )  # fmt: skip
        raise UpstreamUnavailable from None


async def end_session(call: Call, provider: Provider, placed: Placed) -> None:
    """End the provider's session of an open checkout, before the checkout itself ends: it must not be paid afterwards.

    Raises:
        Conflict: the payer was faster; the payment is applied.
        UpstreamUnavailable: the provider does not answer, or refuses.
    """
    try:
        event = await Sessions(call.service, provider).end(placed)
    except ProviderAway:
        raise UpstreamUnavailable from None
    except ProviderRefused as refused:
        _log_refusal(placed, refused)
        raise UpstreamUnavailable from None
    if event is not None:
        await change_by_itself(
            call.service, take_answer, event, stamp_of(call), about=PurchasesOf(placed.checkout.id)
        )
        raise Conflict("this checkout was paid", status="completed")


def _log_refusal(placed: Placed, refused: ProviderRefused) -> None:
    # Without a traceback, which may show the provider's key.
    log.error("the payment provider refused a checkout", checkout_id=placed.checkout.id, why=str(refused))


def _order(call: Call, body: CheckoutBody, provider: Provider | None) -> Order:
    items = [Item(item.product_id.lower(), item.quantity) for item in body.items]
    check_items(items)
    origins = _origins(call.service.config)
    check_return(body.success_url, "/successUrl", origins)
    check_return(body.cancel_url, "/cancelUrl", origins)
    named = body.recipient_id
    recipient_id = call.user_id if named is None else uuid_in(named, "/recipientId")
    # The receipt is stored with the last step only, so the first one leaves its key on the checkout.
    attempt = None if provider is None else call.attempt
    return Order(
        id=call.new_id(),
        purchase_ids=[call.new_id() for _ in items],
        payer_id=call.user_id,
        recipient_id=recipient_id,
        items=items,
        provider="manual" if provider is None else provider.name,
        success_url=body.success_url,
        cancel_url=body.cancel_url,
        request_key=None if attempt is None else attempt.key,
        request_body=None if attempt is None else attempt.fingerprint,
        expires_at_ms=call.now_ms + (MANUAL_MS if provider is None else provider.open_ms),
    )


def _origins(config: Config) -> set[str]:
    pages = (config.base_url, config.dashboard_url, *config.cors_origins)
    return {origin for page in pages if (origin := origin_of(page or "")) is not None}


def _shown(placed: Placed) -> CheckoutOut:
    payer_id = placed.checkout.payer_id or ""
    return CheckoutOut(
        checkout_entry(placed.checkout), [purchase_entry(line, payer_id) for line in placed.lines]
    )


def _nothing(_placed: Placed) -> None:
    return
