"""Reactions of the view of purchases, and of the log; and the reconciliation of purchases with their rows."""

from collections.abc import Sequence
from typing import NamedTuple

import structlog

from actors.shop.events import MoneyUnexpected, PurchaseChanged, PurchaseHeld, RefundUnknown, told
from actors.shop.view import SHOP
from persistence.connection import Connection
from persistence.shop import purchases
from persistence.shop.checkouts import id_of_payment
from persistence.shop.purchases import Purchase
from routes.changes import Reaction, Reconciliation
from routes.service import Service

log = structlog.get_logger()


class PurchasesOf(NamedTuple):
    """Reconciliation subject: the purchases of a checkout.

    Args:
        id: the id of the checkout or of one of its purchases, or the provider's id of the payment.
    """

    id: str


def _changed(service: Service, event: PurchaseChanged) -> None:
    for user_id in event.user_ids:
        service.system.changed(SHOP, user_id, event.purchase_id)


def _held(_service: Service, event: PurchaseHeld) -> None:
    log.error("a purchase was paid and is on hold", purchase_id=event.purchase_id, hold=event.hold)


def _unexpected(_service: Service, event: MoneyUnexpected) -> None:
    log.error(
        "a payment is not the one of its checkout, which was paid already", checkout_id=event.checkout_id
    )


def _refund_unknown(_service: Service, event: RefundUnknown) -> None:
    log.error(
        "a part of a payment went back in another currency than its checkout's, and is not counted",
        checkout_id=event.checkout_id,
        amount=event.amount,
        currency=event.currency,
    )


async def _ask(service: Service, about: PurchasesOf, _events: Sequence[object]) -> tuple[object, ...]:
    async def read(conn: Connection) -> Sequence[Purchase]:
        named = await purchases.checkout_of(conn, about.id) or await id_of_payment(conn, about.id)
        return await purchases.of_checkout(conn, named or about.id)

    return told(await service.database.read(read), rights=True)


REACTIONS = (
    Reaction(PurchaseChanged, _changed),
    Reaction(PurchaseHeld, _held, once=True),
    Reaction(MoneyUnexpected, _unexpected, once=True),
    Reaction(RefundUnknown, _refund_unknown, once=True),
)

RECONCILIATIONS = (Reconciliation(PurchasesOf, _ask),)
