"""Wire: buying by Stripe, from the order to what was bought, with a Stripe that goes wrong in every way."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio
from structlog.testing import capture_logs

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
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.support.world import Player, ShiftedClock, World, open_world

CREATE = f"POST {SESSIONS}"
MINUTE_MS = 60_000
DAY_SECONDS = 86_400


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


async def test_buying(market: Market) -> None:
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


async def test_a_failure_that_stripe_repeats(market: Market) -> None:
    """The next key is used at once, and later the one after that."""
    ann, product = await market.world.player("Ann"), await market.shop.product()
    market.site.faults.add("500", on=CREATE, times=2)
    assert await _ordered_again(market, ann, product) is None
    order = await _ordered_again(market, ann, product)
    id = order["checkout"]["id"]
    assert [key for _, _, key in market.site.asked] == [f"partyline-{id}-{n}" for n in range(3)]
    assert market.session(order).url == order["checkout"]["url"]


@pytest.mark.parametrize("fault", ["400", "402"])
async def test_what_stripe_refuses_is_cancelled(market: Market, fault: str) -> None:
    ann, product = await market.world.player("Ann"), await market.shop.product()
    market.site.faults.add(fault, on=CREATE)
    with capture_logs() as lines:
        assert await _ordered_again(market, ann, product) is None
    assert [line["log_level"] for line in lines if "provider" in line["event"]] == ["error"]
    (purchase,) = (await ann.get(PURCHASES))["items"]
    assert purchase["status"] == "failed"
    assert (await ann.get(f"{CHECKOUT}/{purchase['checkoutId']}"))["checkout"]["status"] == "cancelled"


async def test_cancelling_ends_the_session_first(market: Market) -> None:
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    path = f"{CHECKOUT}/{order['checkout']['id']}"
    market.site.faults.add("503")
    assert await ann.refused("DELETE", path) == (503, "UPSTREAM_UNAVAILABLE")
    assert await status(ann, order) == ("open", "pending")
    for _ in range(2):
        await ann.do("DELETE", path, status=204)
    assert session.status == "expired"
    await market.told()
    assert await status(ann, order) == ("cancelled", "failed")


async def test_cancelling_too_late(market: Market) -> None:
    """The payer was faster, and the webhook is still on its way: the answer says so, and what was bought is there."""
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    market.site.deliveries.held = True
    market.site.pay(session.id)
    assert await ann.refused("DELETE", f"{CHECKOUT}/{order['checkout']['id']}") == (409, "INVALID_STATE")
    assert await status(ann, order) == ("completed", "fulfilled")
    market.site.deliveries.flush()
    await market.told()
    assert await status(ann, order) == ("completed", "fulfilled")


async def test_a_webhook_that_never_comes(market: Market) -> None:
    ann = await market.world.player("Ann")
    order, session = await market.order(ann)
    market.site.deliveries.held = True
    market.site.pay(session.id)
    market.world.advance(16 * MINUTE_MS)
    market.site.faults.add("500")
    await market.tend()
    assert await status(ann, order) == ("open", "pending")
    market.world.advance(11 * MINUTE_MS)
    await market.tend()
    assert await status(ann, order) == ("completed", "fulfilled")
    assert await may(ann, "perk:glow")


async def test_a_checkout_expires_when_stripe_agrees(market: Market) -> None:
    ann = await market.world.player("Ann", ttl_seconds=DAY_SECONDS)
    bob = await market.world.player("Bob", ttl_seconds=DAY_SECONDS)
    product = await market.shop.product()
    market.site.deliveries.held = True
    gone, paid = await market.shop.order(ann, product), await market.shop.order(bob, product)
    market.site.pay(market.session(paid).id)
    market.world.advance(66 * MINUTE_MS)
    await market.tend()
    assert await status(ann, gone) == ("expired", "failed")
    assert await status(bob, paid) == ("completed", "fulfilled")


async def test_a_checkout_that_never_got_its_session(market: Market) -> None:
    """Its session is found and ended, so that it cannot be paid any more."""
    ann, product = await market.world.player("Ann"), await market.shop.product()
    market.site.faults.add("dropped", on=CREATE)
    assert await _ordered_again(market, ann, product) is None
    market.world.advance(11 * MINUTE_MS)
    await market.tend()
    (purchase,) = (await ann.get(PURCHASES))["items"]
    (session,) = market.sessions(purchase["checkoutId"])
    assert (session.status, purchase["status"]) == ("expired", "failed")


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
    """The log is that of the program: what tests see of exceptions holds the values of variables."""
    configure_logging(market.world.service.config)
    yield
    structlog.reset_defaults()


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
