"""Sessions of Stripe Checkout: the form that opens one, its state, and the objects that the API shows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MIN_SECONDS, MAX_SECONDS = 30 * 60, 24 * 3600
LEAST_AMOUNT = 50
MOST_AMOUNT = 99_999_999
_LINE = re.compile(
    r"line_items\[(\d{1,2})\]\[(?:price_data\]\[(currency|unit_amount|product_data\]\[name)|(quantity))\]"
)
_TEXTS = {
    "mode", "client_reference_id", "metadata[checkoutId]", "payment_intent_data[metadata][checkoutId]", "success_url",
    "cancel_url", "expires_at",
}  # fmt: skip


class BadParameter(ValueError):
    """Stripe refuses a parameter.

    Args:
        code: the error's code, as the API gives it.
        parameter: the parameter's name.
    """

    def __init__(self, code: str, parameter: str) -> None:
        self.code = code
        self.parameter = parameter
        super().__init__(f"{code}: {parameter}")


@dataclass
class StripeSession:
    """One session, and its payment once there is one.

    Args:
        number: a number of which all ids are made.
        refunded: how much of the payment was refunded, in the currency's smallest unit.
        dispute: the status of the last dispute; None without one.
        disputes: how many disputes there were.
    """

    number: int
    url: str
    amount_total: int
    currency: str
    expires_at: int
    success_url: str
    cancel_url: str
    client_reference_id: str
    metadata: dict[str, str]
    payment_metadata: dict[str, str]
    created: int
    status: str = "open"
    payment_status: str = "unpaid"
    payment_intent: str | None = None
    refunded: int = 0
    dispute: str | None = None
    disputes: int = 0
    lines: list[dict[str, str]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The session's id, `cs_test_…`."""
        return f"cs_test_{self.number:024d}"

    def shown(self) -> dict[str, Any]:
        """The object `checkout.session`."""
        return {
            "id": self.id, "object": "checkout.session", "amount_subtotal": self.amount_total,
            "amount_total": self.amount_total, "cancel_url": self.cancel_url, "created": self.created,
            "client_reference_id": self.client_reference_id, "currency": self.currency, "customer": None,
            "customer_details": None, "expires_at": self.expires_at, "livemode": False, "metadata": self.metadata,
            "mode": "payment", "payment_intent": self.payment_intent, "payment_status": self.payment_status,
            "status": self.status, "success_url": self.success_url,
            "url": self.url if self.status == "open" else None,
        }  # fmt: skip

    def charge(self) -> dict[str, Any]:
        """The object `charge`, which has the metadata of the payment."""
        return {
            "id": f"ch_{self.number:024d}", "object": "charge", "amount": self.amount_total,
            "amount_captured": self.amount_total, "amount_refunded": self.refunded, "currency": self.currency,
            "livemode": False, "metadata": self.payment_metadata, "paid": True, "payment_intent": self.payment_intent,
            "refunded": self.refunded == self.amount_total, "status": "succeeded",
        }  # fmt: skip

    def disputed(self) -> dict[str, Any]:
        """The object `dispute`, which names the payment and nothing of ours."""
        return {
            "id": f"du_{self.number:020d}{self.disputes:04d}", "object": "dispute", "amount": self.amount_total,
            "charge": f"ch_{self.number:024d}", "currency": self.currency, "livemode": False, "metadata": {},
            "payment_intent": self.payment_intent, "reason": "fraudulent", "status": self.dispute,
        }  # fmt: skip


def opened(form: Mapping[str, str], number: int, base_url: str, now_s: int) -> StripeSession:
    """Open the session that a form asks for.

    Args:
        form: the fields of the request.
        number: the number of the new session.
        base_url: the site's address, below which the session's page is.
        now_s: epoch seconds by Stripe's clock.

    Raises:
        BadParameter: Stripe would refuse a field of the form.
    """
    lines = _lines(form)
    currencies = {line["currency"] for line in lines}
    if len(currencies) != 1:
        raise BadParameter("parameter_invalid", "line_items")
    total = sum(_whole(line, "unit_amount") * _whole(line, "quantity") for line in lines)
    if not LEAST_AMOUNT <= total <= MOST_AMOUNT:
        raise BadParameter("amount_too_small" if total < LEAST_AMOUNT else "amount_too_large", "line_items")
    if form.get("mode") != "payment":
        raise BadParameter("parameter_missing", "mode")
    expires_at = _whole(form, "expires_at")
    if not MIN_SECONDS <= expires_at - now_s <= MAX_SECONDS:
        raise BadParameter("parameter_invalid", "expires_at")
    for name in ("success_url", "cancel_url"):
        if not form.get(name, "").startswith(("http://", "https://")):
            raise BadParameter("url_invalid", name)
    session = StripeSession(
        number=number, url="", amount_total=total, currency=currencies.pop().lower(), expires_at=expires_at,
        success_url=form["success_url"], cancel_url=form["cancel_url"],
        client_reference_id=form.get("client_reference_id", ""), created=now_s, lines=lines,
        metadata=_metadata(form, "metadata"), payment_metadata=_metadata(form, "payment_intent_data[metadata]"),
    )  # fmt: skip
    session.url = f"{base_url}/pay/{session.id}"
    return session


def _lines(form: Mapping[str, str]) -> list[dict[str, str]]:
    lines: dict[int, dict[str, str]] = {}
    for name, value in form.items():
        part = _LINE.fullmatch(name)
        if part is not None:
            lines.setdefault(int(part[1]), {})[(part[2] or part[3]).rpartition("[")[2]] = value
        elif name not in _TEXTS:
            raise BadParameter("parameter_unknown", name)
    if list(lines) != list(range(len(lines))) or not lines:
        raise BadParameter("parameter_missing", "line_items")
    for line in lines.values():
        if line.keys() != {"currency", "unit_amount", "name", "quantity"} or not line["name"]:
            raise BadParameter("parameter_missing", "line_items")
    return list(lines.values())


def _whole(form: Mapping[str, str], name: str) -> int:
    text = form.get(name, "")
    if not text.isdigit() or len(text) > 12:
        raise BadParameter("parameter_invalid_integer", name)
    return int(text)


def _metadata(form: Mapping[str, str], name: str) -> dict[str, str]:
    return {key[len(name) + 1 : -1]: value for key, value in form.items() if key.startswith(f"{name}[")}
