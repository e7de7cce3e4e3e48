"""Stripe: the part of its API that the service uses, with idempotent replay, and all that can happen to a payment."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import trio

from scripts.upstreams.deliveries import Deliveries, Event
from scripts.upstreams.faults import INSTEAD, Faults
from scripts.upstreams.http import Reply, Request, as_json
from scripts.upstreams.pages import paid_page, pay_page
from scripts.upstreams.signing import stripe_signature
from scripts.upstreams.stripe_sessions import BadParameter, StripeSession, opened

API_VERSION = "2026-10-28.endive"
SESSIONS = "/v1/checkout/sessions"
KEY = "sk_test_local"
WEBHOOK_SECRET = "whsec_local"  # noqa: S105 (of this machine alone)

_TYPES = {
    401: "invalid_request_error",
    402: "card_error",
    409: "idempotency_error",
    429: "invalid_request_error",
}
_CODES = {402: "card_declined", 409: "idempotency_key_in_use", 429: "rate_limit"}


class NotPossible(ValueError):
    """The session is not in a state in which this can happen."""


@dataclass(frozen=True, slots=True)
class _Stored:
    asked: tuple[str, bytes]
    reply: Reply


class StripeSite:
    """One Stripe account.

    Args:
        key: the secret key that the API takes.
        webhook_url: the address that events are sent to; None = events are not sent.
        webhook_secret: the secret that signs events.
        now_s: Stripe's clock, returns epoch seconds.

    Attributes:
        base_url: the site's address, below which its pages are; set by the server that it is part of.
        faults: the faults that requests meet.
        deliveries: events on their way.
        sessions: {id: session}, in the order in which they were made.
        events: all events, in the form in which they were or will be sent.
        asked: (method, path, Idempotency-Key or "") of each request to the API.
        live: whether events say that they are about real money.
        page: the address of the payment page of sessions that are made from now on; None for the site's own.
    """

    def __init__(
        self,
        *,
        key: str = KEY,
        webhook_url: str | None = None,
        webhook_secret: str = WEBHOOK_SECRET,
        now_s: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self.base_url = ""
        self.key = key
        self.webhook_secret = webhook_secret
        self.faults = Faults()
        self.deliveries = Deliveries(webhook_url, self._signed)
        self.sessions: dict[str, StripeSession] = {}
        self.events: list[Event] = []
        self.asked: list[tuple[str, str, str]] = []
        self.live = False
        self.page: str | None = None
        self._now_s = now_s
        self._answers: dict[str, _Stored] = {}

    async def answer(self, request: Request) -> Reply:
        """Answer a request to the API or to a page."""
        if request.path.startswith("/pay/"):
            return self._page(request)
        self.asked.append((request.method, request.path, request.headers.get("idempotency-key", "")))
        fault = self.faults.take(request)
        if fault is None:
            return self._api(request)
        if fault.name in INSTEAD:
            fault.reached.set()
            return self._failed(request, INSTEAD[fault.name])
        return await self.faults.distorted(self._api(request), fault)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Send the events, until cancelled."""
        await self.deliveries.run(task_status)

    def control(self, line: str, body: Mapping[str, Any]) -> Reply | None:
        """Let something happen to a session, or say how events are sent; None where there is no such route.

        Raises:
            ValueError, KeyError: there is no such session or happening, or the session is not in a state for it.
        """
        match line:
            case "GET /sessions":
                return as_json(200, [session.shown() for session in self.sessions.values()])
            case "POST /sessions":
                dict(_happenings(self))[body["do"]](str(body["session"]))
            case "POST /delivery":
                self.deliveries.copies = int(body.get("copies", self.deliveries.copies))
                self.deliveries.held = bool(body.get("held", self.deliveries.held))
            case "POST /flush":
                self.deliveries.flush(body.get("order", "same"))
            case _:
                return None
        return as_json(200, {})

    def pay(self, id: str, *, delayed: bool = False) -> None:
        """Have the payer pay.

        Args:
            id: the session's id.
            delayed: whether they pay by a method where the money comes later, or never.

        Raises:
            NotPossible: the session is not open.
        """
        session = self._open(id)
        session.status = "complete"
        session.payment_status = "unpaid" if delayed else "paid"
        session.payment_intent = f"pi_{session.number:024d}"
        self._happened("checkout.session.completed", session.shown())

    def settle(self, id: str, *, arrived: bool = True) -> None:
        """Have the money of a delayed payment arrive, or fail to.

        Raises:
            NotPossible: the session waits for no money.
        """
        session = self._session(id)
        if (session.status, session.payment_status) != ("complete", "unpaid"):
            raise NotPossible(f"session {id} waits for no money")
        if arrived:
            session.payment_status = "paid"
        name = "succeeded" if arrived else "failed"
        self._happened(f"checkout.session.async_payment_{name}", session.shown())

    def expire(self, id: str) -> None:
        """End a session without payment.

        Raises:
            NotPossible: the session is not open.
        """
        session = self._open(id)
        session.status = "expired"
        self._happened("checkout.session.expired", session.shown())

    def refund(self, id: str, amount: int | None = None) -> None:
        """Refund a payment.

        Args:
            id: the session's id.
            amount: how much goes back, in the currency's smallest unit; None for all that is left.

        Raises:
            NotPossible: the session was not paid, or not so much is left.
        """
        session = self._paid(id)
        left = session.amount_total - session.refunded
        part = left if amount is None else amount
        if not 0 < part <= left:
            raise NotPossible(f"{left} are left of session {id}")
        session.refunded += part
        self._happened("charge.refunded", session.charge())

    def dispute(self, id: str, *, status: str = "needs_response") -> None:
        """Have the payer's bank dispute the payment; the status `won` or `lost` ends a dispute.

        Raises:
            NotPossible: the session was not paid.
        """
        session = self._paid(id)
        session.dispute = status
        closed = status in {"won", "lost"}
        session.disputes += not closed
        self._happened("charge.dispute.closed" if closed else "charge.dispute.created", session.disputed())

    def expire_due(self) -> None:
        """End the sessions whose time is over."""
        for session in list(self.sessions.values()):
            if session.status == "open" and session.expires_at <= self._now_s():
                self.expire(session.id)

    def _api(self, request: Request) -> Reply:
        refused = self._unauthorised(request)
        if refused is not None:
            return refused
        self.expire_due()
        if (request.method, request.path) == ("POST", SESSIONS):
            return self._once(request, lambda: self._create(request))
        id, _, action = request.path.removeprefix(f"{SESSIONS}/").partition("/")
        if id not in self.sessions or (request.method, action) not in {("GET", ""), ("POST", "expire")}:
            return _error(404, "invalid_request_error", "resource_missing", f"No such checkout.session: {id}")
        if action == "expire":
            if self.sessions[id].status != "open":
                return _error(400, "invalid_request_error", "", "Only open Checkout Sessions can be expired.")
            self.expire(id)
        return as_json(200, self.sessions[id].shown())

    def _unauthorised(self, request: Request) -> Reply | None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.key:
            # Stripe, too, repeats the key that it was given.
            return _error(401, "invalid_request_error", "", f"Invalid API Key provided: {given}")
        if request.headers.get("stripe-version") != API_VERSION:
            return _error(400, "invalid_request_error", "", "Invalid Stripe API version")
        return None

    def _create(self, request: Request) -> Reply:
        try:
            form = request.form()
            session = opened(form, len(self.sessions) + 1, self.base_url, self._now_s())
        except BadParameter as error:
            return _error(400, "invalid_request_error", error.code, f"refused: {error.parameter}")
        except ValueError:
            return _error(400, "invalid_request_error", "", "the body is no form")
        if self.page is not None:
            session.url = self.page
        self.sessions[session.id] = session
        return as_json(200, session.shown())

    def _once(self, request: Request, make: Callable[[], Reply]) -> Reply:
        """The stored answer of the first request with the same Idempotency-Key, or that of `make`."""
        key = request.headers.get("idempotency-key")
        if key is None:
            return make()
        if not 1 <= len(key) <= 255:
            return _error(400, "idempotency_error", "", "the key is too long")
        stored = self._answers.get(key)
        if stored is None:
            stored = self._answers[key] = _Stored((request.path, request.body), make())
        elif stored.asked != (request.path, request.body):
            return _error(
                400, "idempotency_error", "", "Keys for idempotent requests need the same parameters"
            )
        return stored.reply

    def _failed(self, request: Request, status: int) -> Reply:
        reply = _error(status, _TYPES.get(status, "api_error"), _CODES.get(status, ""), "it went wrong")
        # Failures are stored as any answer is, but not refusals of requests that were not begun.
        return self._once(request, lambda: reply) if status in {400, 402, 500} else reply

    def _page(self, request: Request) -> Reply:
        self.expire_due()
        session = self.sessions.get(request.path.removeprefix("/pay/"))
        if session is None:
            return Reply(404, b"There is no such session.", "text/plain")
        if request.method != "POST":
            return pay_page(session)
        action = request.form().get("action", "")
        with suppress(NotPossible):
            if action in {"pay", "later"}:
                self.pay(session.id, delayed=action == "later")
            else:
                return Reply(303, headers=(("Location", session.cancel_url),))
        return paid_page(session)

    def _session(self, id: str) -> StripeSession:
        session = self.sessions.get(id)
        if session is None:
            raise NotPossible(f"there is no session {id}")
        return session

    def _open(self, id: str) -> StripeSession:
        session = self._session(id)
        if session.status != "open":
            raise NotPossible(f"session {id} is {session.status}")
        return session

    def _paid(self, id: str) -> StripeSession:
        session = self._session(id)
        if session.payment_status != "paid":
            raise NotPossible(f"session {id} was not paid")
        return session

    def _happened(self, type: str, object: dict[str, Any]) -> None:
        id = f"evt_{len(self.events) + 1:024d}"
        value = {
            "id": id, "object": "event", "api_version": API_VERSION, "created": self._now_s(),
            "data": {"object": object}, "livemode": self.live, "pending_webhooks": 1,
            "request": {"id": None, "idempotency_key": None}, "type": type,
        }  # fmt: skip
        # Stripe sends its objects with line breaks, indented by two spaces.
        event = Event(id, json.dumps(value, indent=2).encode())
        self.events.append(event)
        self.deliveries.put(event)

    def _signed(self, event: Event) -> dict[str, str]:
        return {"stripe-signature": stripe_signature(self.webhook_secret, event.body, self._now_s())}


def _happenings(site: StripeSite) -> Iterator[tuple[str, Callable[[str], None]]]:
    """All that can happen to a session, as (name, function that takes the session's id)."""
    yield "pay", site.pay
    yield "pay-later", lambda id: site.pay(id, delayed=True)
    yield "settle", site.settle
    yield "fail", lambda id: site.settle(id, arrived=False)
    yield "expire", site.expire
    yield "refund", site.refund
    yield "dispute", site.dispute
    yield "win", lambda id: site.dispute(id, status="won")
    yield "lose", lambda id: site.dispute(id, status="lost")


def _error(status: int, type: str, code: str, message: str) -> Reply:
    error = {"type": type, "message": message} | ({"code": code} if code else {})
    return as_json(status, {"error": error})
