"""Sessions of the payment provider for checkouts: made, ended and asked about.

The provider is asked outside of any transaction. Each question can be repeated after a crash: a session is made under
an idempotency key that belongs to its checkout, so that asking again finds it.
"""

from dataclasses import dataclass

from actors.shop.provider_events import EventKind, ProviderEvent
from actors.shop.units_checkout import Placed
from persistence.connection import Connection
from persistence.shop.checkouts import note_attempt
from persistence.shop.products import read_named
from routes.changes import change_by_itself
from routes.service import Service
from routes.shop.provider import Provider, ProviderAway, Session, SessionLine, SessionOrder, event_of

ATTEMPTS = 2
"""How often the provider is asked for one session before the caller is told that it failed."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of a provider.

    Args:
        service: gives the database.
        provider: the payment provider.
    """

    service: Service
    provider: Provider

    async def open(self, placed: Placed) -> Session:
        """The session of an open checkout, made now unless it exists already.

        Cancellation: there may be a session; the next call for the same checkout finds it.

        Raises:
            ProviderAway, ProviderRefused: as `Provider.open_session`.
            PersistenceError: the database failed.
        """
        checkout = placed.checkout
        order = await self._order(placed)
        for attempt in range(checkout.attempt, checkout.attempt + ATTEMPTS):
            try:
                return await self.provider.open_session(
                    SessionOrder(
                        checkout_id=order.checkout_id, lines=order.lines, currency=order.currency,
                        success_url=order.success_url, cancel_url=order.cancel_url,
                        expires_at_ms=order.expires_at_ms, attempt=attempt,
                    )
                )  # fmt: skip
            except ProviderAway as away:
                if not away.answered:
                    raise
                # The provider repeats its failure under this key for a day.
                await change_by_itself(self.service, note_attempt, checkout.id, attempt + 1, about=None)
        raise ProviderAway(answered=True)

    async def end(self, placed: Placed) -> ProviderEvent | None:
        """End the session of an open checkout; returns the event by which it was completed if the payer was faster, or
        None if the checkout can be ended as well.

        Raises: as `open`.
        """
        ref = placed.checkout.session_ref
        if ref is None:
            ref = (await self.open(placed)).ref
        event = event_of(placed.checkout.id, await self.provider.expire_session(ref))
        return None if event is None or event.kind is EventKind.EXPIRED else event

    async def ask(self, placed: Placed) -> ProviderEvent | None:
        """Ask what has become of a checkout's session; None while it is open, or if there is no session yet.

        Raises: as `open`.
        """
        ref = placed.checkout.session_ref
        return None if ref is None else event_of(placed.checkout.id, await self.provider.read_session(ref))

    async def _order(self, placed: Placed) -> SessionOrder:
        checkout, config = placed.checkout, self.service.config

        async def read(conn: Connection) -> dict[str, str]:
            products = await read_named(conn, [line.product_id for line in placed.lines])
            return {id: product.name for id, product in products.items()}

        names = await self.service.database.read(read)
        home = config.dashboard_url or config.base_url
        return SessionOrder(
            checkout_id=checkout.id,
            lines=[
                SessionLine(names[line.product_id], line.amount // line.quantity, line.quantity)
                for line in placed.lines
            ],
            currency=checkout.currency,
            success_url=checkout.success_url or home,
            cancel_url=checkout.cancel_url or home,
            expires_at_ms=checkout.expires_at_ms,
            attempt=checkout.attempt,
        )
