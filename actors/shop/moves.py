"""What may become of checkouts and purchases: two tables. What they do not list is refused, or changes nothing."""

from enum import Enum

from persistence.shop.checkouts import CheckoutStatus
from persistence.shop.purchases import PurchaseStatus


class CheckoutMove(Enum):
    """What happens to a checkout."""

    COMPLETE = "complete"
    """Its payer has finished; the money is there, or on its way."""
    PAY = "pay"
    """The money is there."""
    CANCEL = "cancel"
    EXPIRE = "expire"


class PurchaseMove(Enum):
    """What happens to a purchase."""

    PAY = "pay"
    """The money is there, and what was bought can be given."""
    HOLD = "hold"
    """The money is there, but something is wrong; an admin decides."""
    ACCEPT = "accept"
    """An admin says that it is paid, or gives what was held."""
    FAIL = "fail"
    """No money will come for now."""
    DISPUTE = "dispute"
    WIN = "win"
    """The dispute has ended in our favour."""
    REFUND = "refund"
    """The money went back, or the dispute was lost."""


CHECKOUT_MOVES: dict[tuple[CheckoutStatus, CheckoutMove], CheckoutStatus] = {
    ("open", CheckoutMove.COMPLETE): "completed",
    ("open", CheckoutMove.PAY): "completed",
    ("open", CheckoutMove.CANCEL): "cancelled",
    ("open", CheckoutMove.EXPIRE): "expired",
    # Money counts more than clocks.
    ("expired", CheckoutMove.PAY): "completed",
    ("cancelled", CheckoutMove.PAY): "completed",
}
"""{(state, move): next state} of checkouts."""

PURCHASE_MOVES: dict[tuple[PurchaseStatus, PurchaseMove], PurchaseStatus] = {
    ("pending", PurchaseMove.PAY): "fulfilled",
    ("pending", PurchaseMove.HOLD): "paid",
    ("pending", PurchaseMove.ACCEPT): "fulfilled",
    ("pending", PurchaseMove.FAIL): "failed",
    ("failed", PurchaseMove.PAY): "fulfilled",
    ("failed", PurchaseMove.HOLD): "paid",
    ("failed", PurchaseMove.ACCEPT): "fulfilled",
    ("paid", PurchaseMove.ACCEPT): "fulfilled",
    ("paid", PurchaseMove.REFUND): "refunded",
    ("fulfilled", PurchaseMove.DISPUTE): "disputed",
    ("fulfilled", PurchaseMove.REFUND): "refunded",
    ("disputed", PurchaseMove.WIN): "fulfilled",
    ("disputed", PurchaseMove.REFUND): "refunded",
}
"""{(state, move): next state} of purchases; `refunded` is final."""
