"""Wire: what a payment provider sends is believed when it is signed, and has its effect once."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
import stripe
import trio

from actors.time import DAY_MS
from routes.edge.principal import Access
from routes.shop.webhooks import WEBHOOK_MAX_BYTES
from routes.users.parts import RIGHTS, USER_DIRECTORY
from tests.shop.play import CHECKOUT, PURCHASES, may, open_shop
from tests.support.world import Player, World, open_world

WEBHOOKS = "/v1/shop/webhooks"
OLD, NEW = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
async def world(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database_url, tmp_path, shop_webhook_secret=f"{OLD},{NEW}") as world:
        yield world


def completed(order: Any, id: str = "evt_1", **more: Any) -> dict[str, Any]:
    """Stripe's event of a payment."""
    total = order["checkout"]["total"]
    session = {
        "object": "checkout.session",
        "id": "cs_test_1",
        "payment_status": "paid",
        "amount_total": total["amount"],
        "currency": total["currency"],
        "payment_intent": "pi_1",
        "metadata": {"checkoutId": order["checkout"]["id"]},
    }
    return {
        "id": id,
        "object": "event",
        "type": "checkout.session.completed",
        "data": {"object": session | more},
    }


def by_stripe(world: World, body: bytes, secret: str = NEW, at_s: int | None = None) -> dict[str, str]:
    at_s = world.clock.now_ms() // 1000 if at_s is None else at_s
    header = stripe.WebhookSignature.generate_signature_header(body.decode(), secret, at_s)
    return {"stripe-signature": header}


def by_standard(world: World, id: str, body: bytes, secret: str = NEW) -> dict[str, str]:
    at = datetime.fromtimestamp(world.clock.now_ms() // 1000, UTC)
    signature = standardwebhooks.Webhook(secret).sign(id, at, body.decode())
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signature,
    }


async def send(world: World, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    response = await world.nobody().ask("POST", WEBHOOKS, content=body, headers=headers)
    return response.status_code, response.json()


@pytest.mark.parametrize("secret", [OLD, NEW])
async def test_stripes_library_signs_what_is_taken(world: World, secret: str) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product())
    body = json.dumps(completed(order)).encode()
    headers = by_stripe(world, body, secret)
    assert await send(world, body, headers) == (200, {"received": True, "duplicate": False})
    assert await send(world, body, headers) == (200, {"received": True, "duplicate": True})
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert (purchase["status"], purchase["providerRef"]) == ("fulfilled", "pi_1")
    assert await may(ann, "perk:glow")


@pytest.mark.parametrize("secret", [OLD, NEW])
async def test_the_library_of_standard_webhooks_signs_what_is_taken(world: World, secret: str) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product())
    data = {"checkoutId": order["checkout"]["id"], "amount": 500, "currency": "EUR", "providerRef": "bank-7"}
    body = json.dumps({"type": "payment.succeeded", "data": data}).encode()
    assert (await send(world, body, by_standard(world, "msg_1", body, secret)))[0] == 200
    assert await may(ann, "perk:glow")
    purchase_id = order["purchases"][0]["id"]
    back = json.dumps({"type": "payment.refunded", "data": {"purchaseId": purchase_id}}).encode()
    assert (await send(world, back, by_standard(world, "msg_2", back, secret)))[0] == 200
    assert not await may(ann, "perk:glow")


async def test_refunds_of_other_senders_add_up(world: World) -> None:
    """The first arrives before its payment, the second twice, and the third is about one purchase."""
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product("one", 300), await shop.product("two", 200))
    checkout_id, (one, two) = order["checkout"]["id"], order["purchases"]

    async def tell(id: str, type: str, **data: Any) -> None:
        body = json.dumps({"type": type, "data": data}).encode()
        assert (await send(world, body, by_standard(world, id, body)))[0] == 200

    async def refunded() -> list[tuple[str, int]]:
        found = await ann.get(f"{CHECKOUT}/{checkout_id}")
        return [(purchase["status"], purchase["refundedAmount"]) for purchase in found["purchases"]]

    await tell("back-1", "payment.refunded", checkoutId=checkout_id, amount=100)
    await tell("paid", "payment.succeeded", checkoutId=checkout_id, amount=500, currency="eur")
    assert await refunded() == [("fulfilled", 100), ("fulfilled", 0)]
    for _ in range(2):
        await tell("back-2", "payment.refunded", checkoutId=checkout_id, amount=100)
    assert await refunded() == [("fulfilled", 200), ("fulfilled", 0)]
    await tell("back-3", "payment.refunded", purchaseId=two["id"], amount=150)
    assert await refunded() == [("fulfilled", 200), ("fulfilled", 150)]
    await tell("back-4", "payment.refunded", purchaseId=one["id"], amount=100)
    assert await refunded() == [("refunded", 300), ("fulfilled", 150)]
    await tell("back-5", "payment.refunded", checkoutId=checkout_id, amount=50)
    assert await refunded() == [("refunded", 300), ("refunded", 200)]
    assert not await may(ann, "perk:one")
    assert not await may(ann, "perk:two")


@pytest.mark.parametrize("off_s", [-301, 301])
async def test_a_signature_holds_for_five_minutes_in_both_directions(world: World, off_s: int) -> None:
    body = b'{"id":"evt_1","type":"unknown"}'
    world.clock.stop()
    now_s = world.clock.now_ms() // 1000
    edge = off_s // abs(off_s) * 300
    assert (await send(world, body, by_stripe(world, body, at_s=now_s + edge)))[0] == 200
    assert (await send(world, body, by_stripe(world, body, at_s=now_s + off_s)))[0] == 401


async def test_forgeries_get_one_answer_and_change_nothing(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product())
    body = json.dumps(completed(order)).encode()
    signed, standard = by_stripe(world, body), by_standard(world, "msg_1", body)
    forgeries: list[tuple[bytes, dict[str, str]]] = [
        (body, {}),
        (body + b" ", signed),
        (body.replace(b"500", b"499"), signed),
        (body, by_stripe(world, body, "whsec_wrong")),
        (body, {**standard, "stripe-signature": "t=1,v1=00"}),
        (body, {**standard, "webhook-id": "msg_2"}),
        (body, {**standard, "webhook-id": "msg.1"}),
        (json.dumps(json.loads(body), indent=1).encode(), signed),
    ]
    answers = [await send(world, content, headers) for content, headers in forgeries]
    assert {(status, answer["code"], answer["detail"]) for status, answer in answers} == {
        (401, "UNAUTHENTICATED", answers[0][1]["detail"])
    }
    found = await ann.get(f"{CHECKOUT}/{order['checkout']['id']}")
    assert (found["checkout"]["status"], found["purchases"][0]["status"]) == ("open", "pending")


@pytest.mark.parametrize("media", ["application/json", "text/plain"])
@pytest.mark.parametrize("body", [b"", b"{bad", b"{}"])
async def test_nothing_is_read_of_what_is_not_signed(world: World, body: bytes, media: str) -> None:
    for some in ({}, {"webhook-id": "msg_1", "webhook-timestamp": "1"}):
        headers = {"content-type": media, **some}
        answer = await world.nobody().ask("POST", WEBHOOKS, content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")


async def test_without_a_secret_nothing_is_believed(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        body = b'{"id":"evt_1","type":"unknown"}'
        for secret in (NEW, "", "None"):
            assert (await send(world, body, by_stripe(world, body, secret)))[0] == 401


async def test_what_is_signed_and_yet_not_understood(world: World) -> None:
    async def status(body: bytes) -> int:
        return (await send(world, body, by_stripe(world, body)))[0]

    assert (
        await status(b'{"id":"evt_1","type":"customer.created","data":{"object":{"object":"customer"}}}')
        == 200
    )
    assert await status(b"{") == 400
    assert await status(b"x" * (WEBHOOK_MAX_BYTES + 1)) == 413
    nested = b'{"id":"evt_2","type":"charge.refunded","data":' + b"[" * 20_000
    assert await status(nested) == 400


async def test_what_has_no_effect_comes_once_too(world: World) -> None:
    for body in (
        b'{"id":"evt_1","type":"customer.created","data":{"object":{"object":"customer"}}}',
        b'{"id":"evt_2","type":"checkout.completed","data":{}}',
    ):
        for duplicate in (False, True):
            answer = {"received": True, "duplicate": duplicate}
            assert await send(world, body, by_stripe(world, body)) == (200, answer)


async def test_fifty_at_once_are_one_fulfilment_and_open_sockets_know_it(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product())
    body = json.dumps(completed(order)).encode()
    headers = by_stripe(world, body)
    duplicates: list[bool] = []
    told = Told()
    access = await world.service.of(USER_DIRECTORY).access_of(ann.id)
    world.service.of(RIGHTS).follow(ann.id, told, access, capped=False)

    async def once() -> None:
        status, answer = await send(world, body, headers)
        assert status == 200
        duplicates.append(answer["duplicate"])

    async with ann.live("/v1/shop/events") as client:
        assert (await client.receive_json())["items"][0]["status"] == "pending"
        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(once)
        update = await client.receive_json()
        with trio.fail_after(2):
            await told.glows.wait()
    assert (update["type"], update["purchase"]["status"]) == ("purchase_updated", "fulfilled")
    assert duplicates.count(False) == 1
    root = await world.super_admin()
    rights = (await root.get(f"/v1/admin/users/{ann.id}/permissions"))["items"]
    assert [(one["node"], one["source"]) for one in rights] == [("perk:glow", "shop")]


class Told:
    """A stream that hears of its user's rights."""

    def __init__(self) -> None:
        self.glows = trio.Event()

    def recheck(self, access: Access) -> None:
        if access.allows("perk:glow"):
            self.glows.set()


async def test_the_channel_and_the_stream_say_the_same(world: World) -> None:
    shop = await open_shop(world)
    ann, bob = await world.players("Ann", "Bob")
    product = await shop.product()

    async def updates(player: Player) -> list[Any]:
        async with player.live("/v1/social/live?channels=") as client:
            await client.send_json(
                {"id": 1, "op": "subscribe", "channel": "shop", "params": {"mode": "delta"}}
            )
            snapshot = await client.receive_until(type="snapshot")
            assert snapshot["data"] == {"type": "purchases_snapshot", "items": []}
            order = await shop.order(ann, product, recipientId=bob.id)
            seen = [await client.receive_until(type="event")]
            for changed in (shop.paid, shop.refunded):
                await changed(order["purchases"][0])
                seen.append(await client.receive_until(type="event"))
            return [(one["event"], one["offset"], one["data"]["purchase"]) for one in seen]

    found = await updates(bob)
    assert [(event, offset, one["status"]) for event, offset, one in found] == [
        ("purchase_updated", 1, "pending"),
        ("purchase_updated", 2, "fulfilled"),
        ("purchase_updated", 3, "refunded"),
    ]
    assert all(one["payerId"] is None for _, _, one in found)


async def test_what_was_kept_of_webhooks_is_bounded_in_time(world: World) -> None:
    body = b'{"id":"evt_1","type":"payment.disputed","data":{"checkoutId":"%s"}}' % (b"0" * 24)
    assert (await send(world, body, by_stripe(world, body)))[1]["duplicate"] is False
    world.advance(DAY_MS)
    assert (await send(world, body, by_stripe(world, body)))[1]["duplicate"] is True
