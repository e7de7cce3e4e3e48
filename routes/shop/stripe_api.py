"""Stripe as a payment provider: sessions of Stripe Checkout (API version 2026-10-28.endive).

Stripe repeats the answer to a request that comes again under the same `Idempotency-Key`, failures of its own included,
for a day at least; the same key with other parameters is an error. So the key is made of the checkout and the number of
the attempt: after a lost answer the same number finds the session, after an answered failure the next one is needed.
"""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import urlencode

import msgspec
import structlog

from persistence.shop.checkouts import ProviderName
from routes.edge.outgoing_http import Answer, AnswerRefused, NotAnswered, Upstream
from routes.edge.outgoing_json import NotUnderstood, decoded
from routes.shop.provider import ProviderAway, ProviderRefused, Session, SessionOrder, SessionState

SECONDS = 5.0
"""The deadline of one request to Stripe."""

MAX_BYTES = 512 * 1024
"""The largest answer that is accepted; a session of a hundred lines takes a tenth of it."""

OPEN_MS = 60 * 60 * 1000
"""How long a session is open. Stripe takes 30 minutes to 24 hours by its own clock, so clocks may differ by half an
hour."""

API_VERSION = "2026-10-28.endive"
PATH = ("v1", "checkout", "sessions")

T = TypeVar("T")

_REF = re.compile(r"[A-Za-z0-9_]{1,255}", re.ASCII)
_URL = re.compile(r"https?://[!-~]{1,4000}", re.ASCII)
_CODE = re.compile(r"[a-z_]{1,64}", re.ASCII)
_KEY_MODE = re.compile(r"[a-z]+_(live|test)_", re.ASCII)

log = structlog.get_logger()

Status: TypeAlias = Literal["open", "complete", "expired"]


class _Opened(msgspec.Struct, frozen=True):
    id: str
    url: str


class _State(msgspec.Struct, frozen=True):
    id: str
    status: Status
    payment_status: Literal["paid", "unpaid", "no_payment_required"]
    amount_total: int
    currency: str
    payment_intent: str | None = None


class _Error(msgspec.Struct, frozen=True):
    type: str = ""
    code: str = ""


class _Failure(msgspec.Struct, frozen=True):
    error: _Error = _Error()


class Stripe:
    """Stripe Checkout, as in `Provider`.

    Args:
        upstream: Stripe's API.
        key: Stripe's secret key, visible ASCII characters.
    """

    name: ProviderName = "stripe"
    open_ms = OPEN_MS

    def __init__(self, upstream: Upstream, key: str) -> None:
        self._upstream = upstream
        self._headers = {
            "authorization": f"Bearer {key}",
            "stripe-version": API_VERSION,
            "accept": "application/json",
        }

    async def open_session(self, order: SessionOrder) -> Session:
        """Make a session, or find the one that the same order and attempt have made.

        The order must be the same as at the last try with this attempt. Cancellation: there may be a session.

        Raises:
            ProviderAway: it is not known whether there is one now; where `answered`, only another attempt can succeed.
            ProviderRefused: there is none.
        """
        idempotency_key = f"partyline-{order.checkout_id}-{order.attempt}"
        answer = await self._ask("POST", PATH, list(_form(order)), idempotency_key=idempotency_key)
        opened = _decoded(answer, _Opened)
        if _REF.fullmatch(opened.id) is None or _URL.fullmatch(opened.url) is None:
            raise _unreadable()
        return Session(opened.id, opened.url)

    async def expire_session(self, ref: str) -> SessionState:
        """End a session; returns how it stands then, which is `complete` when its payer was faster.

        Only an open one can be ended: where Stripe refuses, the session is read. Cancellation: it may have ended.

        Raises:
            ProviderAway, ProviderRefused: as in `open_session`.
        """
        try:
            answer = await self._ask("POST", (*PATH, _ref(ref), "expire"), [])
        except ProviderRefused:
            return await self.read_session(ref)
        return _state(answer, ref)

    async def read_session(self, ref: str) -> SessionState:
        """How a session stands.

        Raises:
            ProviderAway, ProviderRefused: as in `open_session`.
        """
        return _state(await self._ask("GET", (*PATH, _ref(ref))), ref)

    async def _ask(
        self,
        method: str,
        path: tuple[str, ...],
        form: list[tuple[str, str]] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Ask Stripe; returns its answer if that is a success."""
        headers = self._headers
        if form is not None:
            headers = {**headers, "content-type": "application/x-www-form-urlencoded"}
        if idempotency_key is not None:
            headers = {**headers, "idempotency-key": idempotency_key}
        body = None if form is None else urlencode(form).encode("ascii")
        try:
            answer = await self._upstream.ask(method, path, headers=headers, body=body)
        except NotAnswered:
            raise ProviderAway(answered=False) from None
        except AnswerRefused:
            raise _unreadable() from None
        if answer.status >= 300:
            raise _failure(answer)
        return answer


def is_live(key: str) -> bool | None:
    """Whether Stripe's secret key is for real money; None if its form does not say.

    Args:
        key: such as `sk_live_…` or `rk_test_…`.
    """
    form = _KEY_MODE.match(key)
    return None if form is None else form[1] == "live"


def _form(order: SessionOrder) -> Iterator[tuple[str, str]]:
    yield "mode", "payment"
    yield "client_reference_id", order.checkout_id
    yield "metadata[checkoutId]", order.checkout_id
    # Events of refunds and disputes name only the payment, so it carries the checkout's id, too.
    yield "payment_intent_data[metadata][checkoutId]", order.checkout_id
    yield "success_url", order.success_url
    yield "cancel_url", order.cancel_url
    yield "expires_at", str(order.expires_at_ms // 1000)
    for index, line in enumerate(order.lines):
        item = f"line_items[{index}]"
        yield f"{item}[price_data][currency]", order.currency
        yield f"{item}[price_data][unit_amount]", str(line.amount)
        yield f"{item}[price_data][product_data][name]", line.name
        yield f"{item}[quantity]", str(line.quantity)


def _failure(answer: Answer) -> ProviderAway | ProviderRefused:
    """The exception for an answer that is not a success."""
    error = _error(answer)
    if answer.status >= 500:
        return ProviderAway(answered=True)
    if answer.status == 429 or error.code == "idempotency_key_in_use":
        return ProviderAway(answered=False)
    if error.type == "idempotency_error":
        # Part of the order, such as the name of a product, has changed since the last try under this key.
        return ProviderAway(answered=True)
    if answer.status == 409:
        return ProviderAway(answered=False)
    code = error.code if _CODE.fullmatch(error.code) else "no code"
    return ProviderRefused(f"Stripe refuses with status {answer.status} ({code})")


def _error(answer: Answer) -> _Error:
    try:
        return decoded(answer.body, _Failure).error
    except NotUnderstood:
        return _Error()


def _state(answer: Answer, ref: str) -> SessionState:
    state = _decoded(answer, _State)
    payment_ref = state.payment_intent
    if state.id != ref or (payment_ref is not None and _REF.fullmatch(payment_ref) is None):
        raise _unreadable()
    return SessionState(
        ref=ref,
        status=state.status,
        paid=state.payment_status != "unpaid",
        payment_ref=payment_ref,
        amount=state.amount_total,
        currency=state.currency.lower(),
    )


def _decoded(answer: Answer, type: type[T]) -> T:
    try:
        return decoded(answer.body, type)
    except NotUnderstood:
        raise _unreadable() from None


def _unreadable() -> ProviderAway:
    """The exception for an answer that Stripe does not document; asking again may help, and the log tells operators."""
    log.error("Stripe's answer cannot be read")
    return ProviderAway(answered=False)


def _ref(ref: str) -> str:
    """Check the id of a session, which becomes part of a path; returns it."""
    if _REF.fullmatch(ref) is None:
        raise ProviderRefused("not the name of a session")
    return ref
