"""Changes of the shop whose COMMIT loses its answer."""

from tests.shop.play import A_PRODUCT, ALL_PURCHASES, CHECKOUT, PRODUCTS, may, open_shop
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_checkout(world: World) -> Lost:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product(amount=0, limit=5)
    body = {"items": [{"productId": product["id"], "quantity": 5}]}

    async def made() -> int:
        return int(await may(ann, "perk:glow"))

    return Lost(ann, "POST", CHECKOUT, body, made, said=b"INSERT INTO shop_entitlements")


async def a_purchase_marked_as_paid(world: World) -> Lost:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product())

    async def made() -> int:
        return int(await may(ann, "perk:glow"))

    path = f"{ALL_PURCHASES}/{order['purchases'][0]['id']}/mark-paid"
    return Lost(shop.manager, "POST", path, {"note": MARK}, made)


async def a_product(world: World) -> Lost:
    shop = await open_shop(world)
    return Lost(shop.manager, "POST", PRODUCTS, A_PRODUCT | {"name": MARK}, counted(shop.manager, PRODUCTS))


CASES = (
    a_checkout,
    a_purchase_marked_as_paid,
    a_product,
)
