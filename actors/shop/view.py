"""A user's purchases as a view: the newest 100 that they pay or receive."""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

import msgspec
from msgspec.structs import replace

from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Event, Peek, View
from actors.own_views import owner_only
from actors.shop.public import PurchaseEntry, purchase_entry
from persistence.connection import Connection
from persistence.shop import purchases
from persistence.shop.purchases import Purchase, WantedPurchases

NAME = "shop"
"""The name of the view and of its channel."""

SHOWN = 100
"""How many purchases a snapshot has."""


class PurchasesSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The first frame: the newest 100 purchases, newest first."""

    type: Literal["purchases_snapshot"] = "purchases_snapshot"
    items: tuple[PurchaseEntry, ...]


class PurchaseUpdated(msgspec.Struct, frozen=True, rename="camel"):
    """The data of `purchase_updated`: a purchase that is new or has changed."""

    purchase: PurchaseEntry


class ShopState(msgspec.Struct, frozen=True):
    """One user's purchases, the newest first.

    Args:
        items: the newest 100.
        moved: the purchases that were read again last, also older ones.
    """

    user_id: str
    items: tuple[Purchase, ...]
    moved: tuple[Purchase, ...] = ()


class PurchaseMoved(Event, frozen=True):
    """A purchase is new or has changed."""

    purchase: Purchase


async def load(conn: Connection, user_id: str) -> ShopState:
    """Read a user's purchases from rows; none for a user without any."""
    rows = await purchases.list_purchases(conn, WantedPurchases(user_id=user_id, limit=SHOWN))
    return ShopState(user_id, tuple(rows))


def snapshot(state: ShopState, _audience: None) -> PurchasesSnapshot:
    """The frame; the same for all viewers (`_audience`)."""
    return PurchasesSnapshot(items=tuple(purchase_entry(one, state.user_id) for one in state.items))


def delta(state: ShopState, event: PurchaseMoved, _audience: None) -> Delta:
    """The event as delta subscribers see it, the same for all viewers (`_audience`)."""
    return Delta("purchase_updated", PurchaseUpdated(purchase_entry(event.purchase, state.user_id)))


def absorb(state: ShopState, found: Sequence[Purchase]) -> ShopState:
    """Take in purchases that were read again."""
    merged = {one.id: one for one in (*state.items, *found)}
    items = sorted(merged.values(), key=lambda one: one.seq, reverse=True)[:SHOWN]
    return replace(state, items=tuple(items), moved=tuple(found))


def events(before: ShopState, after: ShopState, _sources: Collection[str]) -> Sequence[PurchaseMoved]:
    """The purchases that were read again and are not as they were, the oldest first."""
    known = {one.id: one for one in before.items}
    return [PurchaseMoved(one) for one in reversed(after.moved) if one != known.get(one.id)]


def _differing(shown: ShopState, stored: ShopState) -> Collection[str]:
    known = {one.id: one for one in shown.items}
    return [one.id for one in stored.items if one != known.get(one.id)]


def _take(state: ShopState, sources: AbstractSet[str], _peek: Peek) -> tuple[ShopState, AbstractSet[str]]:
    return state, sources


async def _reread(conn: Connection, _user_id: str, sources: AbstractSet[str]) -> Sequence[Purchase]:
    return await purchases.read_purchases(conn, sources)


SHOP: View[ShopState] = View(
    name=NAME,
    load=load,
    reread=_reread,
    take=_take,
    absorb=absorb,
    rendering=Rendering(audience=owner_only, render=snapshot, render_event=delta),
    events=events,
    differing=_differing,
)
"""The view; a constant, because it needs nothing but the rows."""
