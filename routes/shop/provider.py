"""The interface of payment providers; and `manual`, where there is none, and an admin says what was paid."""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from actors.shop.provider_events import EventKind, ProviderEvent
from persistence.shop.checkouts import ProviderName

MANUAL_MS = 24 * 60 * 60 * 1000
"""How long a checkout without a provider stays open; an admin marks it as paid."""


class ProviderAway(Exception):
    """The provider did not answer, or its answer does not decide anything.

    Args:
        answered: whether it answered with a failure, which it would repeat under the same idempotency key.
    """

    def __init__(self, *, answered: bool) -> None:
        self.answered = answered
        super().__init__("the payment provider failed" if answered else "the payment provider did not answer")


class ProviderRefused(Exception):
    """The provider will not do this, however often it is asked."""


class SessionLine(msgspec.Struct, frozen=True):
    """One line of what is to be paid; `amount` is the price of one piece in the currency's smallest unit."""

    name: str
    amount: int
    quantity: int


class SessionOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be paid in a session.

    Args:
        currency: three lower-case letters.
        success_url, cancel_url: where the payer's browser goes afterwards.
        expires_at_ms: epoch milliseconds.
        attempt: counts sessions tried for this checkout, from 0; part of the provider's idempotency key.
    """

    checkout_id: str
    lines: Sequence[SessionLine]
    currency: str
    success_url: str
    cancel_url: str
    expires_at_ms: int
    attempt: int


class Session(msgspec.Struct, frozen=True):
    """A page of the provider where a checkout is paid.

    Args:
        ref: the provider's id of the session.
        url: the address of the page.
    """

    ref: str
    url: str


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a session.

    Args:
        status: `complete` once the payer has finished.
        paid: whether the money has arrived.
        payment_ref: the provider's id of the payment; None while there is none.
        amount: the total, in the currency's smallest unit.
    """

    ref: str
    status: Literal["open", "complete", "expired"]
    paid: bool
    payment_ref: str | None
    amount: int
    currency: str


class Provider(Protocol):
    """A payment provider that has sessions."""

    name: ProviderName
    open_ms: int
    """How long a checkout is open."""

    async def open_session(self, order: SessionOrder) -> Session:
        """Make a session, or find the one that the same order and attempt have made.

        Raises:
            ProviderAway: it is not known whether there is one now.
            ProviderRefused: there is none.
        """
        ...

    async def expire_session(self, ref: str) -> SessionState:
        """End a session; returns its state afterwards, which is `complete` if its payer was faster.

        Raises:
            ProviderAway, ProviderRefused: as in `open_session`.
        """
        ...

    async def read_session(self, ref: str) -> SessionState:
        """The state of a session.

        Raises:
            ProviderAway, ProviderRefused: as in `open_session`.
        """
        ...


def event_of(checkout_id: str, state: SessionState) -> ProviderEvent | None:
    """What the state of a session says about its checkout; None while it is open."""
    kind = _KINDS.get((state.status, state.paid))
    if kind is None:
        return None
    return ProviderEvent(
        id=state.ref, kind=kind, checkout_id=checkout_id, session_ref=state.ref, payment_ref=state.payment_ref,
        amount=state.amount, currency=state.currency,
    )  # fmt: skip


_KINDS = {
    ("complete", True): EventKind.COMPLETED,
    ("complete", False): EventKind.COMPLETED_UNPAID,
    ("expired", False): EventKind.EXPIRED,
    ("expired", True): EventKind.COMPLETED,
}  # {(status, paid): what has happened}
