"""Wire: what follows from the rights that were bought: capes, totems, supporters, quotas, bundles."""

from pathlib import Path
from typing import Any

from actors.time import DAY_MS, iso
from actors.totems.units import KEPT
from routes.shop.jobs import Settling
from routes.users.parts import USER_DIRECTORY
from tests.capes.stage import cape_in
from tests.shop.play import PRODUCTS, Shop, may, open_shop
from tests.support.jobs import job_named
from tests.support.refusing import allow, refuse
from tests.support.world import Player, World, open_world
from tests.totems.play import OWN, carry, upload

WEARS = "/v1/profile/capes/selection"


async def sold_cape(world: World, shop: Shop) -> tuple[Player, Any, Any]:
    """(its creator, an approved cape, a product that unlocks it)."""
    maker, root = await world.player("Maker"), await world.super_admin()
    cape = await cape_in("approved", maker, root)
    return maker, cape, await shop.product("cape", kind="cape", targetId=cape["id"], grants=[])


async def wear(player: Player, cape: Any) -> int:
    body = {"source": "native", "capeId": cape["id"]}
    answer = await player.ask("PUT", WEARS, body)
    if answer.status_code == 403:
        assert answer.json()["meta"] == {"permission": f"perk:cape.{cape['id']}"}
    return answer.status_code


async def test_a_cape_on_sale_is_worn_by_its_creator_and_by_who_has_bought_it(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    maker, cape, product = await sold_cape(world, shop)
    assert await wear(ann, cape) == 403
    assert await wear(maker, cape) == 200
    purchase = await shop.buy(ann, product)
    assert await wear(ann, cape) == 200
    await shop.refunded(purchase)
    assert (await ann.get(WEARS))["capeId"] is None
    assert await wear(ann, cape) == 403
    assert (await maker.get(WEARS))["capeId"] == cape["id"]
    await shop.manager.do(
        "PATCH", f"/v1/admin/shop/products/{product['id']}", {"revision": 1, "available": False}
    )
    assert await wear(ann, cape) == 200


async def test_a_cape_that_only_a_bundle_sells_is_worn_by_who_has_bought_that(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    _, cape, product = await sold_cape(world, shop)
    bundle = await shop.product("all", kind="bundle", includes=[product["id"]], grants=[])
    change = {"revision": 1, "available": False}
    await shop.manager.do("PATCH", f"{PRODUCTS}/{product['id']}", change)
    assert await wear(ann, cape) == 403
    await shop.buy(ann, bundle)
    assert await wear(ann, cape) == 200
    await shop.manager.do("PATCH", f"{PRODUCTS}/{bundle['id']}", change)
    assert await wear(await world.player("Ben"), cape) == 200


async def test_a_totem_on_sale(world: World) -> None:
    shop, ann, maker = await open_shop(world), await world.player("Ann"), await world.player("Maker")
    totem = await upload(maker)
    product = await shop.product("totem", kind="totem", targetId=totem["itemModelId"], grants=[])
    chosen = {"itemModelId": totem["itemModelId"]}
    refusal = await ann.ask("POST", OWN, chosen)
    assert refusal.status_code == 403
    assert refusal.json()["meta"] == {"permission": f"perk:totem.{totem['itemModelId']}"}
    purchase = await shop.buy(ann, product)
    await carry(ann, totem)
    await shop.refunded(purchase)
    assert (await ann.get(OWN))["itemModelId"] is None


async def test_a_totem_that_was_bought_is_carried_also_where_the_gallery_is_closed(
    database_url: str, tmp_path: Path
) -> None:
    async with open_world(database_url, tmp_path, totem_gallery="off") as world:
        shop, ann, maker = await open_shop(world), await world.player("Ann"), await world.player("Maker")
        totem = await upload(maker)
        await upload(maker)
        product = await shop.product("totem", kind="totem", targetId=totem["itemModelId"], grants=[])
        asked = f"{OWN}/model/{totem['itemModelId']}"
        assert await ann.refused("GET", asked) == (404, "NOT_FOUND")
        assert await ann.refused("POST", OWN, {"itemModelId": totem["itemModelId"]}) == (404, "NOT_FOUND")
        purchase = await shop.buy(ann, product)
        assert (await ann.get(asked))["itemModelId"] == totem["itemModelId"]
        await carry(ann, totem)
        await shop.refunded(purchase)
        assert await ann.refused("GET", asked) == (404, "NOT_FOUND")


async def test_a_totem_of_the_shop_stays(world: World) -> None:
    shop, ann, maker = await open_shop(world), await world.player("Ann"), await world.player("Maker")
    sold, put_away, loose = [await upload(maker) for _ in range(3)]
    await shop.product("sold", kind="totem", targetId=sold["itemModelId"], grants=[])
    once = await shop.product("once", kind="totem", targetId=put_away["itemModelId"], grants=[])
    await shop.buy(ann, once)
    change = {"revision": 1, "kind": "permission", "targetId": None, "grants": [{"node": "perk:once"}]}
    await shop.manager.do("PATCH", f"{PRODUCTS}/{once['id']}", change)
    for number in range(KEPT + 1):
        if number % 5 == 0:  # the rate, also where a node hears late of what was spent on another
            world.advance(60_000)
        await upload(maker)
    await carry(ann, put_away)
    await carry(maker, sold)
    assert await maker.refused("POST", OWN, {"itemModelId": loose["itemModelId"]}) == (404, "NOT_FOUND")


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


async def grant_for_a_day(world: World, player: Player, node: str, *, negated: bool = False) -> None:
    ends = iso(world.clock.now_ms() + DAY_MS)
    body = {"node": node, "negated": negated, "expiresAt": ends}
    await (await world.super_admin()).do("POST", f"/v1/admin/users/{player.id}/permissions", body, status=201)


async def test_what_an_admin_says_for_a_time_has_its_end_without_anybody(world: World) -> None:
    """A tier that was denied comes back, and a cape that was granted after a refund goes."""
    shop, ann = await open_shop(world), await world.player("Ann", ttl_seconds=4 * DAY_MS // 1000)
    await shop.buy(ann, await shop.product("gold", kind="supporter", grants=[]))
    _, cape, product = await sold_cape(world, shop)
    purchase = await shop.buy(ann, product)
    assert await wear(ann, cape) == 200
    await grant_for_a_day(world, ann, f"perk:cape.{cape['id']}")
    await shop.refunded(purchase)
    await grant_for_a_day(world, ann, "*:supporter.gold", negated=True)
    over = job_named(world, "bought rights that are over")

    async def shown() -> tuple[object, object]:
        supporter = (await ann.get("/v1/profile/settings"))["supporter"]
        return supporter["tier"], (await ann.get(WEARS))["capeId"]

    await over.run()
    assert await shown() == (None, cape["id"])
    world.advance(2 * DAY_MS)
    await over.run()
    assert await shown() == ("gold", None)


async def test_what_only_a_grant_unlocks_is_worn_as_long_as_that_lasts(world: World) -> None:
    shop, ann, root = (
        await open_shop(world),
        await world.player("Ann", ttl_seconds=259_200),
        await world.super_admin(),
    )
    maker, cape, _ = await sold_cape(world, shop)
    free = await cape_in("approved", maker, root)
    totem = await upload(maker)
    await shop.product("totem", kind="totem", targetId=totem["itemModelId"], grants=[])

    async def shown() -> tuple[object, object]:
        return (await ann.get(WEARS))["capeId"], (await ann.get(OWN))["itemModelId"]

    for granted, worn, left in (
        (f"perk:cape.{cape['id']}", cape, None),
        ("perk:*", cape, None),
        ("perk:*", free, free["id"]),
    ):
        await world.grant(ann, granted)
        assert await wear(ann, worn) == 200
        await root.do("DELETE", f"/v1/admin/users/{ann.id}/permissions/{granted}", status=200)
        assert await shown() == (left, None)
    await grant_for_a_day(world, ann, "perk:*")
    assert await wear(ann, cape) == 200
    await carry(ann, totem)
    await grant_for_a_day(world, ann, "perk:glow")
    assert await shown() == (cape["id"], totem["itemModelId"])
    world.advance(2 * DAY_MS)
    await job_named(world, "bought rights that are over").run()
    assert await shown() == (None, None)


async def test_what_is_denied_is_worn_no_more(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    _, cape, product = await sold_cape(world, shop)
    await shop.buy(ann, product)
    assert await wear(ann, cape) == 200
    totem = await upload(await world.player("Turner"))
    sold = await shop.product("totem", kind="totem", targetId=totem["itemModelId"], grants=[])
    await shop.buy(ann, sold)
    await carry(ann, totem)
    await world.grant(ann, "perk:glow", negated=True)
    assert (await ann.get(WEARS))["capeId"] == cape["id"]
    await world.grant(ann, f"perk:cape.{cape['id']}", negated=True)
    assert (await ann.get(WEARS))["capeId"] is None
    assert (await ann.get(OWN))["itemModelId"] == totem["itemModelId"]
    await world.grant(ann, "perk:*", negated=True)
    assert (await ann.get(OWN))["itemModelId"] is None


async def test_what_an_admin_has_granted_by_a_pattern_is_worn_until_that_is_removed(world: World) -> None:
    shop, ann, root = await open_shop(world), await world.player("Ann"), await world.super_admin()
    _, cape, product = await sold_cape(world, shop)
    purchase = await shop.buy(ann, product)
    assert await wear(ann, cape) == 200
    await world.grant(ann, "perk:*")
    await shop.refunded(purchase)
    await root.do("DELETE", f"/v1/admin/users/{ann.id}/permissions/perk:*", status=200)
    assert (await ann.get(WEARS))["capeId"] is None


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


async def test_what_an_admin_grants_by_a_pattern_is_worn_on_after_a_refund(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    _, cape, product = await sold_cape(world, shop)
    purchase = await shop.buy(ann, product)
    assert await wear(ann, cape) == 200
    await world.grant(ann, "perk:*")
    await shop.refunded(purchase)
    assert (await ann.get(WEARS))["capeId"] == cape["id"]


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
