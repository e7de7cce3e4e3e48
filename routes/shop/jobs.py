"""Periodic jobs of the shop: end checkouts, ask about payments whose webhook was lost, settle ended rights, prune."""

from functools import partial

import structlog
from msgspec.structs import replace

from actors.change import Change
from actors.shop.entitling import settle, settles
from actors.shop.moves import CheckoutMove
from actors.shop.provider_events import EventKind, ProviderEvent
from actors.shop.units_checkout import Placed, end_checkout
from actors.shop.units_provider import take_answer
from actors.time import DAY_MS
from actors.users.events import UserChanged
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.shop import checkouts, entitlements, purchases, webhook_events
from persistence.shop.checkouts import Checkout
from persistence.shop.entitlements import EndedGrant
from persistence.users.audit import Stamp
from routes.changes import change_by_itself
from routes.jobs import Job, OneOfMany
from routes.pruning import Pruning, rows_of
from routes.service import Service
from routes.shop.parts import PROVIDER
from routes.shop.provider import Provider, ProviderAway, ProviderRefused
from routes.shop.reactions import PurchasesOf
from routes.shop.sessions import Sessions

OVERDUE_MS = 5 * 60 * 1000
"""How long after its expiry a checkout is ended: a payment may be on its way."""

UNASKED_MS = 10 * 60 * 1000
"""How long after the last question the provider is asked again about a checkout, in case a webhook was lost; also the
age at which a checkout without a session is given up."""

UNPAID_MS = 30 * DAY_MS
"""How long money may be on its way; delayed payments take two weeks at most."""

A_RUN = 50
"""How many checkouts one run attends to."""

LOOKED_BACK_MS = 7 * DAY_MS
"""How far back a node looks, when it first settles users, for rights that ended while no node ran: far longer than the
service is ever away."""

KEPT_MS = 90 * DAY_MS
"""How long checkouts that were not completed and ids of webhooks are kept."""

log = structlog.get_logger()


def jobs_of(service: Service) -> tuple[Job, ...]:
    """All jobs of the shop."""
    now_ms = service.clock.now_ms

    async def old_checkouts(conn: Connection, limit: int) -> int:
        return await checkouts.prune_checkouts(conn, limit, before_ms=now_ms() - KEPT_MS)

    async def old_events(conn: Connection, limit: int) -> int:
        return await webhook_events.prune_events(conn, limit, before_ms=now_ms() - KEPT_MS)

    pruning = partial(Pruning, most=1_000)
    return (
        Job("checkouts", 30, partial(_attend, service), one_node=True),
        Job("bought rights that are over", 60, Pruning(Settling(service).take, most=100).run, one_node=True),
        Job("old checkouts", 3600, pruning(rows_of(service.database, old_checkouts)).run, one_node=True),
        Job("old webhooks", 3600, pruning(rows_of(service.database, old_events)).run, one_node=True),
    )


async def _attend(service: Service) -> bool:
    """Ask the provider about its checkouts, and end others that are overdue; returns False if some may be left.

    Raises:
        PersistenceError: the database failed; the rest waits for the next run.
    """
    now_ms = service.clock.now_ms()
    provider = service.of(PROVIDER)
    unasked: list[Checkout] = []
    if provider is not None:
        unasked = await service.database.read(
            checkouts.list_unasked, provider.name, now_ms - UNASKED_MS, A_RUN
        )
        for checkout in unasked:
            with OneOfMany("asking about a checkout", checkout.id):
                await _ask(service, provider, checkout)
    # Those of the present provider end only when it agrees, for which it was asked above.
    list_overdue = partial(checkouts.list_overdue, but_of=None if provider is None else provider.name)
    overdue = await service.database.read(list_overdue, now_ms - OVERDUE_MS, A_RUN)
    ended = 0
    for checkout in overdue:
        with OneOfMany("ending a checkout", checkout.id) as ending:
            await _end(service, checkout, CheckoutMove.EXPIRE)
        ended += ending.failure is None
    return len(unasked) < A_RUN and (len(overdue) < A_RUN or not ended)


async def _ask(service: Service, provider: Provider, checkout: Checkout) -> None:
    """Ask the provider how a checkout stands; one that never got a session, or is overdue, is ended there first."""
    await change_by_itself(service, checkouts.note_asked, checkout.id, service.clock.now_ms(), about=None)
    placed = Placed(checkout, await service.database.read(purchases.of_checkout, checkout.id))
    sessions = Sessions(service, provider)
    overdue = checkout.expires_at_ms + OVERDUE_MS <= service.clock.now_ms()
    try:
        if checkout.status == "open" and checkout.session_ref is None:
            await _finish(service, checkout, await sessions.end(placed), CheckoutMove.CANCEL)
        elif checkout.status == "open" and overdue:
            await _finish(service, checkout, await sessions.end(placed), CheckoutMove.EXPIRE)
        else:
            event = await sessions.ask(placed)
            await _finish(service, checkout, _given_up(service, checkout, event), None)
    except ProviderAway:
        log.warning("the payment provider did not answer about a checkout", checkout_id=checkout.id)
    except ProviderRefused as refused:
        log.error("the payment provider refused", checkout_id=checkout.id, why=str(refused))  # noqa: TRY400 - as in checkout.py
        if checkout.status == "open" and (checkout.session_ref is None or overdue):
            await _end(service, checkout, CheckoutMove.CANCEL)


async def _finish(
    service: Service, checkout: Checkout, event: ProviderEvent | None, move: CheckoutMove | None
) -> None:
    """Apply what the provider has said, or end the checkout when it said nothing and a move is given."""
    if event is not None:
        about = PurchasesOf(checkout.id)
        await change_by_itself(service, take_answer, event, _stamp(service), about=about)
    elif move is not None:
        await _end(service, checkout, move)


def _given_up(service: Service, checkout: Checkout, event: ProviderEvent | None) -> ProviderEvent | None:
    """What the provider has said; or, if the money has been on its way for too long, an event that it does not come.
    Should it come nevertheless, it counts."""
    if event is None or event.kind is not EventKind.COMPLETED_UNPAID:
        return event
    too_long = checkout.created_at_ms + UNPAID_MS <= service.clock.now_ms()
    return replace(event, kind=EventKind.FAILED) if too_long else event


async def _end(service: Service, checkout: Checkout, move: CheckoutMove) -> None:
    await change_by_itself(
        service, end_checkout, checkout.id, move, _stamp(service), about=PurchasesOf(checkout.id)
    )


class Settling:
    """Settles users of whom some right has ended: updates their tier, and what they wear.

    Args:
        service: gives the clock and the database.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._place: EndedGrant | None = None  # the last one that was looked at; None before the first

    async def take(self, limit: int) -> bool:
        """Settle at most `limit` users whose purchases have ended, and as many whose grants have; returns whether there
        may be more.

        Cancellation: those who are settled stay so, and the next call finds the others.

        Raises:
            PersistenceError: the database cannot be asked; the next call begins with those who are left.
        """
        bought = await self._bought(limit)
        return await self._granted(limit) or bought

    async def _bought(self, limit: int) -> bool:
        """Settle users whose purchases have ended."""
        now_ms = self._service.clock.now_ms()
        found = await self._service.database.read(entitlements.users_of_ended, now_ms, limit)
        settled = [user_id for user_id in found if await self._settle(user_id, now_ms)]
        # The rows of a batch may all be of one user, so only a batch in which nobody could be settled is the last one.
        return bool(settled)

    async def _granted(self, limit: int) -> bool:
        """Settle users for whom an admin's temporary grant has ended: a denied tier comes back, a granted cape goes."""
        now_ms = self._service.clock.now_ms()
        after = self._place or EndedGrant(now_ms - LOOKED_BACK_MS, "", "")
        found = await self._service.database.read(entitlements.grants_ended, after, now_ms, limit)
        for one in found:
            if settles(one.node):
                await self._settle(one.user_id, now_ms, moved=one.node)
        self._place = found[-1] if found else self._place
        return len(found) >= limit

    async def _settle(self, user_id: str, now_ms: int, *, moved: str | None = None) -> bool:
        async def one(conn: Connection) -> Change[None]:
            await require_user(conn, user_id)
            await settle(conn, user_id, now_ms, moved=moved)
            return Change(None, (UserChanged(user_id),))

        with OneOfMany("settling rights", user_id) as settling:
            await change_by_itself(self._service, one, about=f"rights of {user_id}")
        return settling.failure is None


def _stamp(service: Service) -> Stamp:
    now_ms = service.clock.now_ms()
    return Stamp(service.ids.new(now_ms), now_ms, None, None)
