"""Make, end and attend to checkouts: units of work, inside the caller's transaction."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.errors import Blocked, Conflict, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.shop.events import told
from actors.shop.moves import CHECKOUT_MOVES, CheckoutMove
from actors.shop.orders import Item, check_payable, priced
from actors.shop.paying import Till
from actors.shop.products import given_by
from actors.time import DAY_MS
from persistence.connection import Connection
from persistence.friends.blocks import barred_among
from persistence.shop import checkouts as rows
from persistence.shop import purchases
from persistence.shop.checkouts import Checkout, ProviderName
from persistence.shop.products import Product, on_sale_named, read_named
from persistence.shop.purchases import Purchase
from persistence.users.audit import Stamp
from persistence.users.users import lock_user

OPEN_MAX = 5
"""Most open checkouts of one payer."""

UNPAID_A_DAY = 50
"""Most checkouts of one payer that end unpaid within a day: each leaves rows behind."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a payer wants to buy.

    Args:
        id: a fresh objectId for the checkout.
        purchase_ids: fresh objectIds for its purchases, one for each item.
        payer_id, recipient_id: the users who pay, and who get what is bought.
        items: the items, checked by `orders.check_items`.
        request_key, request_body: those that `Checkout` keeps, by which a repeated request is recognised.
        expires_at_ms: when the checkout expires, epoch milliseconds.
    """

    id: str
    purchase_ids: Sequence[str]
    payer_id: str
    recipient_id: str
    items: Sequence[Item]
    provider: ProviderName
    success_url: str | None
    cancel_url: str | None
    request_key: bytes | None
    request_body: bytes | None
    expires_at_ms: int


class Placed(msgspec.Struct, frozen=True):
    """A checkout with its purchases, in the order of its lines."""

    checkout: Checkout
    lines: Sequence[Purchase]


async def place_order(conn: Connection, order: Order, stamp: Stamp) -> Change[Placed]:
    """Make a checkout and its purchases, or find those that the same request has made before. One that costs nothing is
    fulfilled at once.

    Raises:
        Invalid: the recipient does not exist, a product is not on sale, the currencies differ, or Stripe does not take
            the total.
        Blocked: a block stands between payer and recipient.
        QuotaExceeded: too many checkouts are open or ended unpaid, or a product's limit would be exceeded.
        NotFound: the payer was erased.
    """
    await _lock_users(conn, order)
    if order.request_key is not None:
        since_ms = stamp.at_ms - DAY_MS
        before = await rows.id_of_request(conn, order.payer_id, order.request_key, since_ms)
        if before is not None:
            return Change(await read_placed(conn, before))
    await _check_counts(conn, order.payer_id, stamp.at_ms)
    products = await on_sale_named(conn, [item.product_id for item in order.items])
    total, currency = priced(order.items, products)
    if total == 0:
        # No provider hears of it, so an admin can take it back.
        order = replace(order, provider="manual")
    elif order.provider == "stripe":
        check_payable(total)
    await _check_limits(conn, order, products)
    checkout = Checkout(
        id=order.id, payer_id=order.payer_id, recipient_id=order.recipient_id, provider=order.provider,
        total=total, currency=currency, success_url=order.success_url, cancel_url=order.cancel_url,
        request_key=order.request_key, request_body=order.request_body, created_at_ms=stamp.at_ms,
        expires_at_ms=order.expires_at_ms, asked_at_ms=stamp.at_ms,
    )  # fmt: skip
    await rows.add_checkout(conn, checkout)
    lines = [
        await _line(conn, order, products, index, currency=currency, now_ms=stamp.at_ms)
        for index in range(len(order.items))
    ]
    await purchases.add_purchases(conn, lines)
    if total > 0:
        return Change(Placed(checkout, lines), told(lines, rights=False))
    return await _give_away(conn, checkout, stamp)


async def attach_session(conn: Connection, id: str, session_ref: str, url: str) -> Placed:
    """Store the provider's session of a checkout.

    Args:
        session_ref: the provider's name of the session.
        url: the page on which the payer pays.

    Raises:
        Conflict: the checkout was ended meanwhile.
    """
    checkout = await rows.lock_checkout(conn, id)
    if checkout is None or checkout.status != "open":
        raise Conflict("this checkout was ended", status=None if checkout is None else checkout.status)
    if checkout.session_ref is None:
        checkout = replace(checkout, session_ref=session_ref, url=url)
        await rows.save_checkout(conn, checkout)
    return Placed(checkout, await purchases.of_checkout(conn, id))


async def end_checkout(conn: Connection, id: str, move: CheckoutMove, stamp: Stamp) -> Change[Placed]:
    """Cancel or expire a checkout; repeating it has no effect. Its pending purchases fail, which frees what they
    reserved.

    Args:
        move: the move, CANCEL or EXPIRE.
        stamp: identifies who ends it, and their request, in the audit trail.

    Raises:
        NotFound: there is no such checkout.
        Conflict: the checkout has ended in another way.
    """
    till = await Till.open(conn, id, stamp)
    if till is None:
        raise NotFound("no such checkout")
    checkout = till.checkout
    status = CHECKOUT_MOVES.get((checkout.status, move))
    if status is None:
        if checkout.status != CHECKOUT_MOVES["open", move]:
            raise Conflict("this checkout has ended already", status=checkout.status)
        return Change(Placed(checkout, till.lines))
    for line in till.lines:
        till.fail(line)
    # An admin may have marked some of its purchases as paid.
    status = status if till.statuses() <= {"failed"} else "completed"
    checkout = replace(checkout, status=status, ended_at_ms=stamp.at_ms)
    await rows.save_checkout(conn, checkout)
    events = await till.close()
    return Change(Placed(checkout, till.lines), events)


async def read_placed(conn: Connection, id: str) -> Placed:
    """A checkout with its purchases.

    Raises:
        NotFound: there is no such checkout.
    """
    checkout = await rows.read_checkout(conn, id)
    if checkout is None:
        raise NotFound("no such checkout")
    return Placed(checkout, await purchases.of_checkout(conn, id))


async def _lock_users(conn: Connection, order: Order) -> None:
    found = {id: await lock_user(conn, id) for id in sorted({order.payer_id, order.recipient_id})}
    if found[order.payer_id] is None:
        raise NotFound("no such user")
    if found[order.recipient_id] is None:
        raise Invalid(FieldError("/recipientId", "UNKNOWN", "no such user"))
    if await barred_among(conn, order.payer_id, [order.recipient_id]):
        raise Blocked


async def _check_counts(conn: Connection, payer_id: str, now_ms: int) -> None:
    open_ones, unpaid = await rows.count_of_payer(conn, payer_id, now_ms - DAY_MS)
    if open_ones >= OPEN_MAX:
        raise QuotaExceeded(message=f"at most {OPEN_MAX} checkouts are open", max=OPEN_MAX)
    if unpaid >= UNPAID_A_DAY:
        raise QuotaExceeded(message=f"at most {UNPAID_A_DAY} checkouts a day end unpaid", max=UNPAID_A_DAY)


async def _check_limits(conn: Connection, order: Order, products: dict[str, Product]) -> None:
    limited = [item.product_id for item in order.items if products[item.product_id].most_each is not None]
    have = await purchases.pieces_of(conn, order.recipient_id, limited, but="") if limited else {}
    for index, item in enumerate(order.items):
        most = products[item.product_id].most_each
        if most is not None and have.get(item.product_id, 0) + item.quantity > most:
            at = FieldError(f"/items/{index}/quantity", "TOO_MANY", f"at most {most} for one recipient")
            raise QuotaExceeded(at, max=most)


async def _line(
    conn: Connection, order: Order, products: dict[str, Product], index: int, *, currency: str, now_ms: int
) -> Purchase:
    item = order.items[index]
    product = products[item.product_id]
    included = await read_named(conn, product.includes) if product.includes else {}
    grants = given_by(product, [included[id] for id in product.includes])
    return Purchase(
        id=order.purchase_ids[index], checkout_id=order.id, product_id=product.id, payer_id=order.payer_id,
        recipient_id=order.recipient_id, grants_digest=await purchases.keep_grants(conn, grants),
        quantity=item.quantity, amount=product.amount * item.quantity, currency=currency, provider=order.provider,
        created_at_ms=now_ms,
    )  # fmt: skip


async def _give_away(conn: Connection, checkout: Checkout, stamp: Stamp) -> Change[Placed]:
    till = await Till.new(conn, checkout, stamp)
    for line in till.lines:
        await till.pay(line, None, amount_matches=True)
    done = replace(checkout, status=CHECKOUT_MOVES["open", CheckoutMove.PAY], ended_at_ms=stamp.at_ms)
    await rows.save_checkout(conn, done)
    events = await till.close()
    # All purchases are new, so those that the till did not change are told as well.
    return Change(Placed(done, till.lines), events)
