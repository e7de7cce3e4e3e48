"""Periodic jobs of the shop: end checkouts, ask about payments whose webhook was lost, settle ended rights, prune."""

from functools import partial
from itertools import islice

import structlog
from msgspec.structs import replace

from actors.change import Change
from actors.errors import NotFound
from actors.kernel.mailbox import Failure
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
from persistence.shop.entitlements import EndedGrant, EndedRight
from persistence.users.audit import Stamp
from routes.changes import change_by_itself
from routes.jobs import Job, OneOfMany
from routes.pruning import EachOf, Pruning, rows_of
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

MOST_FAILED = 1_000
"""Most ended grants that could not be settled and are tried again; of further ones the oldest waits for a restart."""

SETTLING = "settling rights"
"""What settling a user is called in the log."""

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
        Job("checkouts", 30, Attending(service).run, one_node=True),
        Job("bought rights that are over", 60, Pruning(Settling(service).take, most=100).run, one_node=True),
        Job("old checkouts", 3600, pruning(rows_of(service.database, old_checkouts)).run, one_node=True),
        Job("old webhooks", 3600, pruning(rows_of(service.database, old_events)).run, one_node=True),
    )


class Attending:
    """Asks the provider about its checkouts, and ends others that are overdue.

    Args:
        service: gives the clock, the database and the provider.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._overdue = EachOf(
            self._list_overdue,
            lambda checkout: _end(service, checkout, CheckoutMove.EXPIRE),
            doing="ending a checkout",
            about=lambda checkout: checkout.id,
        )

    async def run(self) -> bool:
        """Attend to at most `A_RUN` checkouts of either sort; returns False if some may be left.

        Cancellation: the rest waits for the next run.

        Raises:
            PersistenceError: the database failed; the rest waits for the next run.
        """
        asked_all = await self._ask_some()
        return not await self._overdue.take(A_RUN) and asked_all

    async def _ask_some(self) -> bool:
        service, provider = self._service, self._service.of(PROVIDER)
        if provider is None:
            return True
        before_ms = service.clock.now_ms() - UNASKED_MS
        unasked = await service.database.read(checkouts.list_unasked, provider.name, before_ms, A_RUN)
        for checkout in unasked:
            with OneOfMany("asking about a checkout", checkout.id, service.housekeeping.failing):
                await _ask(service, provider, checkout)
        return len(unasked) < A_RUN

    async def _list_overdue(self, after: Checkout | None, limit: int) -> list[Checkout]:
        # Those of the present provider end only when it agrees, for which it is asked.
        provider = self._service.of(PROVIDER)
        listing = partial(checkouts.list_overdue, but_of=None if provider is None else provider.name)
        before_ms = self._service.clock.now_ms() - OVERDUE_MS
        place = None if after is None else (after.expires_at_ms, after.id)
        return await self._service.database.read(listing, place, before_ms, limit)


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
        self._bought = EachOf(
            self._list_bought,
            lambda one: self._settle(one.user_id),
            doing=SETTLING,
            about=lambda one: one.user_id,
        )
        self._place: EndedGrant | None = None  # the last one that was looked at; None before the first
        self._failed: dict[EndedGrant, None] = {}  # those before it that are still to be settled

    async def take(self, limit: int) -> bool:
        """Settle at most `limit` users whose purchases have ended, and as many whose grants have; returns whether there
        may be more.

        Cancellation: those who are settled stay so, and the next call finds the others.

        Raises:
            PersistenceError: the database cannot be asked; the next call begins with those who are left.
        """
        more_bought = await self._bought.take(limit)
        return await self._granted(limit) or more_bought

    async def _list_bought(self, after: EndedRight | None, limit: int) -> list[EndedRight]:
        now_ms = self._service.clock.now_ms()
        return await self._service.database.read(entitlements.users_of_ended, after, now_ms, limit)

    async def _granted(self, limit: int) -> bool:
        """Settle users for whom an admin's temporary grant has ended: a denied tier comes back, a granted cape goes."""
        now_ms = self._service.clock.now_ms()
        after = self._place or EndedGrant(now_ms - LOOKED_BACK_MS, "", "")
        found = await self._service.database.read(entitlements.grants_ended, after, now_ms, limit)
        # A copy, since those that fail once more change places.
        for one in (*islice(self._failed, limit), *found):
            if settles(one.node):
                with OneOfMany(SETTLING, one.user_id, self._service.housekeeping.failing) as settling:
                    await self._settle(one.user_id, moved=one.node)
                self._note(one, settling.failure)
        self._place = found[-1] if found else self._place
        return len(found) >= limit

    def _note(self, one: EndedGrant, failure: Failure | None) -> None:
        """Remember a grant that could not be settled, at the end of those that are tried again; forget one that was."""
        self._failed.pop(one, None)
        if failure is not None and not isinstance(failure, NotFound):  # erased meanwhile
            self._failed[one] = None
            if len(self._failed) > MOST_FAILED:
                del self._failed[next(iter(self._failed))]

    async def _settle(self, user_id: str, *, moved: str | None = None) -> None:
        now_ms = self._service.clock.now_ms()

        async def one(conn: Connection) -> Change[None]:
            await require_user(conn, user_id)
            await settle(conn, user_id, now_ms, moved=moved)
            return Change(None, (UserChanged(user_id),))

        await change_by_itself(self._service, one, about=f"rights of {user_id}")


def _stamp(service: Service) -> Stamp:
    now_ms = service.clock.now_ms()
    return Stamp(service.ids.new(now_ms), now_ms, None, None)
