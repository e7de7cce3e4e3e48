"""What payment providers say, as the shop understands it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.shop.provider_events import EventKind, ProviderEvent
from routes.edge.errors import MalformedJson
from routes.shop.provider_events import read_event
from scripts.upstreams.stripe import StripeSite
from scripts.upstreams.stripe_sessions import StripeSession, opened
from tests.shop.stripe_play import NOW_S, RETURN

CHECKOUT = "0123456789abcdef01234567"
PURCHASE = "89abcdef0123456789abcdef"
EVT = "evt_000000000000000000000001"
SESSION = f"cs_test_{1:024d}"
PAYMENT = f"pi_{1:024d}"
DISPUTE_REF = f"du_{1:020d}{1:04d}"

FORM = {
    "mode": "payment", "metadata[checkoutId]": CHECKOUT, "payment_intent_data[metadata][checkoutId]": CHECKOUT,
    "success_url": RETURN, "cancel_url": RETURN, "expires_at": str(NOW_S + 3600),
    "line_items[0][price_data][currency]": "EUR", "line_items[0][price_data][unit_amount]": "500",
    "line_items[0][price_data][product_data][name]": "Glow", "line_items[0][quantity]": "1",
}  # fmt: skip

Play = Callable[[StripeSite], None]


def event(kind: EventKind, **more: Any) -> ProviderEvent:
    return ProviderEvent(id=EVT, kind=kind, **{"live": False} | more)


def of_session(kind: EventKind, **more: Any) -> ProviderEvent:
    known = {
        "checkout_id": CHECKOUT,
        "session_ref": SESSION,
        "amount": 500,
        "currency": "eur",
        "payment_ref": PAYMENT,
    }
    return event(kind, **known | more)


def of_charge(refunded_amount: int | None) -> ProviderEvent:
    return event(
        EventKind.REFUNDED, checkout_id=CHECKOUT, payment_ref=PAYMENT, amount=500, currency="eur",
        refunded_amount=refunded_amount,
    )  # fmt: skip


STRIPE: list[tuple[str, Play, ProviderEvent | None]] = [
    ("paid", lambda site: site.pay(SESSION), of_session(EventKind.COMPLETED)),
    ("unpaid", lambda site: site.pay(SESSION, delayed=True), of_session(EventKind.COMPLETED_UNPAID)),
    ("arrived", lambda site: _later(site, arrived=True), of_session(EventKind.PAID)),
    ("failed", lambda site: _later(site, arrived=False), of_session(EventKind.FAILED)),
    ("expired", lambda site: site.expire(SESSION), of_session(EventKind.EXPIRED, payment_ref=None)),
    ("refunded", lambda site: _paid(site).refund(SESSION), of_charge(None)),
    ("refunded in part", lambda site: _paid(site).refund(SESSION, 200), of_charge(200)),
    ("refunded in two parts", lambda site: _paid(site, refunded=200).refund(SESSION), of_charge(None)),
    (
        "disputed",
        lambda site: _paid(site).dispute(SESSION),
        event(EventKind.DISPUTED, payment_ref=PAYMENT, dispute_ref=DISPUTE_REF),
    ),
    (
        "won",
        lambda site: _disputed(site).dispute(SESSION, status="won"),
        event(EventKind.DISPUTE_WON, payment_ref=PAYMENT, dispute_ref=DISPUTE_REF),
    ),
    (
        "lost",
        lambda site: _disputed(site).dispute(SESSION, status="lost"),
        event(EventKind.DISPUTE_LOST, payment_ref=PAYMENT, dispute_ref=DISPUTE_REF),
    ),
]


def _disputed(site: StripeSite) -> StripeSite:
    _paid(site).dispute(SESSION)
    site.events.clear()
    return site


def _paid(site: StripeSite, *, refunded: int = 0) -> StripeSite:
    site.pay(SESSION)
    if refunded:
        site.refund(SESSION, refunded)
    site.events.clear()
    return site


def _later(site: StripeSite, *, arrived: bool) -> None:
    site.pay(SESSION, delayed=True)
    site.events.clear()
    site.settle(SESSION, arrived=arrived)


def _site() -> StripeSite:
    site = StripeSite(now_s=lambda: NOW_S)
    session: StripeSession = opened(FORM, 1, "http://stripe.test", NOW_S)
    site.sessions[session.id] = session
    return site


@pytest.mark.parametrize(("play", "expected"), [row[1:] for row in STRIPE], ids=[row[0] for row in STRIPE])
def test_what_stripe_says(play: Play, expected: ProviderEvent):
    site = _site()
    play(site)
    (sent,) = site.events
    assert read_event(sent.body, None) == expected


def stripe(type: str, object: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"id": EVT, "type": type, "livemode": True, "data": {"object": object}} | more).encode()


SESSION_OBJECT = {
    "object": "checkout.session", "id": SESSION, "payment_status": "no_payment_required", "amount_total": 0,
    "currency": "eur", "metadata": {"checkoutId": CHECKOUT},
}  # fmt: skip
CHARGE = {"object": "charge", "amount": 5, "amount_refunded": 5, "currency": "eur", "payment_intent": PAYMENT}
DISPUTE = {"object": "dispute", "status": "lost", "payment_intent": PAYMENT}
COMPLETED = "checkout.session.completed"


def test_what_costs_nothing_is_paid():
    found = read_event(stripe(COMPLETED, SESSION_OBJECT), None)
    assert found == of_session(EventKind.COMPLETED, amount=0, payment_ref=None, live=True)


def test_a_refund_of_a_payment_without_our_name():
    """Such as one that was made before payments had it: the payment alone says whose it is."""
    found = read_event(stripe("charge.refunded", CHARGE | {"amount_refunded": 3, "metadata": {}}), None)
    assert (found.checkout_id, found.payment_ref, found.refunded_amount) == (None, PAYMENT, 3)


def test_an_inquiry_that_comes_to_nothing():
    found = read_event(stripe("charge.dispute.closed", DISPUTE | {"status": "warning_closed"}), None)
    assert found == event(EventKind.DISPUTE_WON, payment_ref=PAYMENT, live=True)


@pytest.mark.parametrize(
    "body",
    [
        stripe("invoice.paid", {"object": "invoice"}),
        stripe("", {}),
        stripe(COMPLETED, SESSION_OBJECT | {"object": "something.new"}),
        stripe(COMPLETED, {}),
        stripe(COMPLETED, SESSION_OBJECT | {"metadata": {}}),
        stripe(COMPLETED, SESSION_OBJECT | {"metadata": None}),
        stripe(COMPLETED, SESSION_OBJECT | {"metadata": {"checkoutId": "of another shop"}}),
        stripe("charge.refunded", CHARGE | {"payment_intent": None}),
        stripe("charge.dispute.created", DISPUTE | {"payment_intent": None}),
        stripe("charge.dispute.closed", DISPUTE | {"status": "charge_refunded"}),
        b'{"id":"evt_1","type":"payment.succeeded","data":{"checkoutId":"x"}}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{}}',
        b'{"id":"evt_1","type":"Payment.Succeeded","data":{"checkoutId":"%b"}}' % CHECKOUT.encode(),
    ],
)
def test_what_is_about_nothing_of_ours(body: bytes):
    assert read_event(body, None).kind is EventKind.IGNORED


def without(object: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in object.items() if key != name}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'\xef\xbb\xbf{"id":"evt_1","type":"x"}',
        b'{"id":"evt_1"}',
        b'{"id":7,"type":"x"}',
        b'{"type":"x"}',
        b'{"id":"","type":"x"}',
        b'{"id":"a b","type":"x"}',
        b'{"id":"%b","type":"x"}' % (b"x" * 256),
        b'{"id":"evt_1","type":"x","livemode":"yes"}',
        b'{"id":"evt_1","type":"x","data":' + b"[" * 200_000,
        b'{"id":"evt_1","type":"payment.succeeded","data":null}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{"checkoutId":5}}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{"amount":-1}}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{"amount":1.5}}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{"amount":"5"}}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{"amount":1' + b"0" * 5_000 + b"}}",
        b'{"id":"evt_1","type":"payment.succeeded","data":{"currency":"euro"}}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{"currency":"eu\\u0000"}}',
        b'{"id":"evt_1","type":"payment.succeeded","data":{"providerRef":"a b"}}',
        b'{"id":"evt_1","type":"checkout.session.completed"}',
        b'{"id":"evt_1","type":"checkout.session.completed","data":{"object":[]}}',
        stripe(COMPLETED, SESSION_OBJECT | {"payment_status": "perhaps"}),
        stripe(COMPLETED, SESSION_OBJECT | {"amount_total": -1}),
        stripe(COMPLETED, SESSION_OBJECT | {"id": ""}),
        stripe(COMPLETED, without(SESSION_OBJECT, "payment_status")),
        stripe("charge.refunded", without(CHARGE, "amount_refunded")),
        stripe("charge.dispute.closed", without(DISPUTE, "status")),
    ],
)
def test_what_cannot_be_read(body: bytes):
    with pytest.raises(MalformedJson) as raised:
        read_event(body, None)
    assert raised.value.__cause__ is None


PLAIN = [
    ("checkout.completed", EventKind.COMPLETED),
    ("checkout.expired", EventKind.EXPIRED),
    ("payment.succeeded", EventKind.PAID),
    ("payment.failed", EventKind.FAILED),
    ("payment.disputed", EventKind.DISPUTED),
]


@pytest.mark.parametrize(("type", "kind"), PLAIN)
def test_event_types_of_the_plain_form_are_read(type: str, kind: EventKind):
    data = {"checkoutId": CHECKOUT.upper(), "providerRef": "tx/1", "amount": 5, "currency": "EUR", "more": 1}
    body = json.dumps({"type": type, "timestamp": "2026-11-23T00:00:00Z", "data": data}).encode()
    assert read_event(body, "msg_1") == ProviderEvent(
        id="msg_1", kind=kind, checkout_id=CHECKOUT, payment_ref="tx/1", amount=5, currency="eur"
    )


@pytest.mark.parametrize("amount", [None, 5])
def test_a_plain_refund(amount: int | None):
    """Its amount is what went back; without one it is all."""
    data = {"purchaseId": PURCHASE} | ({} if amount is None else {"amount": amount})
    body = json.dumps({"id": "own", "type": "payment.refunded", "data": data, "livemode": True}).encode()
    expected = ProviderEvent(
        id="own",
        kind=EventKind.REFUNDED,
        purchase_id=PURCHASE,
        refunded_amount=amount,
        refund_adds=True,
        live=True,
    )
    assert read_event(body, None) == expected


def test_the_id_of_the_signature_counts_more_than_that_of_the_body():
    found = read_event(stripe(COMPLETED, SESSION_OBJECT), "msg_7")
    assert found.id == "msg_7"


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (b'{"id":"evt_1"}', "/type: this field is required"),
        (b'{"id":"evt_1","type":"payment.succeeded","data":[]}', "/data: expected object, got array"),
        (
            b'{"id":"evt_1","type":"payment.succeeded","data":{"amount":"5"}}',
            "/data/amount: expected integer | null, got string",
        ),
        (
            stripe("charge.refunded", without(CHARGE, "amount_refunded")),
            "/data/object/amount_refunded: this field is required",
        ),
    ],
)
def test_a_sender_learns_what_is_wrong_with_an_event(body: bytes, wrong: str):
    with pytest.raises(MalformedJson) as raised:
        read_event(body, None)
    assert str(raised.value) == f"the event is not of a known form: {wrong}"


def test_a_sender_learns_that_an_event_has_no_id():
    with pytest.raises(MalformedJson, match=r"^the event has no id"):
        read_event(b'{"type":"checkout.completed","data":{}}', None)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_any_object_is_read_or_refused(object: Any):
    for type in (
        "checkout.session.completed",
        "charge.refunded",
        "charge.dispute.closed",
        "payment.refunded",
    ):
        try:
            found = read_event(stripe(type, object), None)
        except MalformedJson:
            continue
        assert found.kind is EventKind.IGNORED
