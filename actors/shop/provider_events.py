"""The events that move checkouts and purchases, in one form for all payment providers."""

from enum import Enum

import msgspec


class EventKind(Enum):
    """What has happened at the provider."""

    COMPLETED = "completed"
    """The payer has finished, and the money is there."""
    COMPLETED_UNPAID = "completed_unpaid"
    """The payer has finished; the money is on its way."""
    PAID = "paid"
    FAILED = "failed"
    """The money that was on its way does not come."""
    EXPIRED = "expired"
    REFUNDED = "refunded"
    DISPUTED = "disputed"
    DISPUTE_WON = "dispute_won"
    DISPUTE_LOST = "dispute_lost"
    IGNORED = "ignored"
    """Of no kind that the shop understands, or about nothing of ours; it is remembered that it came."""


class ProviderEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event.

    Args:
        id: the provider's name of the event, unique among all providers.
        checkout_id, purchase_id: the checkout and the purchase that it is about, as far as the provider knows our ids.
        session_ref, payment_ref: the provider's names of the session and of the payment.
        dispute_ref: the provider's name of the dispute; None if a payment can only have one.
        amount: the amount paid, in the smallest unit of the currency.
        currency: three lower-case letters.
        refunded_amount: how much of the payment has gone back; None for all of it.
        refund_adds: whether `refunded_amount` is that of this refund alone; else it is that of all refunds together.
        live: whether it is about real money; None if the provider does not say.
    """

    id: str
    kind: EventKind
    checkout_id: str | None = None
    purchase_id: str | None = None
    session_ref: str | None = None
    payment_ref: str | None = None
    dispute_ref: str | None = None
    amount: int | None = None
    currency: str | None = None
    refunded_amount: int | None = None
    refund_adds: bool = False
    live: bool | None = None
