"""Whoever makes, moves or ends a checkout, and whoever erases its users, locks a user before their checkouts."""

from functools import partial

import pytest

from actors.shop.provider_events import EventKind, ProviderEvent
from persistence.shop.checkouts import lock_checkout
from persistence.users.users import lock_user
from tests.shop.play import PURCHASES, open_shop
from tests.support.locks import crossed
from tests.support.world import World


@pytest.mark.parametrize("by", ["payer", "recipient"])
async def test_the_erasure_of_a_user_whose_checkout_is_being_moved(world: World, by: str) -> None:
    shop, root = await open_shop(world), await world.super_admin()
    ann, ben = await world.players("Ann", "Ben")
    order = await shop.order(ann, await shop.product(), recipientId=ben.id)
    user = ann if by == "payer" else ben
    await crossed(
        world.service.database,
        partial(lock_user, user_id=user.id),
        partial(lock_checkout, id=order["checkout"]["id"]),
        partial(root.do, "DELETE", f"/v1/admin/users/{user.id}", status=204),
    )


@pytest.mark.parametrize("by", ["manager", "provider"])
async def test_the_payment_of_a_checkout_whose_recipient_is_being_erased(world: World, by: str) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product())
    id = order["checkout"]["id"]
    told = ProviderEvent(id="evt_1", kind=EventKind.PAID, checkout_id=id, payment_ref="pay_1")
    pay = partial(shop.paid, order["purchases"][0]) if by == "manager" else partial(shop.told, told)
    await crossed(
        world.service.database, partial(lock_user, user_id=ann.id), partial(lock_checkout, id=id), pay
    )
    assert (await ann.get(PURCHASES))["items"][0]["status"] == "fulfilled"
