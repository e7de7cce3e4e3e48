"""Give and take the rights that were bought: steps of units of work, inside the caller's transaction.

The recipient's row is locked (`require_user`) by whoever calls these, so that the durations of two purchases follow one
another exactly.
"""

from collections.abc import Iterable
from itertools import groupby

from msgspec.structs import replace

from actors.time import DAY_MS
from actors.users.holding import access_in
from actors.users.permissions import covers
from persistence.capes.choices import read_selection, take_off
from persistence.connection import Connection
from persistence.shop import entitlements as rows
from persistence.shop.entitlements import CAPE, SUPPORTER, TOTEM, Entitlement
from persistence.shop.products import is_on_sale
from persistence.shop.purchases import Purchase, read_sold
from persistence.totems.totems import selected_id, unequip
from persistence.users.permissions import announce


async def give(conn: Connection, purchase: Purchase, recipient_id: str, now_ms: int) -> None:
    """Give the rights of a purchase, once.

    A right with a duration lasts that long for each piece, and begins when the same right of the same product ends that
    the recipient has already.
    """
    ends = await rows.ends_of_product(conn, recipient_id, purchase.product_id, now_ms)
    given = []
    for position, sold in enumerate(await read_sold(conn, purchase.grants_digest)):
        begins_at_ms, ends_at_ms = now_ms, None
        if sold.days is not None:
            begins_at_ms = max(now_ms, ends.get(sold.node, 0))
            ends_at_ms = begins_at_ms + sold.days * purchase.quantity * DAY_MS
        given.append(
            Entitlement(
                purchase.id, position, recipient_id, purchase.product_id, sold.node, sold.value, sold.unit,
                begins_at_ms, ends_at_ms,
            )
        )  # fmt: skip
    await rows.add_entitlements(conn, given)
    await settle(conn, recipient_id, now_ms)


async def suspend(conn: Connection, purchase: Purchase, now_ms: int, *, suspended: bool) -> None:
    """Suspend the rights of a purchase; if `suspended` is False, restore them, with the end that they had. The same
    rights of the same product that were bought in their place follow them then: nobody pays twice for the same days.
    """
    await rows.suspend(conn, purchase.id, suspended=suspended)
    if purchase.recipient_id is not None:
        if not suspended:
            lasting = await rows.lasting_of_product(conn, purchase.recipient_id, purchase.product_id)
            await rows.move(conn, moved_back(lasting, purchase.id, now_ms))
        await settle(conn, purchase.recipient_id, now_ms)


async def take_back(conn: Connection, purchase: Purchase, now_ms: int) -> None:
    """End the rights of a purchase for good; what an admin has granted stays. The same rights of the same product that
    were to follow them move forward."""
    freed = await rows.end_of_purchase(conn, purchase.id)
    if purchase.recipient_id is not None:
        lasting = await rows.lasting_of_product(conn, purchase.recipient_id, purchase.product_id)
        await rows.move(conn, moved_forward(lasting, freed, now_ms))
        await settle(conn, purchase.recipient_id, now_ms)


def moved_forward(
    lasting: Iterable[Entitlement], freed: Iterable[Entitlement], now_ms: int
) -> list[Entitlement]:
    """Those of some entitlements that were to begin after others, which are over now, and can begin sooner: when what
    comes before them ends, or now if nothing does. What a dispute suspends comes before them as well, since it may live
    again. Pure.

    Args:
        lasting: entitlements of one user and product that have an end, ordered by node and beginning.
        freed: entitlements of theirs that are over now, at most one of each node.
    """
    ends = {one.node: one.ends_at_ms for one in freed}
    moved = []
    for node, of_node in groupby(lasting, lambda one: one.node):
        free_from_ms, busy_until_ms = ends.get(node) or 0, now_ms
        for begins_at_ms, together in groupby(of_node, lambda one: one.begins_at_ms):
            sooner_ms = max(0, begins_at_ms - busy_until_ms) if begins_at_ms >= free_from_ms > now_ms else 0
            for one in together:
                ends_at_ms = (one.ends_at_ms or 0) - sooner_ms
                busy_until_ms = max(busy_until_ms, ends_at_ms)
                if sooner_ms:
                    moved.append(replace(one, begins_at_ms=begins_at_ms - sooner_ms, ends_at_ms=ends_at_ms))
    return moved


def moved_back(lasting: Iterable[Entitlement], restored_id: str, now_ms: int) -> list[Entitlement]:
    """Those of some entitlements that run at the same time as those of a purchase that live again, and can follow them
    instead; one that runs before them as well ends later by as much. Pure.

    Args:
        lasting: entitlements of one user and product that have an end, ordered by node and beginning.
        restored_id: the purchase, which has at most one entitlement of each node.
    """
    moved = []
    for _, of_node in groupby(lasting, lambda one: one.node):
        together = list(of_node)
        restored = next((one for one in together if one.purchase_id == restored_id), None)
        if restored is None:
            continue
        from_ms, busy_until_ms = max(restored.begins_at_ms, now_ms), restored.ends_at_ms or 0
        others = [one for one in together if one is not restored and not one.suspended]
        for begins_at_ms, beginning in groupby(others, lambda one: one.begins_at_ms):
            later_ms = busy_until_ms - max(begins_at_ms, from_ms)
            runs_before = max(begins_at_ms, now_ms) < from_ms
            for one in list(beginning) if later_ms > 0 else ():
                ends_at_ms = one.ends_at_ms or 0
                if ends_at_ms > from_ms:
                    began_at_ms = begins_at_ms if runs_before else max(begins_at_ms, from_ms) + later_ms
                    busy_until_ms = max(busy_until_ms, ends_at_ms + later_ms)
                    moved.append(replace(one, begins_at_ms=began_at_ms, ends_at_ms=ends_at_ms + later_ms))
    return moved


def settles(node: str) -> bool:
    """Whether `settle` may have something to change when a grant of this node or pattern changes: whether it is a node
    of a supporter, a cape or a totem, or covers one."""
    first, _, rest = node.partition(":")
    return first in ("*", "perk") and (rest == "*" or f"perk:{rest}".startswith((SUPPORTER, CAPE, TOTEM)))


async def settle(conn: Connection, user_id: str, now_ms: int, *, moved: str | None = None) -> None:
    """Bring in line what follows from a user's rights: the tier of a supporter, and a cape or totem that they wear and
    may not wear any more. Every process is told at the commit.

    Args:
        moved: the node or pattern of a grant that has changed or ended; None for none. A cape or totem on sale that it
            covers is taken off, too, if the user has never bought it.
    """
    await rows.settle_ended(conn, user_id, now_ms)
    access = await access_in(conn, user_id, now_ms)
    live = [
        one
        for one in await rows.live_of_user(conn, user_id, now_ms)
        if one.node.startswith(SUPPORTER) and one.begins_at_ms <= now_ms and access.allows(one.node)
    ]
    newest = max(live, key=lambda one: one.begins_at_ms, default=None)
    tier = None if newest is None else newest.node.removeprefix(SUPPORTER)
    await rows.set_tier(conn, user_id, tier, min((one.begins_at_ms for one in live), default=None))
    unlocked = await rows.bought_once(conn, user_id)
    if moved is not None:
        unlocked |= {node for node in await _worn_for_sale(conn, user_id) if covers(moved, node)}
    lost = {node for node in unlocked if not access.allows(node)}
    await take_off(conn, user_id, _targets(lost, CAPE))
    await unequip(conn, user_id, _targets(lost, TOTEM))
    await announce(conn, user_id)


async def _worn_for_sale(conn: Connection, user_id: str) -> list[str]:
    """The nodes of the cape and the totem that a user wears, if they are on sale."""
    cape, totem = await read_selection(conn, user_id), await selected_id(conn, user_id)
    found = []
    if cape is not None and cape.source == "native" and await is_on_sale(conn, "cape", cape.cape_id):
        found.append(f"{CAPE}{cape.cape_id}")
    if totem is not None and await is_on_sale(conn, "totem", totem):
        found.append(f"{TOTEM}{totem}")
    return found


def _targets(nodes: set[str], prefix: str) -> list[str]:
    return [node.removeprefix(prefix) for node in nodes if node.startswith(prefix)]
