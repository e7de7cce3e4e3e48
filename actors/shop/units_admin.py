"""Mark purchases as paid, and give money back, by hand: units of work, inside the caller's transaction."""

from msgspec.structs import replace

from actors.change import Change
from actors.errors import Conflict, NotFound
from actors.shop.moves import CHECKOUT_MOVES, CheckoutMove, PurchaseMove
from actors.shop.paying import Till
from persistence.connection import Connection
from persistence.shop import checkouts as rows
from persistence.shop.purchases import Purchase, checkout_of
from persistence.users.audit import Stamp


async def mark_paid(
    conn: Connection, purchase_id: str, provider_ref: str | None, note: str | None, stamp: Stamp
) -> Change[Purchase]:
    """Mark a purchase as paid, and give what was bought; repeating it has no effect.

    Args:
        provider_ref: a name by which the money can be found; for a purchase on hold, which has one already, it is only
            noted in the audit trail.
        note: a note for the audit trail; None without one.

    Raises:
        NotFound: there is no such purchase.
        Conflict: the purchase was refunded or is disputed, or its recipient does not exist any more.
    """
    till, line = await _open(conn, purchase_id, stamp)
    if line.status == "fulfilled":
        return Change(line)
    if till.checkout.disputes:
        raise Conflict("the payment of this purchase is disputed", status=line.status)
    # What is on hold was paid at its provider already, which refunds it by the name that it has there.
    held = line.status == "paid"
    ref = line.provider_ref if held else provider_ref
    await till.pay(line, ref, amount_matches=True, move=PurchaseMove.ACCEPT)
    paid = till.line(purchase_id)
    if paid.status != "fulfilled":
        raise Conflict("this purchase cannot be marked as paid", status=line.status, hold=paid.hold)
    if not held:
        # The money came by hand, so that it can be given back by hand.
        till.mark(replace(paid, provider="manual"))
    till.note = note if not held or provider_ref is None else f"{provider_ref}: {note or ''}"
    if "pending" not in till.statuses():
        checkout = till.checkout
        status = CHECKOUT_MOVES.get((checkout.status, CheckoutMove.PAY))
        if status is not None:
            await rows.save_checkout(conn, replace(checkout, status=status, ended_at_ms=stamp.at_ms))
    events = await till.close()
    return Change(till.line(purchase_id), events)


async def refund(conn: Connection, purchase_id: str, stamp: Stamp) -> Change[Purchase]:
    """Note that the money of a purchase was given back by hand, and take back what was bought; again is without effect.

    Raises:
        NotFound: there is no such purchase.
        Conflict: the purchase was not paid; or not by hand: then it is to be refunded at the provider, which tells us.
    """
    till, line = await _open(conn, purchase_id, stamp)
    if line.status == "refunded":
        return Change(line)
    if line.provider != "manual":
        raise Conflict("refund this payment at its provider", status=line.status, provider=line.provider)
    await till.refund(line, line.amount)
    if till.line(purchase_id).status != "refunded":
        raise Conflict("this purchase was not paid", status=line.status)
    events = await till.close()
    return Change(till.line(purchase_id), events)


async def _open(conn: Connection, purchase_id: str, stamp: Stamp) -> tuple[Till, Purchase]:
    id = await checkout_of(conn, purchase_id)
    till = None if id is None else await Till.open(conn, id, stamp)
    if till is None:
        raise NotFound("no such purchase")
    return till, till.line(purchase_id)
