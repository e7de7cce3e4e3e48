"""Wire: products are made and changed by those who manage the shop, and shown in the catalog."""

from typing import Any

import pytest

from tests.shop.play import A_PRODUCT, CATALOG, PRODUCTS, open_shop
from tests.support.one_world import in_one_world
from tests.support.world import World


@in_one_world(
    ("change", "pointer", "code"),
    [
        ({"slug": "ab"}, "/slug", "BAD_FORMAT"),
        ({"slug": "Glow"}, "/slug", "BAD_FORMAT"),
        ({"slug": "a--", "kind": "supporter"}, "/slug", "BAD_FORMAT"),
        ({"name": ""}, "/name", "REQUIRED"),
        ({"name": "   "}, "/name", "REQUIRED"),
        ({"name": "x" * 101}, "/name", "TOO_LONG"),
        ({"description": "x" * 4_001}, "/description", "TOO_LONG"),
        ({"imageUrl": "http://example.org/a.png"}, "/imageUrl", "BAD_FORMAT"),
        ({"imageUrl": "https://me:secret@example.org/a.png"}, "/imageUrl", "BAD_FORMAT"),
        ({"imageUrl": "https://example.org/" + "x" * 500}, "/imageUrl", "TOO_LONG"),
        ({"imageUrl": "javascript:alert(1)"}, "/imageUrl", "BAD_FORMAT"),
        ({"price": {"amount": -1, "currency": "eur"}}, "/price/amount", "OUT_OF_RANGE"),
        ({"price": {"amount": 100_000_000, "currency": "eur"}}, "/price/amount", "OUT_OF_RANGE"),
        ({"price": {"amount": 1, "currency": "euro"}}, "/price/currency", "BAD_FORMAT"),
        ({"price": {"amount": 0, "currency": "eur"}}, "/limit", "REQUIRED"),
        ({"limit": 0}, "/limit", "OUT_OF_RANGE"),
        ({"limit": 1_001}, "/limit", "OUT_OF_RANGE"),
        ({"grants": []}, "/grants", "TOO_FEW"),
        ({"grants": [{"node": f"perk:{n}"} for n in range(17)]}, "/grants", "TOO_MANY"),
        ({"grants": [{"node": "perk:a"}, {"node": "perk:a"}]}, "/grants/1/node", "DUPLICATE"),
        ({"grants": [{"node": "perk:"}]}, "/grants/0/node", "BAD_FORMAT"),
        ({"grants": [{"node": "admin:user:view"}]}, "/grants/0/node", "NOT_ALLOWED"),
        ({"grants": [{"node": "shop:manage"}]}, "/grants/0/node", "NOT_ALLOWED"),
        ({"grants": [{"node": "admin:*"}]}, "/grants/0/node", "NOT_ALLOWED"),
        ({"grants": [{"node": "perk:*"}]}, "/grants/0/node", "NOT_ALLOWED"),
        ({"grants": [{"node": "*"}]}, "/grants/0/node", "NOT_ALLOWED"),
        ({"grants": [{"node": "social:chat.write"}]}, "/grants/0/node", "NOT_ALLOWED"),
        ({"grants": [{"node": "perk:a", "value": 3}]}, "/grants/0/value", "NOT_ALLOWED"),
        ({"grants": [{"node": "social:friends.max"}]}, "/grants/0/value", "REQUIRED"),
        (
            {"grants": [{"node": "social:friends.max", "value": {"value": 3, "unit": "gib"}}]},
            "/grants/0/value/unit",
            "UNKNOWN_VALUE",
        ),
        ({"grants": [{"node": "perk:a", "expiresInDays": 0}]}, "/grants/0/expiresInDays", "OUT_OF_RANGE"),
        ({"grants": [{"node": "perk:a", "expiresInDays": 3_651}]}, "/grants/0/expiresInDays", "OUT_OF_RANGE"),
        ({"targetId": "0" * 24}, "/targetId", "NOT_ALLOWED"),
        ({"kind": "cape"}, "/targetId", "REQUIRED"),
        ({"kind": "cape", "targetId": "0" * 24}, "/targetId", "BAD_FORMAT"),
        ({"kind": "totem", "targetId": "x"}, "/targetId", "BAD_FORMAT"),
        ({"kind": "totem", "targetId": "0" * 24}, "/targetId", "UNKNOWN"),
        ({"kind": "cape", "targetId": f"{'0' * 8}-0000-4000-8000-{'0' * 12}"}, "/targetId", "UNKNOWN"),
        ({"includes": ["0" * 24]}, "/includes", "NOT_ALLOWED"),
        ({"kind": "bundle", "includes": []}, "/includes", "TOO_FEW"),
        ({"kind": "bundle", "includes": ["0" * 24] * 2}, "/includes", "DUPLICATE"),
        ({"kind": "bundle", "includes": [f"{n:024x}" for n in range(21)]}, "/includes", "TOO_MANY"),
        ({"kind": "bundle", "includes": ["0" * 24]}, "/includes/0", "UNKNOWN"),
    ],
    ids=str,
)
async def test_what_no_product_may_be(world: World, change: dict[str, Any], pointer: str, code: str) -> None:
    shop = await open_shop(world)
    response = await shop.manager.ask("POST", PRODUCTS, A_PRODUCT | change)
    assert response.status_code == 422
    assert (pointer, code) in [(one["pointer"], one["code"]) for one in response.json()["errors"]]


@pytest.mark.parametrize("node", ["social:chat.write", "totem:read", "perk:*", "*"])
async def test_super_admins_sell_more_but_neither_patterns_nor_what_everybody_has(
    world: World, node: str
) -> None:
    root = await world.super_admin()
    body = A_PRODUCT | {"grants": [{"node": "news:write"}]}
    assert (await root.ask("POST", PRODUCTS, body)).status_code == 201
    refused = body | {"slug": "other", "grants": [{"node": node}]}
    assert (await root.ask("POST", PRODUCTS, refused)).status_code == 422


async def test_a_bundle_sells_nothing_that_its_maker_may_not_sell(world: World) -> None:
    shop, root = await open_shop(world), await world.super_admin()
    body = A_PRODUCT | {"grants": [{"node": "versions:publish"}], "available": False}
    product = await root.do("POST", PRODUCTS, body, status=201)
    bundle = A_PRODUCT | {"slug": "all", "kind": "bundle", "includes": [product["id"]], "grants": []}
    for seller in (shop.manager, root):
        response = await seller.ask("POST", PRODUCTS, bundle)
        assert [one["pointer"] for one in response.json()["errors"]] == ["/includes/0"]
    part = await shop.product("part")
    await shop.product("set", kind="bundle", includes=[part["id"]])
    change = {"revision": 1, "grants": [{"node": "versions:publish"}]}
    refused = await root.refused("PATCH", f"{PRODUCTS}/{part['id']}", change)
    assert refused == (422, "VALIDATION_FAILED")


async def test_no_slug_twice_and_no_bundle_in_a_bundle(world: World) -> None:
    shop = await open_shop(world)
    glow, other = await shop.product(), await shop.product("other")
    assert await shop.manager.refused("POST", PRODUCTS, A_PRODUCT) == (409, "SLUG_TAKEN")
    bundle = await shop.product("both", kind="bundle", includes=[glow["id"], other["id"]], grants=[])
    nested = A_PRODUCT | {"slug": "all", "kind": "bundle", "includes": [bundle["id"]]}
    assert await shop.manager.refused("POST", PRODUCTS, nested) == (422, "VALIDATION_FAILED")
    turned = {"revision": 1, "kind": "bundle", "includes": [other["id"]]}
    refused = await shop.manager.refused("PATCH", f"{PRODUCTS}/{glow['id']}", turned)
    assert refused == (422, "VALIDATION_FAILED")


async def test_a_change_names_the_revision_that_it_is_about(world: World) -> None:
    shop = await open_shop(world)
    product = await shop.product(name=" Glow ", description="first\r\nsecond")
    assert (product["name"], product["revision"]) == ("Glow", 1)
    path = f"{PRODUCTS}/{product['id']}"
    changed = await shop.manager.do("PATCH", path, {"revision": 1, "limit": 3, "available": False})
    assert changed == product | {"revision": 2, "limit": 3, "available": False}
    assert changed["description"] == "first\nsecond"
    assert await shop.manager.refused("PATCH", path, {"revision": 1}) == (409, "REVISION_CONFLICT")
    for nothing in ({}, {"limit": 3, "available": False}, {"name": f" {product['name']} "}):
        assert await shop.manager.do("PATCH", path, {"revision": 2, **nothing}) == changed
    nameless = {"revision": 2, "name": "   "}
    assert await shop.manager.refused("PATCH", path, nameless) == (422, "VALIDATION_FAILED")
    renamed = await shop.manager.do("PATCH", path, {"revision": 2, "name": " Glow, more "})
    assert (renamed["name"], renamed["revision"]) == ("Glow, more", 3)
    assert await shop.manager.refused("PATCH", f"{PRODUCTS}/{'0' * 24}", {"revision": 1}) == (
        404,
        "NOT_FOUND",
    )
    cleared = await shop.manager.do("PATCH", path, {"revision": 3, "limit": None})
    assert cleared["limit"] is None


async def test_the_catalog_has_what_is_on_sale_by_name(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    await shop.product("zeta")
    await shop.product("alpha")
    await shop.product("gone", available=False)
    response = await ann.ask("GET", CATALOG)
    assert [one["slug"] for one in response.json()["items"]] == ["alpha", "zeta"]
    again = await ann.ask("GET", CATALOG, headers={"if-none-match": response.headers["etag"]})
    assert again.status_code == 304
    assert (await ann.get(CATALOG, kind="cape"))["items"] == []
    assert await ann.refused("GET", f"{CATALOG}?kind=hat") == (400, "BAD_QUERY")


async def test_all_products_in_pages(world: World) -> None:
    shop = await open_shop(world)
    slugs = [f"slug-{n}" for n in range(5)]
    for slug in slugs:
        await shop.product(slug, available=slug != "slug-2")
    first = await shop.manager.get(PRODUCTS, limit=3)
    second = await shop.manager.get(PRODUCTS, limit=3, cursor=first["nextCursor"])
    assert sorted(one["slug"] for one in (*first["items"], *second["items"])) == slugs
    assert (first["hasMore"], second["hasMore"], second["nextCursor"]) == (True, False, None)
