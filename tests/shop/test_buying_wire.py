"""Wire: products are ordered, paid by hand, given, and taken back."""

from actors.shop.provider_events import EventKind, ProviderEvent
from actors.time import DAY_MS, iso
from tests.shop.play import ALL_PURCHASES, CATALOG, CHECKOUT, PURCHASES, may, open_shop
from tests.support.world import World


async def test_what_was_paid_by_hand_is_given_and_taken_back(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    order = await shop.order(ann, product)
    assert order["checkout"]["status"] == "open"
    assert order["checkout"]["url"] is None
    assert order["checkout"]["total"] == {"amount": 500, "currency": "eur"}
    (purchase,) = order["purchases"]
    assert purchase["status"] == "pending"
    assert not await may(ann, "perk:glow")

    paid = await shop.paid(purchase)
    assert (paid["status"], paid["provider"]) == ("fulfilled", "manual")
    assert await may(ann, "perk:glow")
    assert (await ann.get(f"{CHECKOUT}/{order['checkout']['id']}"))["checkout"]["status"] == "completed"
    assert [one["owned"] for one in (await ann.get(CATALOG))["items"]] == [True]
    assert await shop.paid(purchase) == paid

    refunded = await shop.refunded(purchase)
    assert (refunded["status"], refunded["refundedAmount"]) == ("refunded", 500)
    assert not await may(ann, "perk:glow")
    assert await shop.refunded(purchase) == refunded
    assert [one["status"] for one in (await ann.get(PURCHASES))["items"]] == ["refunded"]


async def test_a_purchase_is_marked_as_paid_without_a_body(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    (purchase,) = (await shop.order(ann, await shop.product()))["purchases"]
    paid = await shop.manager.do("POST", f"{ALL_PURCHASES}/{purchase['id']}/mark-paid", status=200)
    assert (paid["status"], paid["providerRef"]) == ("fulfilled", None)


async def test_what_costs_nothing_is_given_at_once(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product(amount=0, limit=1))
    assert order["checkout"]["status"] == "completed"
    assert order["purchases"][0]["status"] == "fulfilled"
    assert await may(ann, "perk:glow")


async def test_a_refund_leaves_what_an_admin_has_granted(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    await world.grant(ann, "perk:glow")
    purchase = await shop.buy(ann, await shop.product())
    await shop.refunded(purchase)
    assert await may(ann, "perk:glow")


async def test_a_denied_node_stays_denied_however_often_it_is_bought(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    await world.grant(ann, "perk:glow", negated=True)
    await shop.buy(ann, await shop.product())
    assert not await may(ann, "perk:glow")


async def test_days_follow_one_another_and_a_refund_moves_the_later_ones_forward(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    root = await world.super_admin()
    product = await shop.product(grants=[{"node": "perk:glow", "expiresInDays": 10}])
    world.clock.stop()
    first = await shop.buy(ann, product)
    await shop.buy(ann, product)

    async def ends() -> list[str]:
        items = (await root.get(f"/v1/admin/users/{ann.id}/permissions"))["items"]
        assert all((one["source"], one["node"]) == ("shop", "perk:glow") for one in items)
        return [one["expiresAt"] for one in items]

    both = await ends()
    assert len(both) == 2
    await shop.refunded(first)
    assert await ends() == both[:1]


async def test_rights_end_with_their_time(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann", ttl_seconds=40 * 86_400)
    await shop.buy(ann, await shop.product(grants=[{"node": "perk:glow", "expiresInDays": 30}]))
    assert await may(ann, "perk:glow")
    world.advance(30 * DAY_MS)
    assert not await may(ann, "perk:glow")


async def test_who_has_paid_for_somebody_sees_that_they_were_erased(world: World) -> None:
    shop, root = await open_shop(world), await world.super_admin()
    ann, ben = await world.players("Ann", "Ben")
    await shop.buy(ann, await shop.product(), recipientId=ben.id)
    async with ann.live("/v1/social/live?channels=shop") as client:
        (item,) = (await client.receive_until(type="snapshot"))["data"]["items"]
        assert item["recipientId"] == ben.id
        await root.do("DELETE", f"/v1/admin/users/{ben.id}", status=204)
        shown = (await client.receive_until(type="snapshot"))["data"]["items"]
        assert shown == [item | {"recipientId": None}]
        assert (await ann.get(PURCHASES))["items"] == shown


async def test_what_was_bought_during_a_dispute_is_not_shortened_by_its_loss(world: World) -> None:
    """It has taken the place of what was disputed, and what comes after it follows it and nothing else."""
    shop, ann = await open_shop(world), await world.player("Ann")
    root = await world.super_admin()
    product = await shop.product(grants=[{"node": "perk:glow", "expiresInDays": 10}])
    world.clock.stop()
    disputed = await shop.buy(ann, product)
    world.advance(60_000)
    await shop.told(ProviderEvent(id="begun", kind=EventKind.DISPUTED, purchase_id=disputed["id"]))
    for _ in range(2):
        await shop.buy(ann, product)
    now_ms = world.clock.now_ms()
    expected = [iso(now_ms + days * DAY_MS) for days in (10, 20)]

    async def ends() -> list[str]:
        items = (await root.get(f"/v1/admin/users/{ann.id}/permissions"))["items"]
        return [one["expiresAt"] for one in items]

    assert await ends() == expected
    world.advance(60_000)
    await shop.told(ProviderEvent(id="lost", kind=EventKind.DISPUTE_LOST, purchase_id=disputed["id"]))
    assert await ends() == expected


async def test_what_was_bought_during_a_dispute_follows_what_lives_again(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product(grants=[{"node": "perk:glow", "expiresInDays": 10}])
    world.clock.stop()
    now_ms = world.clock.now_ms()
    disputed = await shop.buy(ann, product)
    await shop.told(ProviderEvent(id="begun", kind=EventKind.DISPUTED, purchase_id=disputed["id"]))
    world.advance(60_000)
    for _ in range(2):
        await shop.buy(ann, product)
    world.advance(60_000)
    await shop.told(ProviderEvent(id="won", kind=EventKind.DISPUTE_WON, purchase_id=disputed["id"]))
    root = await world.super_admin()
    items = (await root.get(f"/v1/admin/users/{ann.id}/permissions"))["items"]
    # A minute of the second has passed: it has the rest once the first is over.
    minute = 60_000
    ends = [now_ms + 10 * DAY_MS, now_ms + 20 * DAY_MS - minute, now_ms + 30 * DAY_MS - minute]
    assert [one["expiresAt"] for one in items] == list(map(iso, ends))
