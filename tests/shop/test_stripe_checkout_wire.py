"""Wire: checkouts that are paid at Stripe, with a Stripe of ours that fails in all the ways which are documented."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.shop.provider_events import EventKind, ProviderEvent
from persistence.connection import Connection
from persistence.shop.checkouts import Checkout, read_checkout
from routes.shop import jobs
from routes.shop.jobs import OVERDUE_MS, UNASKED_MS, UNPAID_MS
from scripts.upstreams.sites import Sites
from scripts.upstreams.stripe import SESSIONS, StripeSite
from scripts.upstreams.stripe_sessions import StripeSession
from tests.shop.play import ALL_PURCHASES, CHECKOUT, PURCHASES, Shop, may, open_shop
from tests.support.jobs import job_named
from tests.support.world import Player, World, open_world

KEY = "sk_test_canary7Qx"
CREATE, EXPIRE, READ = f"POST {SESSIONS}", f"POST {SESSIONS}/", f"GET {SESSIONS}/"


@dataclass
class Paid:
    """A shop whose payers go to Stripe.

    Args:
        site: Stripe; it tells us nothing by itself.
        ann: a payer.
        product: what she buys.
    """

    world: World
    site: StripeSite
    shop: Shop
    ann: Player
    product: Any

    async def order(self, **headers: str) -> tuple[int, Any]:
        """Status and answer of a checkout."""
        body = {"items": [{"productId": self.product["id"]}]}
        response = await self.ann.ask("POST", CHECKOUT, body, headers=headers)
        return response.status_code, response.json()

    async def made(self) -> Any:
        """A checkout with a session."""
        status, order = await self.order()
        assert status == 201, order
        return order["checkout"]

    def session(self) -> StripeSession:
        """The only session."""
        (session,) = self.site.sessions.values()
        return session

    async def row(self, checkout: Any) -> Checkout:
        found = await self.world.service.database.read(read_checkout, checkout["id"])
        assert found is not None
        return found

    async def attend(self) -> None:
        """What the job does, once."""
        await job_named(self.world, "checkouts").run()

    async def cancel(self, checkout: Any) -> int:
        return (await self.ann.ask("DELETE", f"{CHECKOUT}/{checkout['id']}")).status_code

    def later(self, ms: int) -> None:
        """Let time pass, with a token of then."""
        self.world.advance(ms)
        self.ann.headers = {"authorization": f"Bearer {self.world.token(self.ann.id, self.ann.name)}"}


@pytest.fixture
async def paid(database_url: str, tmp_path: Path) -> AsyncIterator[Paid]:
    async with at_stripe(database_url, tmp_path) as paid:
        yield paid


@asynccontextmanager
async def at_stripe(database_url: str, folder: Path) -> AsyncIterator[Paid]:
    async with trio.open_nursery() as nursery:
        clock: list[World] = []
        site = StripeSite(key=KEY, now_s=lambda: clock[0].clock.now_ms() // 1000)
        await nursery.start(Sites({"stripe": site}).serve)
        settings = {"shop_provider": "stripe", "stripe_key": KEY, "stripe_url": site.base_url}
        async with open_world(database_url, folder, **settings) as world:
            clock.append(world)
            shop, ann = await open_shop(world), await world.player("Ann")
            yield Paid(world, site, shop, ann, await shop.product())
        nursery.cancel_scope.cancel()


async def test_a_checkout_has_a_page_of_stripe(paid: Paid) -> None:
    checkout = await paid.made()
    session = paid.session()
    assert checkout["url"].startswith(paid.site.base_url)
    assert session.client_reference_id == checkout["id"]
    row = await paid.row(checkout)
    assert (row.session_ref, row.status) == (session.id, "open")


async def test_a_repeat_finds_the_checkout_and_its_session(paid: Paid) -> None:
    paid.site.faults.add("cut", on=CREATE)
    status, problem = await paid.order(**{"idempotency-key": "one"})
    assert (status, problem["code"]) == (503, "UPSTREAM_UNAVAILABLE")
    again = [await paid.order(**{"idempotency-key": "one"}) for _ in range(2)]
    assert [status for status, _ in again] == [201, 201]
    assert again[0][1] == again[1][1]
    assert len(paid.site.sessions) == 1
    assert len((await paid.ann.get(PURCHASES))["items"]) == 1


async def test_another_body_under_the_key_of_a_half_made_checkout_is_refused(paid: Paid) -> None:
    paid.site.faults.add("503", on=CREATE, times=2)
    assert (await paid.order(**{"idempotency-key": "one"}))[0] == 503
    body = {"items": [{"productId": paid.product["id"], "quantity": 2}]}
    response = await paid.ann.ask("POST", CHECKOUT, body, headers={"idempotency-key": "one"})
    assert (response.status_code, response.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_a_failure_that_stripe_repeats_is_passed_by(paid: Paid) -> None:
    paid.site.faults.add("500", on=CREATE)
    checkout = await paid.made()
    assert (await paid.row(checkout)).attempt == 1


async def test_what_stripe_refuses_is_cancelled(paid: Paid, capsys: pytest.CaptureFixture[str]) -> None:
    paid.site.faults.add("400", on=CREATE)
    status, problem = await paid.order()
    assert (status, problem["code"]) == (503, "UPSTREAM_UNAVAILABLE")
    (purchase,) = (await paid.ann.get(PURCHASES))["items"]
    assert purchase["status"] == "failed"
    out = capsys.readouterr().out
    assert "refused a checkout" in out
    assert KEY not in out


@pytest.mark.parametrize(("amount", "quantity"), [(50_000_000, 2), (99_999_999, 99), (60, 1)])
async def test_what_stripe_would_refuse_is_not_ordered(paid: Paid, amount: int, quantity: int) -> None:
    """Neither more than eight digits, nor, of a price from before there was Stripe, too little."""
    product = await paid.shop.product("gold", amount=amount)
    if amount < 100:
        await paid.world.service.database.transact(_cheapen, product["id"])
    body = {"items": [{"productId": product["id"], "quantity": quantity}]}
    response = await paid.ann.ask("POST", CHECKOUT, body)
    assert response.status_code == 422, response.text
    (error,) = response.json()["errors"]
    assert (error["pointer"], error["code"]) == ("/items", "OUT_OF_RANGE")
    assert (await paid.ann.get(PURCHASES))["items"] == []
    assert not paid.site.sessions


async def _cheapen(conn: Connection, product_id: str) -> None:
    await conn.execute("UPDATE shop_products SET amount = 49 WHERE id = $1", product_id)


async def test_stripe_takes_eight_digits(paid: Paid) -> None:
    product = await paid.shop.product("gold", amount=33_333_333)
    body = {"items": [{"productId": product["id"], "quantity": 3}]}
    made = await paid.ann.do("POST", CHECKOUT, body, status=201)
    assert made["checkout"]["total"]["amount"] == paid.session().amount_total == 99_999_999


async def test_what_costs_nothing_never_meets_stripe(paid: Paid) -> None:
    free = await paid.shop.product("free", 0, limit=1)
    order = await paid.shop.order(paid.ann, free)
    assert (order["checkout"]["status"], order["checkout"]["url"]) == ("completed", None)
    assert not paid.site.sessions


async def test_a_cancelled_checkout_cannot_be_paid_any_more(paid: Paid) -> None:
    checkout = await paid.made()
    assert await paid.cancel(checkout) == 204
    assert paid.session().status == "expired"
    assert await paid.cancel(checkout) == 204


async def test_a_checkout_that_turns_out_paid_is_not_cancelled(paid: Paid) -> None:
    checkout = await paid.made()
    paid.site.pay(paid.session().id)
    assert await paid.cancel(checkout) == 409
    assert (await paid.row(checkout)).status == "completed"
    assert await may(paid.ann, "perk:glow")


async def test_a_webhook_about_the_end_that_is_faster_does_not_hinder_the_cancelling(paid: Paid) -> None:
    checkout = await paid.made()
    held = paid.site.faults.add("held", on=EXPIRE)
    statuses: list[int] = []

    async def cancel() -> None:
        statuses.append(await paid.cancel(checkout))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancel)
        await held.reached.wait()
        event = ProviderEvent(id="evt_1", kind=EventKind.EXPIRED, checkout_id=checkout["id"])
        await paid.shop.told(event)
        paid.site.faults.release()
    assert statuses == [204]
    assert (await paid.row(checkout)).status == "expired"


async def test_a_checkout_stays_as_long_as_its_session_cannot_be_ended(paid: Paid) -> None:
    checkout = await paid.made()
    paid.site.faults.add("503", on=EXPIRE)
    assert await paid.cancel(checkout) == 503
    assert (await paid.row(checkout)).status == "open"


async def test_money_that_no_webhook_has_told_of_is_found(paid: Paid) -> None:
    checkout = await paid.made()
    paid.site.pay(paid.session().id)
    await paid.attend()
    assert (await paid.row(checkout)).status == "open"
    paid.later(UNASKED_MS + 1)
    await paid.attend()
    assert (await paid.row(checkout)).status == "completed"
    assert await may(paid.ann, "perk:glow")


async def test_money_that_was_on_its_way_is_asked_for_again(paid: Paid) -> None:
    checkout = await paid.made()
    session = paid.session()
    paid.site.pay(session.id, delayed=True)
    paid.later(UNASKED_MS + 1)
    await paid.attend()
    assert (await paid.row(checkout)).status == "completed"
    assert not await may(paid.ann, "perk:glow")
    paid.site.settle(session.id)
    paid.later(UNASKED_MS + 1)
    await paid.attend()
    assert await may(paid.ann, "perk:glow")


async def test_a_checkout_whose_session_was_never_known_is_ended_there_too(paid: Paid) -> None:
    paid.site.faults.add("cut", on=CREATE)
    assert (await paid.order())[0] == 503
    (purchase,) = (await paid.ann.get(PURCHASES))["items"]
    paid.later(UNASKED_MS + 1)
    await paid.attend()
    assert paid.session().status == "expired"
    assert (await paid.row({"id": purchase["checkoutId"]})).status == "cancelled"


async def test_time_ends_a_checkout_only_when_stripe_agrees(paid: Paid) -> None:
    checkout = await paid.made()
    session = paid.session()
    paid.site.pay(session.id)
    paid.later(60 * 60 * 1000 + OVERDUE_MS + 1)
    await paid.attend()
    assert (await paid.row(checkout)).status == "completed"
    second = await paid.made()
    paid.later(60 * 60 * 1000 + OVERDUE_MS + 1)
    paid.site.faults.add("503", on=EXPIRE)
    await paid.attend()
    assert (await paid.row(second)).status == "open"
    paid.later(UNASKED_MS + 1)
    await paid.attend()
    assert (await paid.row(second)).status == "expired"


async def test_no_checkout_waits_behind_those_that_stripe_does_not_answer_about(
    paid: Paid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "A_RUN", 2)
    first, second, third, by_hand = [await paid.made() for _ in range(4)]
    await paid.world.service.database.transact(_made_by_hand, by_hand["id"])
    paid.site.pay((await paid.row(third)).session_ref or "")
    paid.later(60 * 60_000 + OVERDUE_MS + 1)
    away = paid.site.faults.add("503", on=EXPIRE, times=2)
    assert await job_named(paid.world, "checkouts").run() is False
    assert away.reached.is_set()
    assert [(await paid.row(one)).status for one in (first, second, third, by_hand)] == [
        "open", "open", "open", "expired",
    ]  # fmt: skip
    await paid.attend()
    assert [(await paid.row(one)).status for one in (first, second, third)] == ["open", "open", "completed"]
    paid.later(UNASKED_MS + 1)
    await paid.attend()
    assert [(await paid.row(one)).status for one in (first, second)] == ["expired", "expired"]


async def _made_by_hand(conn: Connection, checkout_id: str) -> None:
    await conn.execute(
        "UPDATE shop_checkouts SET provider = 'manual', session_ref = NULL WHERE id = $1", checkout_id
    )


async def test_what_is_marked_as_paid_cannot_be_paid_at_stripe_any_more(paid: Paid) -> None:
    checkout = await paid.made()
    (purchase,) = (await paid.ann.get(PURCHASES))["items"]
    await paid.shop.paid(purchase)
    assert (paid.session().status, (await paid.row(checkout)).status) == ("expired", "completed")
    refund = f"/v1/admin/shop/purchases/{purchase['id']}/refund"
    assert (await paid.shop.manager.ask("POST", refund)).status_code == 200


async def test_a_mark_that_is_refused_leaves_the_session(paid: Paid) -> None:
    """Its payer may be about to pay."""
    await paid.made()
    (purchase,) = (await paid.ann.get(PURCHASES))["items"]
    path = f"{ALL_PURCHASES}/{purchase['id']}/mark-paid"
    for body in ({"note": "two\nlines"}, {"providerRef": "\u0000"}):
        assert await paid.shop.manager.refused("POST", path, body) == (422, "VALIDATION_FAILED")
    assert paid.session().status == "open"


async def test_what_was_paid_at_stripe_meanwhile_is_not_marked_but_fulfilled(paid: Paid) -> None:
    checkout = await paid.made()
    (purchase,) = (await paid.ann.get(PURCHASES))["items"]
    paid.site.pay(paid.session().id)
    path = f"/v1/admin/shop/purchases/{purchase['id']}"
    assert await paid.shop.manager.refused("POST", f"{path}/mark-paid", {}) == (409, "INVALID_STATE")
    assert (await paid.row(checkout)).status == "completed"
    assert await paid.shop.manager.refused("POST", f"{path}/refund") == (409, "INVALID_STATE")


async def test_money_that_never_comes_is_given_up_and_counts_when_it_comes_after_all(paid: Paid) -> None:
    checkout = await paid.made()
    session = paid.session()
    paid.site.pay(session.id, delayed=True)
    for _ in range(2):
        paid.later(UNPAID_MS)
        await paid.attend()
    assert [one["status"] for one in (await paid.ann.get(PURCHASES))["items"]] == ["failed"]
    late = ProviderEvent(id="evt_1", kind=EventKind.PAID, checkout_id=checkout["id"])
    await paid.shop.told(late)
    assert [one["status"] for one in (await paid.ann.get(PURCHASES))["items"]] == ["fulfilled"]


async def test_a_gift_of_the_house_can_be_taken_back(paid: Paid) -> None:
    free = await paid.shop.product("free", 0, limit=1)
    order = await paid.shop.order(paid.ann, free)
    assert (await paid.shop.refunded(order["purchases"][0]))["status"] == "refunded"
