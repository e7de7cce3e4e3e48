"""Webhooks of payment providers (contract §10)."""

from msgspec.structs import replace

from actors.shop.provider_events import EventKind, ProviderEvent
from actors.shop.units_provider import take_event
from persistence.users.audit import Stamp
from routes.call import Call
from routes.changes import change_by_itself
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import MalformedJson, Unauthenticated
from routes.edge.principal import PUBLIC
from routes.edge.wire import Wire
from routes.rates import WEBHOOK
from routes.shop import signatures
from routes.shop.parts import SENDERS
from routes.shop.provider_events import read_event
from routes.shop.reactions import PurchasesOf

WEBHOOK_MAX_BYTES = 256 * 1024
"""The largest body."""

_UNSIGNED = "the signature is missing or not valid"


class WebhookTaken(Wire, frozen=True):
    """The event has arrived, and what follows from it is committed.

    Args:
        duplicate: it came before, and has no effect now.
    """

    received: bool
    duplicate: bool


def says_signed(call: Call) -> None:
    """Guard: requires headers of a signature, before the body is read; whether it holds depends on the body.

    Raises:
        Unauthenticated: there are none, or no secret is known.
    """
    if not signatures.says_signed(call.headers, call.service.of(SENDERS).secrets):
        raise Unauthenticated(_UNSIGNED)


@endpoint(
    "POST",
    "/v1/shop/webhooks",
    needs=PUBLIC,
    rate=WEBHOOK,
    max_bytes=WEBHOOK_MAX_BYTES,
    refusals=(Unauthenticated, MalformedJson),
    guard=says_signed,
)
async def receive_webhook(call: Call, body: bytes) -> WebhookTaken:
    """Takes what a payment provider tells, once.

    Signed by Stripe (`Stripe-Signature`), or by the three headers of Standard Webhooks. A signature that is missing,
    wrong or more than five minutes off is a 401. Events of other types, and about nothing of this service, are a 200
    without effect. The answer is sent when all that follows is committed; until then the sender repeats.
    """
    senders = call.service.of(SENDERS)
    signed = signatures.verify(call.headers, body, senders.secrets, call.now_ms // 1000)
    if signed is None:
        raise Unauthenticated(_UNSIGNED)
    event = read_event(body, signed.id)
    if event.live is not None and senders.live is not None and event.live != senders.live:
        event = replace(event, kind=EventKind.IGNORED)
    # Two senders may give the same name to different events.
    event = replace(event, id=f"{signed.family}:{event.id}")
    stamp = Stamp(call.new_id(), call.now_ms, None, call.request_id)
    duplicate = await change_by_itself(call.service, take_event, event, stamp, about=_about(event))
    return WebhookTaken(received=True, duplicate=duplicate)


def _about(event: ProviderEvent) -> PurchasesOf:
    return PurchasesOf(event.checkout_id or event.purchase_id or event.payment_ref or "")
