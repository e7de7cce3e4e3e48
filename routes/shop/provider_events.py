"""Reads events of payment providers from the bodies of verified webhooks. Pure.

Two forms are read: Stripe's objects (API version 2026-10-28.endive), and plain events of any other sender,
`{"type":…,"data":{"checkoutId" or "purchaseId",…}}`. Only senders who know the secret get this far, so the parser must
bear mistakes, not attacks; the length of a body is limited before.
"""

import re
from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

from actors.ids import OBJECT_ID_FORM
from actors.shop.provider_events import EventKind, ProviderEvent
from routes.edge.errors import MalformedJson
from routes.edge.wire import field_error

T = TypeVar("T")

Amount: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""An amount of money in the smallest unit of its currency."""
Currency: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z]{3}\Z")]
Ref: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[!-~]{1,255}\Z")]
"""An id that a provider gives: visible ASCII characters."""


class _Envelope(msgspec.Struct, frozen=True):
    type: str
    data: msgspec.Raw = msgspec.Raw(b"{}")
    id: str | None = None
    livemode: bool | None = None


class _StripeData(msgspec.Struct, frozen=True):
    object: msgspec.Raw


class _Kind(msgspec.Struct, frozen=True):
    object: str = ""


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    checkout_id: str | None = None


class _Session(msgspec.Struct, frozen=True):
    id: Ref
    payment_status: Literal["paid", "unpaid", "no_payment_required"]
    amount_total: Amount | None = None
    currency: Currency | None = None
    payment_intent: Ref | None = None
    metadata: _Metadata | None = None


class _Charge(msgspec.Struct, frozen=True):
    amount: Amount
    amount_refunded: Amount
    currency: Currency
    payment_intent: Ref | None = None
    metadata: _Metadata | None = None


class _Dispute(msgspec.Struct, frozen=True):
    status: str
    id: Ref | None = None
    payment_intent: Ref | None = None


class _Plain(msgspec.Struct, frozen=True, rename="camel"):
    checkout_id: str | None = None
    purchase_id: str | None = None
    provider_ref: Ref | None = None
    amount: Amount | None = None
    currency: Currency | None = None


_SESSIONS = {
    "checkout.session.completed": EventKind.COMPLETED,
    "checkout.session.async_payment_succeeded": EventKind.PAID,
    "checkout.session.async_payment_failed": EventKind.FAILED,
    "checkout.session.expired": EventKind.EXPIRED,
}
_DISPUTED = "charge.dispute.created"
_CLOSED_AS = {
    "won": EventKind.DISPUTE_WON,
    # The payer's bank has closed an inquiry that did not become a dispute.
    "warning_closed": EventKind.DISPUTE_WON,
    "lost": EventKind.DISPUTE_LOST,
}
_PLAIN = {
    "checkout.completed": EventKind.COMPLETED,
    "checkout.expired": EventKind.EXPIRED,
    "payment.succeeded": EventKind.PAID,
    "payment.failed": EventKind.FAILED,
    "payment.refunded": EventKind.REFUNDED,
    "payment.disputed": EventKind.DISPUTED,
}
_ID = re.compile(r"[!-~]{1,255}", re.ASCII)


def read_event(body: bytes, event_id: str | None) -> ProviderEvent:
    """The event in a body; of kind `IGNORED` if its type is unknown, or if it is about nothing of this service.

    Args:
        body: JSON, from a sender who has signed it.
        event_id: from the signature (`Signed.id`); None = the body has its own.

    Raises:
        MalformedJson: it is not JSON, has no id, or is of a known type and lacks required fields.
    """
    envelope = _decoded(body, _Envelope)
    id = envelope.id if event_id is None else event_id
    if id is None or _ID.fullmatch(id) is None:
        raise MalformedJson("the event has no id, or one that is not 1 to 255 visible ASCII characters")
    reader = _READERS.get(envelope.type)
    event = None if reader is None else reader(envelope, id)
    return event or ProviderEvent(id=id, kind=EventKind.IGNORED, live=envelope.livemode)


def _session(envelope: _Envelope, id: str) -> ProviderEvent | None:
    session = _object(envelope, "checkout.session", _Session)
    if session is None or (checkout_id := _ours(session.metadata)) is None:
        return None
    kind = _SESSIONS[envelope.type]
    if kind is EventKind.COMPLETED and session.payment_status == "unpaid":
        kind = EventKind.COMPLETED_UNPAID
    return ProviderEvent(
        id=id,
        kind=kind,
        checkout_id=checkout_id,
        session_ref=session.id,
        payment_ref=session.payment_intent,
        amount=session.amount_total,
        currency=_lower(session.currency),
        live=envelope.livemode,
    )


def _refund(envelope: _Envelope, id: str) -> ProviderEvent | None:
    charge = _object(envelope, "charge", _Charge)
    if charge is None or charge.payment_intent is None:
        return None
    return ProviderEvent(
        id=id,
        kind=EventKind.REFUNDED,
        checkout_id=_ours(charge.metadata),
        payment_ref=charge.payment_intent,
        amount=charge.amount,
        currency=_lower(charge.currency),
        # None = all of it: the total of a payment differs from that of its purchases if it was not what we asked for.
        refunded_amount=charge.amount_refunded if charge.amount_refunded < charge.amount else None,
        live=envelope.livemode,
    )


def _dispute(envelope: _Envelope, id: str) -> ProviderEvent | None:
    dispute = _object(envelope, "dispute", _Dispute)
    if dispute is None or dispute.payment_intent is None:
        return None
    kind = EventKind.DISPUTED if envelope.type == _DISPUTED else _CLOSED_AS.get(dispute.status)
    if kind is None:
        return None
    return ProviderEvent(
        id=id,
        kind=kind,
        payment_ref=dispute.payment_intent,
        dispute_ref=dispute.id,
        live=envelope.livemode,
    )


def _plain(envelope: _Envelope, id: str) -> ProviderEvent | None:
    data = _decoded(envelope.data, _Plain, "/data")
    checkout_id, purchase_id = _object_id(data.checkout_id), _object_id(data.purchase_id)
    if checkout_id is None and purchase_id is None:
        return None
    kind = _PLAIN[envelope.type]
    refund = kind is EventKind.REFUNDED
    return ProviderEvent(
        id=id,
        kind=kind,
        checkout_id=checkout_id,
        purchase_id=purchase_id,
        payment_ref=data.provider_ref,
        amount=None if refund else data.amount,
        currency=_lower(data.currency),
        refunded_amount=data.amount if refund else None,
        refund_adds=refund,
        live=envelope.livemode,
    )


def _object(envelope: _Envelope, name: str, type: type[T]) -> T | None:
    """The object of one of Stripe's events; None if it is of another kind."""
    raw = _decoded(envelope.data, _StripeData, "/data").object
    kind = _decoded(raw, _Kind, "/data/object").object
    return _decoded(raw, type, "/data/object") if kind == name else None


def _decoded(raw: bytes | msgspec.Raw, type: type[T], within: str = "") -> T:
    """What is in a part of the body.

    Args:
        within: a pointer to that part; empty for the whole.
    """
    try:
        return msgspec.json.decode(raw, type=type)
    except msgspec.ValidationError as fault:
        # It is JSON, and whoever writes a sender has to learn what is wrong with it.
        wrong = field_error(fault)
        raise MalformedJson(
            f"the event is not of a known form: {within}{wrong.pointer}: {wrong.message}"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise MalformedJson from None


def _ours(metadata: _Metadata | None) -> str | None:
    """The checkout that a session or payment was made for; None if it was made by somebody else."""
    return None if metadata is None else _object_id(metadata.checkout_id)


def _object_id(text: str | None) -> str | None:
    """The normal form of one of our ids; None if the text is not an id, and so cannot name anything of ours."""
    id = (text or "").lower()
    return id if OBJECT_ID_FORM.fullmatch(id) else None


def _lower(currency: str | None) -> str | None:
    return None if currency is None else currency.lower()


_READERS: dict[str, Callable[[_Envelope, str], ProviderEvent | None]] = {
    **dict.fromkeys(_SESSIONS, _session),
    **dict.fromkeys(_PLAIN, _plain),
    "charge.refunded": _refund,
    "charge.dispute.created": _dispute,
    "charge.dispute.closed": _dispute,
}
"""{type of event: its reader}."""
