"""Wire: what follows from the rights that were bought: supporters, quotas, bundles, and their end."""

from typing import Any

from actors.time import DAY_MS
from routes.shop.jobs import Settling
from routes.users.parts import USER_DIRECTORY
from tests.shop.play import grant_for_a_day, may, open_shop
from tests.support.jobs import job_named
from tests.support.refusing import allow, refuse
from tests.support.world import World


async def test_a_supporter_has_the_tier_for_as_long_as_the_longest_right(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann", ttl_seconds=40 * 86_400)
    grants = [{"node": "perk:gold", "expiresInDays": 30}, {"node": "perk:chat", "expiresInDays": 7}]
    await shop.buy(ann, await shop.product("gold", kind="supporter", grants=grants))
    found = (await ann.get("/v1/profile/settings"))["supporter"]
    assert (found["active"], found["tier"]) == (True, "gold")
    world.advance(8 * DAY_MS)
    assert not await may(ann, "perk:chat")
    assert (await ann.get("/v1/profile/settings"))["supporter"]["tier"] == "gold"
    world.advance(22 * DAY_MS)
    await job_named(world, "bought rights that are over").run()
    assert (await ann.get("/v1/profile/settings"))["supporter"]["tier"] is None


async def test_a_supporter_who_is_denied_it_has_no_tier(world: World) -> None:
    shop, ann, root = await open_shop(world), await world.player("Ann"), await world.super_admin()
    await shop.buy(ann, await shop.product("gold", kind="supporter", grants=[]))

    async def tier() -> object:
        items = (await world.nobody().get("/v1/public/supporters"))["items"]
        found = [(one["tier"], one["since"]) for one in items if one["userId"] == ann.id]
        own = (await ann.get("/v1/profile/settings"))["supporter"]
        assert [own["tier"]] == ([one[0] for one in found] or [None])
        return found

    before = await tier()
    assert before
    for denied in ("*:supporter.gold", "perk:*", "*:*"):
        await world.grant(ann, denied, negated=True)
        assert not await tier(), denied
        await root.do("DELETE", f"/v1/admin/users/{ann.id}/permissions/{denied}", status=200)
        assert await tier() == before, denied
    await world.grant(ann, "perk:supporter.gold", negated=True)
    assert not await tier()
    await world.grant(ann, "perk:supporter.gold")
    assert await tier() == before


async def test_of_several_quotas_the_largest_counts(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")

    async def product(slug: str, value: object) -> Any:
        return await shop.product(slug, grants=[{"node": "social:friends.max", "value": value}])

    async def quota() -> object:
        access = await world.service.of(USER_DIRECTORY).access_of(ann.id)
        found = access.quota("social:friends.max")
        return None if found is None else found.value

    large = await shop.buy(ann, await product("large", 500))
    await shop.buy(ann, await product("small", {"value": 300, "unit": "count"}))
    await world.grant(ann, "social:friends.max", value=400)
    assert await quota() == 500
    await shop.refunded(large)
    assert await quota() == 400


async def test_a_bundle_gives_what_its_parts_gave_when_it_was_ordered(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    one, two = await shop.product("one"), await shop.product("two", kind="supporter")
    bundle = await shop.product("both", kind="bundle", includes=[one["id"], two["id"]])
    order = await shop.order(ann, bundle)
    change = {"revision": 1, "grants": [{"node": "perk:late"}]}
    await shop.manager.do("PATCH", f"/v1/admin/shop/products/{one['id']}", change)
    purchase = await shop.paid(order["purchases"][0])
    nodes = ("perk:one", "perk:two", "perk:both", "perk:supporter.two")
    assert [await may(ann, node) for node in (*nodes, "perk:late")] == [True] * 4 + [False]
    await shop.refunded(purchase)
    assert not any([await may(ann, node) for node in nodes])


async def test_an_admin_sees_both_sorts_of_rights_and_ends_both(world: World) -> None:
    shop, ann, root = await open_shop(world), await world.player("Ann"), await world.super_admin()
    purchase = await shop.buy(ann, await shop.product())
    await world.grant(ann, "perk:glow")
    path = f"/v1/admin/users/{ann.id}/permissions"
    listed = (await root.get(path))["items"]
    assert [(one["source"], one["purchaseId"]) for one in listed] == [
        ("admin", None),
        ("shop", purchase["id"]),
    ]
    assert await root.do("DELETE", f"{path}/perk:glow") == {"removed": 2}
    assert not await may(ann, "perk:glow")
    assert await root.do("DELETE", f"{path}/perk:glow") == {"removed": 0}


async def test_a_denial_counts_more_than_a_quota_that_was_bought(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    await shop.buy(ann, await shop.product(grants=[{"node": "social:friends.max", "value": 500}]))
    await world.grant(ann, "social:friends.max", negated=True)
    access = await world.service.of(USER_DIRECTORY).access_of(ann.id)
    assert access.quota("social:friends.max") is None


async def test_the_parts_of_a_bundle_that_share_a_right_give_it_once(world: World) -> None:
    shop, ann, root = await open_shop(world), await world.player("Ann"), await world.super_admin()
    short = await shop.product("short", grants=[{"node": "perk:x", "expiresInDays": 10}])
    long = await shop.product("long", grants=[{"node": "perk:x", "expiresInDays": 30}])
    bundle = await shop.product("both", kind="bundle", includes=[short["id"], long["id"]], grants=[])
    world.clock.stop()
    first = await shop.buy(ann, bundle)
    await shop.buy(ann, bundle)

    async def ends() -> list[str]:
        return [
            one["expiresAt"] for one in (await root.get(f"/v1/admin/users/{ann.id}/permissions"))["items"]
        ]

    before = await ends()
    assert len(before) == 2
    await shop.refunded(first)
    assert await ends() == before[:1]


async def test_many_users_whose_rights_are_over_are_settled_in_one_run(world: World) -> None:
    shop = await open_shop(world)
    grants = [{"node": f"perk:n{number}", "expiresInDays": 1} for number in range(16)]
    product = await shop.product("gold", kind="supporter", grants=grants)
    players = [await world.player(f"Ann{number}", ttl_seconds=3 * 86_400) for number in range(12)]
    for player in players:
        await shop.buy(player, product)
    world.advance(DAY_MS)
    await job_named(world, "bought rights that are over").run()
    assert [(await one.get("/v1/profile/settings"))["supporter"]["tier"] for one in players] == [None] * 12


async def test_users_who_cannot_be_settled_hold_up_no_other(world: World) -> None:
    shop = await open_shop(world)
    product = await shop.product("gold", kind="supporter", grants=[{"node": "perk:x", "expiresInDays": 1}])
    players = [await world.player(f"Ann{number}", ttl_seconds=3 * 86_400) for number in range(3)]
    for player in players:
        await shop.buy(player, product)
        world.advance(1)
    world.advance(DAY_MS)
    await refuse(world, "UPDATE ON shop_entitlements", f"OLD.user_id <> '{players[2].id}'")
    settling = Settling(world.service)

    async def tiers() -> list[object]:
        while await settling.take(1):
            pass
        return [(await one.get("/v1/profile/settings"))["supporter"]["tier"] for one in players]

    assert await tiers() == ["gold", "gold", None]
    await allow(world)
    assert await tiers() == [None] * 3


async def test_a_grant_whose_end_cannot_be_settled_is_tried_again(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann", ttl_seconds=4 * DAY_MS // 1000)
    await shop.buy(ann, await shop.product("gold", kind="supporter", grants=[]))
    await grant_for_a_day(world, ann, "*:supporter.gold", negated=True)
    over = job_named(world, "bought rights that are over")

    async def tier() -> object:
        await over.run()
        return (await ann.get("/v1/profile/settings"))["supporter"]["tier"]

    assert await tier() is None
    world.advance(2 * DAY_MS)
    await refuse(world, "UPDATE ON users", f"OLD.id = '{ann.id}'")
    assert await tier() is None
    await allow(world)
    assert await tier() == "gold"
