"""Wire: what a checkout may ask for, who may see it, and what a crowd cannot exceed."""

from typing import Any

import pytest
import trio

from actors.shop.units_checkout import OPEN_MAX, UNPAID_A_DAY
from actors.time import DAY_MS
from persistence.shop.checkouts import read_checkout
from routes.shop import jobs
from tests.capes.stage import ADMIN, OWN, cape_in
from tests.shop.play import CATALOG, CHECKOUT, PRODUCTS, PURCHASES, Shop, may, open_shop
from tests.support.jobs import job_named
from tests.support.refusing import refuse
from tests.support.world import Player, World
from tests.totems.play import upload
from tests.users.play import erase


def path_of(order: Any) -> str:
    return f"{CHECKOUT}/{order['checkout']['id']}"


def items(*products: Any, quantity: Any = 1) -> dict[str, Any]:
    return {"items": [{"productId": product["id"], "quantity": quantity} for product in products]}


async def flaws(player: Player, body: Any) -> list[tuple[str, str]]:
    response = await player.ask("POST", CHECKOUT, body)
    assert response.status_code == 422, response.text
    return [(one["pointer"], one["code"]) for one in response.json().get("errors", ())]


async def on_sale(player: Player) -> list[str]:
    return [one["slug"] for one in (await player.get(CATALOG))["items"]]


@pytest.mark.parametrize(
    ("quantity", "code"),
    [
        (0, "OUT_OF_RANGE"),
        (-1, "OUT_OF_RANGE"),
        (100, "OUT_OF_RANGE"),
        (1.5, "WRONG_TYPE"),
        ("1", "WRONG_TYPE"),
    ],
    ids=str,
)
async def test_a_quantity_is_a_whole_number_within_bounds(world: World, quantity: Any, code: str) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    body = items(await shop.product(), quantity=quantity)
    assert await flaws(ann, body) == [("/items/0/quantity", code)]


async def test_what_unlocks_nothing_any_more_is_not_on_sale(world: World) -> None:
    shop, ann, root = await open_shop(world), await world.player("Ann"), await world.super_admin()
    maker, other = await world.players("Maker", "Other")
    capes = [await cape_in("approved", maker, root), await cape_in("approved", other, root)]
    totem = await upload(other)
    first, second = [
        await shop.product(f"cape-{number}", kind="cape", targetId=cape["id"], grants=[])
        for number, cape in enumerate(capes)
    ]
    third = await shop.product("totem", kind="totem", targetId=totem["itemModelId"], grants=[])
    part = await shop.product("part")
    change = {"revision": 1, "available": False}
    await shop.manager.do("PATCH", f"{PRODUCTS}/{second['id']}", change)
    bundle = await shop.product("all", kind="bundle", includes=[second["id"], part["id"]], grants=[])
    # What moderators have taken back, nobody but its maker can wear.
    for status, offered in (
        ("blocked", ["all", "part", "totem"]),
        ("approved", ["all", "cape-0", "part", "totem"]),
    ):
        await root.do("PATCH", f"{ADMIN}/{capes[0]['id']}", {"status": status})
        assert await on_sale(ann) == offered
    await maker.do("DELETE", f"{OWN}/{capes[0]['id']}", status=204)
    assert await on_sale(ann) == ["all", "part", "totem"]
    await erase(world, other)
    assert await on_sale(ann) == ["part"]
    for product in (first, third, bundle):
        assert await flaws(ann, items(part, product)) == [("/items/1/productId", "UNKNOWN")]
    put_away = await shop.manager.do("PATCH", f"{PRODUCTS}/{first['id']}", change)
    assert put_away["available"] is False
    again = {"revision": 2, "available": True}
    assert await shop.manager.refused("PATCH", f"{PRODUCTS}/{first['id']}", again) == (
        422,
        "VALIDATION_FAILED",
    )


async def test_items_that_do_not_fit_together(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    euros = await shop.product()
    dollars = await shop.product("dollars", price={"amount": 1, "currency": "usd"})
    gone = await shop.product("gone", available=False)
    assert await flaws(ann, items()) == [("/items", "TOO_FEW")]
    assert await flaws(ann, items(*[euros] * 21)) == [("/items", "TOO_MANY")]
    assert await flaws(ann, items(euros, euros)) == [("/items/1/productId", "DUPLICATE")]
    assert await flaws(ann, items(euros, dollars)) == [("/items/1/productId", "MISMATCH")]
    assert await flaws(ann, items(gone, {"id": "0" * 24})) == [
        ("/items/0/productId", "UNKNOWN"),
        ("/items/1/productId", "UNKNOWN"),
    ]


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "javascript:alert(1)",
        "//evil.example/",
        "/relative",
        "https://me@localhost/",
        "https:\\\\evil.example",
        "http://localhost\t.evil.example/",
        "ftp://localhost/",
        "",
    ],
)
async def test_a_checkout_is_no_open_redirect(world: World, url: str) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    body = items(await shop.product())
    for name in ("successUrl", "cancelUrl"):
        assert await flaws(ann, body | {name: url}) == [(f"/{name}", "NOT_ALLOWED")]


async def test_pages_of_the_service_may_be_returned_to(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    url = f"{world.service.config.base_url}/thanks?checkout=1"
    await shop.order(ann, await shop.product(), successUrl=url, cancelUrl=url)


async def test_prices_of_the_client_are_not_read(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    body = {
        "items": [{"productId": product["id"], "quantity": 3, "price": 1, "amount": 0}],
        "total": 0,
        "currency": "x",
    }
    order = await ann.do("POST", CHECKOUT, body, status=201)
    assert order["checkout"]["total"] == {"amount": 1_500, "currency": "eur"}


async def test_what_was_ordered_stays_as_it_was_when_the_product_changes(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    order = await shop.order(ann, product)
    change = {"revision": 1, "price": {"amount": 9, "currency": "usd"}, "grants": [{"node": "perk:other"}]}
    await shop.manager.do("PATCH", f"/v1/admin/shop/products/{product['id']}", change | {"available": False})
    paid = await shop.paid(order["purchases"][0])
    assert (paid["amount"], paid["currency"]) == (500, "eur")
    assert await may(ann, "perk:glow")
    assert not await may(ann, "perk:other")


async def test_a_gift_is_seen_by_both_and_its_payment_by_the_payer_alone(world: World) -> None:
    shop = await open_shop(world)
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    order = await shop.order(ann, await shop.product(), recipientId=bob.id.upper())
    await shop.paid(order["purchases"][0])
    assert await may(bob, "perk:glow")
    assert not await may(ann, "perk:glow")
    (given,) = (await bob.get(PURCHASES))["items"]
    (paid,) = (await ann.get(PURCHASES))["items"]
    assert (paid["payerId"], paid["checkoutId"]) == (ann.id, order["checkout"]["id"])
    hidden: dict[str, None] = dict.fromkeys(("payerId", "checkoutId", "providerRef"))
    assert given == paid | hidden
    for other in (bob, eve):
        assert await other.refused("GET", path_of(order)) == (404, "NOT_FOUND")
        assert await other.refused("DELETE", path_of(order)) == (404, "NOT_FOUND")
    assert (await eve.get(PURCHASES))["items"] == []


async def test_a_recipient_who_is_unknown_or_blocked(world: World) -> None:
    shop = await open_shop(world)
    ann, bob = await world.players("Ann", "Bob")
    body, unknown = items(await shop.product()), "00000000-0000-4000-8000-000000000000"
    for named, code in (("x", "BAD_FORMAT"), ("0" * 24, "BAD_FORMAT"), (unknown, "UNKNOWN")):
        assert await flaws(ann, body | {"recipientId": named}) == [("/recipientId", code)]
    for one, other in ((ann, bob), (bob, ann)):
        await world.block(one, other)
        assert await ann.refused("POST", CHECKOUT, body | {"recipientId": bob.id}) == (403, "BLOCKED")
        await world.block(one, other, blocked=False)


async def test_a_checkout_is_cancelled_until_it_is_paid(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    order = await shop.order(ann, product)
    for _ in range(2):
        assert (await ann.ask("DELETE", path_of(order))).status_code == 204
    paid = await shop.order(ann, product)
    await shop.paid(paid["purchases"][0])
    response = await ann.ask("DELETE", path_of(paid))
    assert (response.status_code, response.json()["meta"]) == (409, {"status": "completed"})


async def test_a_limit_holds_in_a_crowd(world: World) -> None:
    shop, bob = await open_shop(world), await world.player("Bob")
    product = await shop.product(limit=2)
    givers = [await world.player(f"Giver{n}") for n in range(8)]
    statuses: list[int] = []

    async def give(giver: Player) -> None:
        response = await giver.ask("POST", CHECKOUT, items(product) | {"recipientId": bob.id})
        statuses.append(response.status_code)

    async with trio.open_nursery() as nursery:
        for giver in givers:
            nursery.start_soon(give, giver)
    assert sorted(statuses) == [201] * 2 + [422] * 6
    response = await bob.ask("POST", CHECKOUT, items(product))
    assert (response.json()["code"], response.json()["meta"]) == ("QUOTA_EXCEEDED", {"max": 2})


async def test_a_limit_counts_pieces_and_is_free_again_after_a_refund(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product(limit=3)
    assert (await ann.ask("POST", CHECKOUT, items(product, quantity=4))).json()["code"] == "QUOTA_EXCEEDED"
    order = await ann.do("POST", CHECKOUT, items(product, quantity=3), status=201)
    assert (await ann.ask("POST", CHECKOUT, items(product))).status_code == 422
    await shop.paid(order["purchases"][0])
    await shop.refunded(order["purchases"][0])
    await shop.order(ann, product)


async def test_how_many_may_be_open(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    orders = [await shop.order(ann, product) for _ in range(OPEN_MAX)]
    response = await ann.ask("POST", CHECKOUT, items(product))
    assert (response.json()["code"], response.json()["meta"]) == ("QUOTA_EXCEEDED", {"max": OPEN_MAX})
    await ann.do("DELETE", path_of(orders[0]))
    await shop.order(ann, product)


async def later(world: World, ms: int, *players: Player) -> None:
    world.advance(ms)
    for player in players:
        player.headers = {"authorization": f"Bearer {world.token(player.id, player.name)}"}


@pytest.mark.one_node(because="it spends whole minutes of its rate by a clock that jumps")
async def test_how_many_may_end_unpaid_in_a_day(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    for _ in range(UNPAID_A_DAY):
        order = await shop.order(ann, product)
        await ann.do("DELETE", path_of(order))
        await later(world, 60_000, ann, shop.manager)
    response = await ann.ask("POST", CHECKOUT, items(product))
    assert (response.json()["code"], response.json()["meta"]) == ("QUOTA_EXCEEDED", {"max": UNPAID_A_DAY})
    await later(world, DAY_MS, ann, shop.manager)
    await shop.order(ann, product)


async def test_a_repeat_is_the_same_checkout(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    body, key = items(await shop.product()), {"idempotency-key": "one"}
    made = [(await ann.ask("POST", CHECKOUT, body, headers=key)).json() for _ in range(3)]
    assert made == made[:1] * 3
    row = await world.service.database.read(read_checkout, made[0]["checkout"]["id"])
    assert row is not None
    assert len((await ann.get(PURCHASES))["items"]) == 1


async def test_purchases_in_pages_and_of_all_users(world: World) -> None:
    shop = await open_shop(world)
    ann, bob = await world.players("Ann", "Bob")
    await buy_all(shop, ann, bob)
    first = await ann.get(PURCHASES, limit=2)
    second = await ann.get(PURCHASES, limit=2, cursor=first["nextCursor"])
    assert (len(first["items"]), len(second["items"]), second["hasMore"]) == (2, 2, False)
    assert [one["status"] for one in (await ann.get(PURCHASES, status="fulfilled"))["items"]] == ["fulfilled"]
    everything = await shop.manager.get("/v1/admin/shop/purchases")
    assert len(everything["items"]) == 5
    assert all(one["payerId"] is not None for one in everything["items"])
    of_bob = await shop.manager.get("/v1/admin/shop/purchases", userId=bob.id)
    assert len(of_bob["items"]) == 2
    assert await ann.refused("GET", "/v1/admin/shop/purchases") == (403, "FORBIDDEN")


async def buy_all(shop: Shop, ann: Player, bob: Player) -> None:
    """Four purchases of Ann, the last paid and the third for Bob, and one of Bob alone."""
    one, two = await shop.product("one"), await shop.product("two")
    await shop.order(ann, one, two)
    await shop.order(ann, one, recipientId=bob.id)
    await shop.buy(ann, one)
    await shop.order(bob, two)


async def test_checkouts_that_cannot_be_ended_hold_up_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "A_RUN", 2)
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    orders = []
    for _ in range(3):
        orders.append(await shop.order(ann, product))
        world.advance(1)
    first, second, third = [order["checkout"]["id"] for order in orders]
    await refuse(world, "UPDATE ON shop_checkouts", f"OLD.id IN ('{first}', '{second}')")
    world.advance(30 * DAY_MS)
    attending = job_named(world, "checkouts")
    while await attending.run() is False:
        pass
    read = world.service.database.read
    found = [await read(read_checkout, id) for id in (first, second, third)]
    assert [one and one.status for one in found] == ["open", "open", "expired"]
