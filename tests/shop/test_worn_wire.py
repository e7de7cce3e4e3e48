"""Wire: capes and totems that are sold are worn by who has the right to them, bought or granted, and no longer."""

from pathlib import Path
from typing import Any

from actors.time import DAY_MS
from actors.totems.units import KEPT
from tests.capes.stage import cape_in
from tests.shop.play import PRODUCTS, Shop, grant_for_a_day, open_shop
from tests.support.jobs import job_named
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


async def test_what_an_admin_grants_by_a_pattern_is_worn_on_after_a_refund(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    _, cape, product = await sold_cape(world, shop)
    purchase = await shop.buy(ann, product)
    assert await wear(ann, cape) == 200
    await world.grant(ann, "perk:*")
    await shop.refunded(purchase)
    assert (await ann.get(WEARS))["capeId"] == cape["id"]
