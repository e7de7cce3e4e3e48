"""What tests of the shop share: a manager, products, and buying."""

from dataclasses import dataclass
from typing import Any

from actors.shop.provider_events import ProviderEvent
from actors.shop.units_provider import take_event
from actors.time import DAY_MS, iso
from persistence.users.audit import Stamp
from routes.changes import change_by_itself
from tests.support.world import Player, World

PRODUCTS = "/v1/admin/shop/products"
CHECKOUT = "/v1/shop/checkout"
PURCHASES = "/v1/shop/purchases"
ALL_PURCHASES = "/v1/admin/shop/purchases"
CATALOG = "/v1/shop/catalog"


A_PRODUCT = {
    "slug": "glow",
    "name": "Glow",
    "kind": "permission",
    "price": {"amount": 500, "currency": "EUR"},
    "grants": [{"node": "perk:glow"}],
}


@dataclass
class Shop:
    """A shop with a manager.

    Args:
        world: the service.
        manager: a user who holds `shop:manage`.
    """

    world: World
    manager: Player

    async def product(self, slug: str = "glow", amount: int = 500, **more: Any) -> Any:
        """Make a product on sale, by default one that gives `perk:<slug>` for good; returns it."""
        body = A_PRODUCT | {
            "slug": slug,
            "name": slug.title(),
            "price": {"amount": amount, "currency": "EUR"},
            "grants": [{"node": f"perk:{slug}"}],
        }
        return await self.manager.do("POST", PRODUCTS, body | more, status=201)

    async def order(self, payer: Player, *products: Any, **more: Any) -> Any:
        """Check out one piece of each product; returns the checkout."""
        items = [{"productId": product["id"]} for product in products]
        return await payer.do("POST", CHECKOUT, {"items": items} | more, status=201)

    async def paid(self, purchase: Any) -> Any:
        """Mark a purchase as paid, as the manager; returns it."""
        return await self.manager.do("POST", f"{ALL_PURCHASES}/{purchase['id']}/mark-paid", {})

    async def buy(self, payer: Player, product: Any, **more: Any) -> Any:
        """Buy a product, and mark it as paid by hand; returns the purchase."""
        order = await self.order(payer, product, **more)
        return await self.paid(order["purchases"][0])

    async def refunded(self, purchase: Any) -> Any:
        """Give the money of a purchase back, as the manager; returns the purchase."""
        return await self.manager.do("POST", f"{ALL_PURCHASES}/{purchase['id']}/refund")

    async def told(self, event: ProviderEvent) -> bool:
        """Take an event of the payment provider, as the webhook does once its signature was verified; returns whether
        it was taken before."""
        service = self.world.service
        now_ms = service.clock.now_ms()
        stamp = Stamp(service.ids.new(now_ms), now_ms, None, None)
        return await change_by_itself(service, take_event, event, stamp, about=None)


async def open_shop(world: World) -> Shop:
    """A shop without products."""
    manager = await world.player("Mona")
    await world.grant(manager, "shop:manage")
    return Shop(world, manager)


async def may(player: Player, node: str) -> bool:
    """Whether a player holds a permission node, as the service tells them."""
    return node in (await player.get("/v1/auth/verify"))["permissions"]


async def grant_for_a_day(world: World, player: Player, node: str, *, negated: bool = False) -> None:
    ends = iso(world.clock.now_ms() + DAY_MS)
    body = {"node": node, "negated": negated, "expiresAt": ends}
    await (await world.super_admin()).do("POST", f"/v1/admin/users/{player.id}/permissions", body, status=201)
