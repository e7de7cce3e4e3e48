"""Wire: buying by Stripe, from the order to what was bought, with a Stripe that goes wrong in every way."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from routes.logs import configure_logging
from routes.shop import parts
from scripts.upstreams.deliveries import Order
from scripts.upstreams.sites import Sites
from scripts.upstreams.stripe import SESSIONS, StripeSite
from scripts.upstreams.stripe_sessions import StripeSession
from tests.shop.play import CHECKOUT, PURCHASES, Shop, may, open_shop
from tests.shop.stripe_play import CANARY, SECRET
from tests.support.canaries import Overheard, dump, found, kept_in_files
from tests.support.jobs import job_named
from tests.support.plain_log import log_plainly
from tests.support.shifted_clock import ShiftedClock
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.support.world import Player, World, open_world

CREATE = f"POST {SESSIONS}"
MINUTE_MS = 60_000


@dataclass
class Market:
    """A shop, and the Stripe that takes its money."""

    shop: Shop
    site: StripeSite

    @property
    def world(self) -> World:
        return self.shop.world

    async def order(self, payer: Player) -> tuple[Any, StripeSession]:
        """A checkout, and its session at Stripe."""
        order = await self.shop.order(payer, await self.shop.product(amount=500))
        return order, self.session(order)

    def session(self, order: Any) -> StripeSession:
        (session,) = self.sessions(order["checkout"]["id"])
        return session

    def sessions(self, checkout_id: str) -> list[StripeSession]:
        return [one for one in self.site.sessions.values() if one.client_reference_id == checkout_id]

    async def told(self) -> None:
        """Wait until all webhooks have arrived."""
        with patience():
            await self.site.deliveries.idle()
        assert self.site.deliveries.given_up == []

    async def tend(self) -> None:
        """The job that looks after checkouts, once."""
        assert await job_named(self.world, "checkouts").run() is not False


@pytest.fixture
async def market(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Market]:
    monkeypatch.setattr(parts, "SECONDS", float(PATIENCE_SECONDS))
    clock = ShiftedClock()
    site = StripeSite(key=CANARY, webhook_secret=SECRET, now_s=lambda: clock.now_ms() // 1000)
    settings = {"shop_provider": "stripe", "stripe_key": CANARY, "shop_webhook_secret": SECRET}
    async with trio.open_nursery() as nursery:
        await nursery.start(Sites({"stripe": site}).serve)
        settings["stripe_url"] = site.base_url
        async with open_world(database_url, tmp_path, clock=clock, **settings) as world:
            site.deliveries.url = f"{world.url}/v1/shop/webhooks"
            yield Market(await open_shop(world), site)
        nursery.cancel_scope.cancel()


async def status(player: Player, order: Any) -> tuple[str, str]:
    """Of the checkout and of its purchase."""
    now = await player.get(f"{CHECKOUT}/{order['checkout']['id']}")
    return now["checkout"]["status"], now["purchases"][0]["status"]


async def test_who_pays_at_stripe_gets_what_was_sold(market: Market) -> None:
    """The payer presses the button on Stripe's page, and has it."""
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    assert order["checkout"]["url"] == session.url
    assert await status(ann, order) == ("open", "pending")
    page = await market.world.http.get(session.url)
    assert "Glow" in page.text
    paid = await market.world.http.post(session.url, data={"action": "pay"})
    assert (paid.status_code, paid.headers["location"]) == (303, session.success_url)
    await market.told()
    assert await status(ann, order) == ("completed", "fulfilled")
    assert await may(ann, "perk:glow")
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert (purchase["provider"], purchase["providerRef"]) == ("stripe", session.payment_intent)


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("order_of_events", ["same", "reversed", "shuffled"])
async def test_a_payment_with_all_that_can_follow(
    market: Market, order_of_events: Order, copies: int
) -> None:
    """In whatever order it is told, and however often."""
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    market.site.deliveries.held, market.site.deliveries.copies = True, copies
    market.site.pay(session.id, delayed=True)
    market.site.settle(session.id)
    market.site.dispute(session.id)
    market.site.dispute(session.id, status="won")
    market.site.refund(session.id, 200)
    market.site.refund(session.id)
    assert market.site.deliveries.flush(order_of_events) == 6
    await market.told()
    assert await status(ann, order) == ("completed", "refunded")
    assert not await may(ann, "perk:glow")


async def test_a_delayed_payment_that_arrives_or_not(market: Market) -> None:
    ann, bob = await market.world.players("Ann", "Bob")
    product = await market.shop.product()
    for payer, arrived in ((ann, True), (bob, False)):
        order = await market.shop.order(payer, product)
        session = market.session(order)
        market.site.pay(session.id, delayed=True)
        await market.told()
        assert await status(payer, order) == ("completed", "pending")
        assert not await may(payer, "perk:glow")
        market.site.settle(session.id, arrived=arrived)
        await market.told()
        assert await status(payer, order) == ("completed", "fulfilled" if arrived else "failed")
        assert await may(payer, "perk:glow") is arrived


async def test_a_dispute_suspends_until_it_is_won(market: Market) -> None:
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    for step, expected in (
        (lambda: market.site.pay(session.id), "fulfilled"),
        (lambda: market.site.dispute(session.id), "disputed"),
        (lambda: market.site.dispute(session.id, status="won"), "fulfilled"),
        (lambda: market.site.dispute(session.id), "disputed"),
        (lambda: market.site.dispute(session.id, status="lost"), "refunded"),
    ):
        step()
        await market.told()
        assert await status(ann, order) == ("completed", expected)
        assert await may(ann, "perk:glow") is (expected == "fulfilled")


async def test_another_amount_grants_nothing(market: Market) -> None:
    """Such as after a discount that only Stripe knows of: an admin decides."""
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    session.amount_total = 499
    market.site.pay(session.id)
    await market.told()
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert (purchase["status"], purchase["hold"]) == ("paid", "AMOUNT_MISMATCH")
    assert not await may(ann, "perk:glow")
    market.site.refund(session.id)
    await market.told()
    assert await status(ann, order) == ("completed", "refunded")


LOST = ("409", "429", "503", "dropped", "cut", "endless", "encoded", "redirect", "html")


async def _ordered_again(market: Market, ann: Player, product: Any) -> Any:
    body = {"items": [{"productId": product["id"]}]}
    answer = await ann.ask("POST", CHECKOUT, body, headers={"idempotency-key": "once"})
    if answer.status_code == 503:
        assert answer.json()["code"] == "UPSTREAM_UNAVAILABLE"
        assert int(answer.headers["retry-after"]) > 0
        return None
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.parametrize("fault", LOST)
async def test_a_repeat_goes_on_with_the_same_checkout(market: Market, fault: str) -> None:
    ann, product = await market.world.player("Ann"), await market.shop.product()
    market.site.faults.add(fault, on=CREATE, times=2)
    first = await _ordered_again(market, ann, product)
    while (order := first or await _ordered_again(market, ann, product)) is None:
        pass
    assert await _ordered_again(market, ann, product) == order
    market.session(order)
    assert len((await ann.get(PURCHASES))["items"]) == 1


async def test_money_that_comes_after_the_end_counts(market: Market) -> None:
    """Stripe's page was open for longer than we thought."""
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    market.site.deliveries.held = True
    market.site.expire(session.id)
    market.site.deliveries.flush()
    await market.told()
    assert await status(ann, order) == ("expired", "failed")
    session.status = "open"
    market.site.pay(session.id)
    market.site.deliveries.flush()
    await market.told()
    assert await status(ann, order) == ("completed", "fulfilled")


async def test_events_of_the_other_mode_change_nothing(market: Market) -> None:
    """The key is one for tests, and the event says that it is about real money."""
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    market.site.live = True
    market.site.pay(session.id)
    await market.told()
    assert market.site.deliveries.answers == [200]
    assert await status(ann, order) == ("open", "pending")


@pytest.fixture
def as_operated(market: Market, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """The log is that of the program, as its operator sees it."""
    configure_logging(market.world.service.config)
    yield
    log_plainly()


async def test_the_key_and_the_secret_are_nowhere(
    market: Market, tmp_path: Path, as_operated: None, capfd: pytest.CaptureFixture[str]
) -> None:
    """In no answer, log, metric, row or file; Stripe's own error repeats its key."""
    heard = Overheard(market.world)
    ann, root = await market.world.player("Ann"), await market.world.super_admin()
    order, session = await market.order(ann)
    market.site.key = "sk_test_other"
    assert await ann.refused("DELETE", f"{CHECKOUT}/{order['checkout']['id']}") == (
        503,
        "UPSTREAM_UNAVAILABLE",
    )
    await _ordered_again(market, ann, await market.shop.product("hat"))
    market.world.advance(16 * MINUTE_MS)
    await market.tend()
    market.site.key = CANARY
    market.site.pay(session.id)
    await market.told()
    for path in ("/metrics", "/v1/admin/actors", "/v1/admin/audit", "/openapi.json"):
        await root.ask("GET", path)
    for canary in (CANARY, SECRET):
        assert heard.saying(canary) == []
    kept = await market.world.service.database.read(dump)
    assert order["checkout"]["id"] in kept
    assert found([CANARY, SECRET], kept + "".join(kept_in_files(tmp_path))) == []
    logged = "".join(capfd.readouterr())
    assert "the payment provider" in logged
    assert found([CANARY, SECRET], logged) == []
