"""Apply what a payment provider reports to checkouts and purchases: units of work, inside the caller's transaction.

Events come at least once and in any order. Each has its effect once, and those about a payment that is not known yet
wait for it. So all orders of the same events lead to the same state.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.shop.events import MoneyUnexpected, RefundUnknown
from actors.shop.moves import CHECKOUT_MOVES, CheckoutMove
from actors.shop.paying import Till
from actors.shop.provider_events import EventKind, ProviderEvent
from persistence.connection import Connection
from persistence.shop import checkouts as rows
from persistence.shop import webhook_events
from persistence.shop.checkouts import Checkout, lock_payment
from persistence.shop.purchases import Purchase, checkout_of
from persistence.users.audit import Stamp

_AFTER_PAYMENT = {
    EventKind.REFUNDED, EventKind.DISPUTED, EventKind.DISPUTE_WON, EventKind.DISPUTE_LOST,
}  # fmt: skip
DISPUTES_MAX = 20
"""Most disputes of one payment that are told apart."""

_PAID = {"paid", "fulfilled", "disputed", "refunded"}

_events = msgspec.msgpack.Decoder(ProviderEvent)


async def take_event(conn: Connection, event: ProviderEvent, stamp: Stamp) -> Change[bool]:
    """Apply an event of a webhook; the value is True if the event came before, and has no effect now."""
    if not await webhook_events.take(conn, event.id, stamp.at_ms):
        return Change(True)
    if event.kind is EventKind.IGNORED:
        return Change(False)
    return Change(False, await _apply(conn, event, stamp))


async def take_answer(conn: Connection, event: ProviderEvent, stamp: Stamp) -> Change[None]:
    """Apply what the provider has answered when it was asked about a checkout; the event's id is ignored."""
    return Change(None, await _apply(conn, event, stamp))


async def _apply(conn: Connection, event: ProviderEvent, stamp: Stamp) -> tuple[object, ...]:
    if event.payment_ref is not None:
        # An event that finds no such payment must not miss the one that is just making it known.
        await lock_payment(conn, event.payment_ref)
    id = await _checkout_of(conn, event)
    till = None if id is None else await Till.open(conn, id, stamp)
    if till is None:
        if event.kind in _AFTER_PAYMENT:
            await _let_wait(conn, event, None)
        return ()
    events = await _move(conn, till, event)
    for waiting in await webhook_events.take_waiting(conn, till.checkout.id, till.checkout.payment_ref):
        events += await _move(conn, till, _events.decode(waiting))
    await rows.save_checkout(conn, till.checkout)
    return (*await till.close(), *events)


async def _move(conn: Connection, till: Till, event: ProviderEvent) -> tuple[object, ...]:
    """Apply one event to a locked checkout; returns events beside those of its purchases."""
    lines = [one for one in till.lines if event.purchase_id in {None, one.id}]
    if event.kind in _AFTER_PAYMENT:
        concerned = [one for one in lines if _paid_by(one, till.checkout, event)]
        if lines and not concerned:
            return (MoneyUnexpected(till.checkout.id),)
        if not any(one.status in _PAID for one in concerned):
            await _let_wait(conn, event, till.checkout.id)
            return ()
        return await _after_payment(till, concerned, event)
    match event.kind:
        case EventKind.COMPLETED | EventKind.PAID:
            return await _pay(conn, till, lines, event)
        case EventKind.COMPLETED_UNPAID:
            till.change(await _with_provider_refs(conn, _moved(till, CheckoutMove.COMPLETE), event))
        case EventKind.FAILED:
            for line in lines:
                till.fail(line)
        case EventKind.EXPIRED:
            _expire(till, lines)
    return ()


async def _after_payment(till: Till, lines: Sequence[Purchase], event: ProviderEvent) -> tuple[object, ...]:
    """Apply a refund, or a step of a dispute, to the purchases of a payment; returns events beside theirs."""
    match event.kind:
        case EventKind.REFUNDED:
            return await _refund(till, lines, event)
        case EventKind.DISPUTED:
            await _dispute(till, lines, event.dispute_ref or "")
        case EventKind.DISPUTE_WON:
            await _win(till, lines, event.dispute_ref or "")
        case EventKind.DISPUTE_LOST:
            for line in lines:
                await till.refund(line, line.amount)
    return ()


async def _pay(
    conn: Connection, till: Till, lines: Sequence[Purchase], event: ProviderEvent
) -> tuple[object, ...]:
    checkout = till.checkout
    # The same payment is told of more than once; what was paid by another one is paid twice now.
    ref = event.payment_ref
    others = [line for line in lines if line.status in _PAID and ref not in {None, line.provider_ref}]
    asked = checkout.total if event.purchase_id is None else sum(line.amount for line in lines)
    matches = event.amount in {None, asked} and event.currency in {None, checkout.currency}
    for line in lines:
        await till.pay(line, event.payment_ref, amount_matches=matches)
    if "pending" not in till.statuses():
        checkout = _moved(till, CheckoutMove.PAY)
    till.change(await _with_provider_refs(conn, checkout, event))
    return (MoneyUnexpected(checkout.id),) if others else ()


def _paid_by(line: Purchase, checkout: Checkout, event: ProviderEvent) -> bool:
    """Whether the payment of an event can be that of a purchase, and not another one for the same checkout."""
    if event.purchase_id == line.id or event.payment_ref is None or line.provider_ref == event.payment_ref:
        return True
    return line.provider_ref is None and line.provider == checkout.provider


def _expire(till: Till, lines: Sequence[Purchase]) -> None:
    if till.checkout.status != "open":
        return
    for line in lines:
        till.fail(line)
    move = CheckoutMove.EXPIRE if till.statuses() <= {"failed"} else CheckoutMove.COMPLETE
    till.change(_moved(till, move))


async def _refund(till: Till, lines: Sequence[Purchase], event: ProviderEvent) -> tuple[object, ...]:
    """Note what went back, spread over the purchases in the order of the lines. Rights end when all of it is back: a
    part of a payment does not say which purchase it is about, unless the event does. A part in another currency cannot
    be compared with the amounts of the purchases, so that it changes none; the event that is returned tells of it."""
    left = event.refunded_amount
    if left is not None and event.currency not in {None, till.checkout.currency}:
        return (RefundUnknown(till.checkout.id, left, event.currency or ""),)
    # What went back before counts where the event tells of itself alone; an event is applied once, so sums are exact.
    before = [line.refunded_amount if event.refund_adds else 0 for line in lines]
    whole = left is None or left + sum(before) >= sum(line.amount for line in lines)
    for line, so_far in zip(lines, before, strict=True):
        part = line.amount - so_far if left is None else min(left, line.amount - so_far)
        left = None if left is None else left - part
        if whole:
            await till.refund(line, line.amount)
        else:
            till.refund_part(line, so_far + part)
    return ()


async def _dispute(till: Till, lines: Sequence[Purchase], ref: str) -> None:
    checkout = till.checkout
    if ref in {*checkout.disputes, *checkout.disputes_won} or len(checkout.disputes) >= DISPUTES_MAX:
        return
    till.change(replace(checkout, disputes=(*checkout.disputes, ref)))
    for line in lines:
        await till.dispute(line)


async def _win(till: Till, lines: Sequence[Purchase], ref: str) -> None:
    checkout = till.checkout
    still_open = tuple(one for one in checkout.disputes if one != ref)
    won = (*checkout.disputes_won, ref)[-DISPUTES_MAX:]
    till.change(replace(checkout, disputes=still_open, disputes_won=won))
    if not still_open:
        for line in lines:
            await till.win(line)


def _moved(till: Till, move: CheckoutMove) -> Checkout:
    """The checkout after a move; the same where the table does not list it."""
    checkout = till.checkout
    status = CHECKOUT_MOVES.get((checkout.status, move))
    return checkout if status is None else replace(checkout, status=status, ended_at_ms=till.now_ms)


async def _with_provider_refs(conn: Connection, checkout: Checkout, event: ProviderEvent) -> Checkout:
    """The checkout with the provider's names of its session and payment, as far as the event has them. One payment may
    be for several checkouts, such as a bank transfer; it is found by its name at the first of them."""
    session_ref, payment_ref = checkout.session_ref or event.session_ref, checkout.payment_ref
    if payment_ref is None and event.payment_ref is not None:
        taken = await rows.id_of_payment(conn, event.payment_ref)
        payment_ref = event.payment_ref if taken is None else None
    return replace(checkout, session_ref=session_ref, payment_ref=payment_ref)


async def _checkout_of(conn: Connection, event: ProviderEvent) -> str | None:
    if event.checkout_id is not None:
        return event.checkout_id
    if event.purchase_id is not None:
        return await checkout_of(conn, event.purchase_id)
    return None if event.payment_ref is None else await rows.id_of_payment(conn, event.payment_ref)


async def _let_wait(conn: Connection, event: ProviderEvent, checkout_id: str | None) -> None:
    """Keep an event until its payment is known. One that names nothing of ours and no payment is dropped."""
    checkout_id = checkout_id or event.checkout_id
    if checkout_id is not None or event.payment_ref is not None:
        encoded = msgspec.msgpack.encode(event)
        await webhook_events.let_wait(
            conn, event.id, encoded, checkout_id=checkout_id, payment_ref=event.payment_ref
        )
