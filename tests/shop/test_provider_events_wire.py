"""What payment providers tell, in any order and more than once, leads to the state that the tables name."""

from itertools import permutations
from typing import Any

import pytest
import structlog
import trio

from actors.shop.moves import PURCHASE_MOVES, PurchaseMove
from actors.shop.provider_events import EventKind, ProviderEvent
from actors.shop.units_provider import take_event
from persistence.connection import Connection
from persistence.shop.entitlements import live_of_user
from persistence.users.audit import Stamp
from tests.shop.play import CHECKOUT, PURCHASES, Shop, may, open_shop
from tests.support.world import Player, World

K = EventKind
PAYMENT = "pi_1"


async def ordered(world: World, **more: Any) -> tuple[Shop, Player, Any]:
    """A shop, and Ann, who has ordered one product."""
    shop, ann = await open_shop(world), await world.player("Ann")
    return shop, ann, await shop.order(ann, await shop.product(), **more)


def event(kind: EventKind, order: Any, id: str = "", **more: Any) -> ProviderEvent:
    """An event about the payment of an order; payments alone name the checkout."""
    if kind in {K.COMPLETED, K.COMPLETED_UNPAID, K.PAID, K.FAILED, K.EXPIRED}:
        more = {"checkout_id": order["checkout"]["id"]} | more
    if kind in {K.COMPLETED, K.PAID}:
        more = order["checkout"]["total"] | more
    return ProviderEvent(id=f"evt_{id or kind.value}", kind=kind, **{"payment_ref": PAYMENT} | more)


async def state_of(player: Player, order: Any) -> tuple[str, str]:
    found = await player.get(f"{CHECKOUT}/{order['checkout']['id']}")
    return found["checkout"]["status"], found["purchases"][0]["status"]


@pytest.mark.parametrize(
    "kinds", list(permutations((K.COMPLETED, K.REFUNDED, K.DISPUTED, K.EXPIRED))), ids=str
)
async def test_all_orders_of_the_same_events_end_alike(world: World, kinds: tuple[EventKind, ...]) -> None:
    shop, ann, order = await ordered(world)
    for kind in kinds:
        assert not await shop.told(event(kind, order))
    assert await state_of(ann, order) == ("completed", "refunded")
    assert not await may(ann, "perk:glow")


@pytest.mark.parametrize("kinds", list(permutations((K.COMPLETED, K.DISPUTED, K.DISPUTE_WON))), ids=str)
async def test_a_dispute_that_was_won_leaves_the_rights(world: World, kinds: tuple[EventKind, ...]) -> None:
    shop, ann, order = await ordered(world)
    for kind in kinds:
        await shop.told(event(kind, order))
    assert await state_of(ann, order) == ("completed", "fulfilled")
    assert await may(ann, "perk:glow")


@pytest.mark.parametrize("kinds", list(permutations((K.COMPLETED, K.DISPUTED, K.DISPUTE_LOST))), ids=str)
async def test_a_dispute_that_was_lost_takes_them(world: World, kinds: tuple[EventKind, ...]) -> None:
    shop, ann, order = await ordered(world)
    for kind in kinds:
        await shop.told(event(kind, order))
    assert await state_of(ann, order) == ("completed", "refunded")
    assert not await may(ann, "perk:glow")


async def test_a_dispute_suspends_the_rights_with_their_old_end(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product(grants=[{"node": "perk:glow", "expiresInDays": 10}])
    order = await shop.order(ann, product)

    async def ends() -> list[int | None]:
        rows = await world.service.database.read(live_of_user, ann.id, world.clock.now_ms())
        return [row.ends_at_ms for row in rows]

    await shop.told(event(K.COMPLETED, order))
    before = await ends()
    await shop.told(event(K.DISPUTED, order))
    assert not await may(ann, "perk:glow")
    world.advance(1_000)
    await shop.told(event(K.DISPUTE_WON, order))
    assert await may(ann, "perk:glow")
    assert await ends() == before != []


async def test_money_that_is_on_its_way(world: World) -> None:
    shop, ann, order = await ordered(world)
    await shop.told(event(K.COMPLETED_UNPAID, order))
    assert await state_of(ann, order) == ("completed", "pending")
    await shop.told(event(K.FAILED, order))
    assert await state_of(ann, order) == ("completed", "failed")
    await shop.told(event(K.PAID, order))
    assert await state_of(ann, order) == ("completed", "fulfilled")


@pytest.mark.parametrize("more", [{"amount": 499}, {"amount": 501}, {"currency": "usd"}], ids=str)
async def test_another_amount_is_held_until_an_admin_decides(world: World, more: dict[str, Any]) -> None:
    shop, ann, order = await ordered(world)
    await shop.told(event(K.COMPLETED, order, **more))
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert (purchase["status"], purchase["hold"]) == ("paid", "AMOUNT_MISMATCH")
    assert not await may(ann, "perk:glow")
    accepted = await shop.paid(purchase)
    assert (accepted["status"], accepted["hold"]) == ("fulfilled", None)
    assert await may(ann, "perk:glow")


async def test_money_for_what_has_ended_counts_unless_it_would_exceed_the_limit(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product(limit=1)
    first = await shop.order(ann, product)
    await ann.do("DELETE", f"{CHECKOUT}/{first['checkout']['id']}")
    assert await state_of(ann, first) == ("cancelled", "failed")
    second = await shop.order(ann, product)
    await shop.told(event(K.COMPLETED, first))
    assert await state_of(ann, first) == ("completed", "paid")
    held = (await ann.get(PURCHASES, status="paid"))["items"]
    assert [one["hold"] for one in held] == ["LIMIT"]
    await ann.do("DELETE", f"{CHECKOUT}/{second['checkout']['id']}")
    await shop.told(event(K.COMPLETED, second, "late", payment_ref="pi_2"))
    assert await state_of(ann, second) == ("completed", "paid")


async def test_money_for_an_expired_checkout_counts(world: World) -> None:
    shop, ann, order = await ordered(world)
    await shop.told(event(K.EXPIRED, order))
    assert await state_of(ann, order) == ("expired", "failed")
    await shop.told(event(K.COMPLETED, order))
    assert await state_of(ann, order) == ("completed", "fulfilled")


async def test_parts_that_go_back_add_up_over_the_lines(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product("one", 300), await shop.product("two", 200))
    await shop.told(event(K.COMPLETED, order))

    async def refunded() -> list[tuple[str, int]]:
        found = await ann.get(f"{CHECKOUT}/{order['checkout']['id']}")
        return [(one["status"], one["refundedAmount"]) for one in found["purchases"]]

    for so_far, expected in (
        (100, [("fulfilled", 100), ("fulfilled", 0)]),
        (350, [("fulfilled", 300), ("fulfilled", 50)]),
        (200, [("fulfilled", 300), ("fulfilled", 50)]),
        (None, [("refunded", 300), ("refunded", 200)]),
    ):
        await shop.told(event(K.REFUNDED, order, f"refund-{so_far}", refunded_amount=so_far))
        assert await refunded() == expected
    assert not await may(ann, "perk:one")


async def test_a_part_that_goes_back_in_another_currency_is_no_amount_of_the_order(world: World) -> None:
    shop, ann, order = await ordered(world)
    await shop.told(event(K.COMPLETED, order, currency="jpy"))
    (held,) = (await ann.get(PURCHASES))["items"]
    await shop.paid(held)
    with structlog.testing.capture_logs() as lines:
        await shop.told(event(K.REFUNDED, order, "part", refunded_amount=600, currency="jpy"))
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert (purchase["status"], purchase["refundedAmount"]) == ("fulfilled", 0)
    assert [one["checkout_id"] for one in lines if one["log_level"] == "error"] == [order["checkout"]["id"]]
    await shop.told(event(K.REFUNDED, order, "all", currency="jpy"))
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert (purchase["status"], purchase["refundedAmount"]) == ("refunded", 500)


async def test_fifty_equal_events_at_once_are_one(world: World) -> None:
    shop, ann, order = await ordered(world)
    duplicates: list[bool] = []

    async def tell() -> None:
        duplicates.append(await shop.told(event(K.COMPLETED, order)))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(tell)
    assert duplicates.count(False) == 1
    rows = await world.service.database.read(live_of_user, ann.id, world.clock.now_ms())
    assert [row.node for row in rows] == ["perk:glow"]


async def test_payment_and_refund_at_once_end_refunded(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    orders = [await shop.order(ann, product) for _ in range(4)]
    async with trio.open_nursery() as nursery:
        for number, order in enumerate(orders):
            ref = f"pi_{number}"
            for kind in (K.COMPLETED, K.REFUNDED):
                nursery.start_soon(shop.told, event(kind, order, f"{kind.value}-{ref}", payment_ref=ref))
    assert [await state_of(ann, order) for order in orders] == [("completed", "refunded")] * 4


async def test_a_refund_that_names_a_purchase_is_about_that_one(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product("one", 300), await shop.product("two", 200))
    await shop.told(event(K.COMPLETED, order))
    about = {"purchase_id": order["purchases"][1]["id"], "payment_ref": "another-name"}
    await shop.told(event(K.REFUNDED, order, **about))
    found = await ann.get(f"{CHECKOUT}/{order['checkout']['id']}")
    assert [one["status"] for one in found["purchases"]] == ["fulfilled", "refunded"]


async def test_disputes_are_told_apart(world: World) -> None:
    shop, ann, order = await ordered(world)
    await shop.told(event(K.COMPLETED, order))
    steps = [
        (K.DISPUTED, "a", "disputed"),
        (K.DISPUTED, "b", "disputed"),
        (K.DISPUTE_WON, "a", "disputed"),
        (K.DISPUTE_WON, "b", "fulfilled"),
        (K.DISPUTED, "c", "disputed"),
        (K.DISPUTED, "a", "disputed"),
        (K.DISPUTE_WON, "c", "fulfilled"),
    ]
    for number, (kind, ref, status) in enumerate(steps):
        await shop.told(event(kind, order, f"{number}", dispute_ref=ref))
        assert (await state_of(ann, order))[1] == status, number


async def test_what_is_disputed_while_it_is_on_hold_is_not_given(world: World) -> None:
    shop, _, order = await ordered(world)
    await shop.told(event(K.COMPLETED, order, amount=1))
    await shop.told(event(K.DISPUTED, order))
    path = f"/v1/admin/shop/purchases/{order['purchases'][0]['id']}/mark-paid"
    assert await shop.manager.refused("POST", path, {}) == (409, "INVALID_STATE")
    await shop.told(event(K.DISPUTE_WON, order))
    assert (await shop.paid(order["purchases"][0]))["status"] == "fulfilled"


async def test_what_an_admin_accepted_is_still_refunded_by_its_payment(world: World) -> None:
    shop, ann, order = await ordered(world)
    await shop.told(event(K.COMPLETED, order, amount=1))
    path = f"/v1/admin/shop/purchases/{order['purchases'][0]['id']}"
    accepted = await shop.manager.do("POST", f"{path}/mark-paid", {"providerRef": "ok by Mona"})
    assert accepted["providerRef"] == PAYMENT
    await shop.told(event(K.REFUNDED, order))
    assert await state_of(ann, order) == ("completed", "refunded")
    assert not await may(ann, "perk:glow")


async def test_one_payment_for_two_checkouts(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    orders = [await shop.order(ann, product) for _ in range(2)]
    for number, order in enumerate(orders):
        await shop.told(event(K.PAID, order, f"{number}"))
    assert [await state_of(ann, order) for order in orders] == [("completed", "fulfilled")] * 2


async def test_a_second_payment_is_not_lost_in_silence(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, ann, order = await ordered(world)
    await shop.paid(order["purchases"][0])
    await shop.told(event(K.COMPLETED, order))
    assert await state_of(ann, order) == ("completed", "fulfilled")
    assert "not the one of its checkout" in capsys.readouterr().out


async def test_a_refund_is_not_missed_while_its_payment_is_being_made_known(world: World) -> None:
    shop, ann, order = await ordered(world)
    known, token = trio.Event(), trio.lowlevel.current_trio_token()

    async def pay_slowly(conn: Connection) -> None:
        await take_event(conn, event(K.COMPLETED, order), Stamp("0" * 24, world.clock.now_ms(), None, None))
        token.run_sync_soon(known.set)
        await conn.execute("SELECT pg_sleep(0.1)")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(world.service.database.transact, pay_slowly)
        await known.wait()
        await shop.told(event(K.REFUNDED, order))
    assert await state_of(ann, order) == ("completed", "refunded")
    assert not await may(ann, "perk:glow")


async def test_what_names_nothing_of_ours_changes_nothing(world: World) -> None:
    shop, ann, order = await ordered(world)
    for kind in K:
        stranger = ProviderEvent(
            id=f"evt_{kind.value}", kind=kind, checkout_id="0" * 24, purchase_id="1" * 24
        )
        assert not await shop.told(stranger)
    assert await state_of(ann, order) == ("open", "pending")


async def test_a_recipient_who_is_gone_gets_nothing_and_the_money_is_kept_for_an_admin(world: World) -> None:
    shop, ann, root = await open_shop(world), await world.player("Ann"), await world.super_admin()
    bob = await world.player("Bob")
    order = await shop.order(ann, await shop.product(), recipientId=bob.id)
    await root.do("DELETE", f"/v1/admin/users/{bob.id}")
    await shop.told(event(K.COMPLETED, order))
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert (purchase["status"], purchase["hold"], purchase["recipientId"]) == ("paid", "RECIPIENT_GONE", None)
    refused = await shop.manager.refused("POST", f"/v1/admin/shop/purchases/{purchase['id']}/mark-paid", {})
    assert refused == (409, "INVALID_STATE")


def test_refunded_is_final_and_every_move_leads_somewhere() -> None:
    assert not [move for (status, move) in PURCHASE_MOVES if status == "refunded"]
    assert {move for _, move in PURCHASE_MOVES} == set(PurchaseMove)
