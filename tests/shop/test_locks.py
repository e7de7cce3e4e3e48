"""Who moves a checkout and who erases its payer lock what they share in one order."""

from functools import partial

from persistence.shop.checkouts import lock_checkout
from persistence.users.users import lock_user
from tests.shop.play import open_shop
from tests.support.locks import crossed
from tests.support.world import World


async def test_the_erasure_of_a_payer_whose_checkout_is_being_moved(world: World) -> None:
    shop, root, ann = await open_shop(world), await world.super_admin(), await world.player("Ann")
    order = await shop.order(ann, await shop.product())
    await crossed(
        world.service.database,
        partial(lock_checkout, id=order["checkout"]["id"]),
        partial(lock_user, user_id=ann.id),
        partial(root.do, "DELETE", f"/v1/admin/users/{ann.id}"),
    )
