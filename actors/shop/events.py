"""Events of the shop's rows, for live views and the log."""

from collections.abc import Iterable

import msgspec

from actors.users.events import UserChanged
from persistence.shop.purchases import Hold, Purchase


class PurchaseChanged(msgspec.Struct, frozen=True):
    """A purchase was made, or has changed.

    Args:
        user_ids: the ids of its payer and its recipient, as far as they still exist.
    """

    purchase_id: str
    user_ids: tuple[str, ...]


class PurchaseHeld(msgspec.Struct, frozen=True):
    """A purchase was paid and not fulfilled: an admin has to look at it."""

    purchase_id: str
    hold: Hold


class MoneyUnexpected(msgspec.Struct, frozen=True):
    """Money came for a checkout that was paid in another way, or went back of a payment that it was not paid by: an
    admin has to look at it."""

    checkout_id: str


class RefundUnknown(msgspec.Struct, frozen=True):
    """A part of a payment went back in another currency than that of its checkout: an admin has to look at it.

    Args:
        amount, currency: what went back, in the smallest unit of its currency.
    """

    checkout_id: str
    amount: int
    currency: str


def told(purchases: Iterable[Purchase], *, rights: bool) -> tuple[object, ...]:
    """The events of purchases that were made or have changed.

    Args:
        rights: whether the rights of their recipients have changed.
    """
    changed = list(purchases)
    events: list[object] = [
        PurchaseChanged(
            one.id, tuple({id: None for id in (one.payer_id, one.recipient_id) if id is not None})
        )
        for one in changed
    ]
    events += [
        PurchaseHeld(one.id, one.hold) for one in changed if one.status == "paid" and one.hold is not None
    ]
    if rights:
        events += map(
            UserChanged, sorted({one.recipient_id for one in changed if one.recipient_id is not None})
        )
    return tuple(events)
