"""A service process that sells by a Stripe of ours, to be killed while money is on its way."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import trio

from scripts.upstreams.sites import Sites
from scripts.upstreams.stripe import SESSIONS, StripeSite
from scripts.upstreams.stripe_sessions import StripeSession
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS, patience

CHECKOUT = "/v1/shop/checkout"
PURCHASES = "/v1/shop/purchases"
PRODUCTS = "/v1/admin/shop/products"
WEBHOOKS = "/v1/shop/webhooks"
CREATE = f"POST {SESSIONS}"

NODE = "perk:glow"
SECRET = "whsec_of_a_test"
PRODUCT = {
    "slug": "glow",
    "name": "Glow",
    "kind": "permission",
    "price": {"amount": 500, "currency": "EUR"},
    "grants": [{"node": NODE}],
}
RETRY_SECONDS = 0.02


@dataclass
class Buyer:
    """A user, who buys once, by one request that may be repeated."""

    id: str
    token: str
    key: str


@dataclass
class Counter:
    """The process, its Stripe, and one product.

    Args:
        root: token of a super-admin.
        client: for the service.
    """

    server: ServerProcess
    site: StripeSite
    root: str
    client: httpx2.AsyncClient
    product: str = ""

    async def buyer(self, number: int) -> Buyer:
        """A new user."""
        id = f"{number:08d}-0000-4000-8000-000000000000"
        return Buyer(id, await self.server.token(f"Buyer{number}", f"--id={id}"), f"buy-{number}")

    async def order(self, buyer: Buyer) -> httpx2.Response:
        """Ask for a checkout, once; raises TransportError where the answer is lost."""
        body = {"items": [{"productId": self.product}]}
        headers = {"Authorization": f"Bearer {buyer.token}", "Idempotency-Key": buyer.key}
        return await self.client.post(CHECKOUT, json=body, headers=headers)

    async def order_until_answered(self, buyer: Buyer) -> dict[str, Any]:
        """The checkout, after as many repeats as it takes."""
        with patience():
            while True:
                try:
                    answer = await self.order(buyer)
                except httpx2.TransportError:
                    await trio.sleep(RETRY_SECONDS)
                    continue
                if answer.status_code == 201:
                    checkout: dict[str, Any] = answer.json()["checkout"]
                    return checkout
                assert answer.status_code in {409, 503}, answer.text
                await trio.sleep(RETRY_SECONDS)

    async def order_in_vain(self, buyer: Buyer) -> None:
        """Ask for a checkout of a process that is killed meanwhile."""
        try:
            answer = await self.order(buyer)
        except httpx2.TransportError:
            return
        assert answer.status_code in {201, 503}, answer.text

    async def get(self, bearer: str, path: str, **query: str) -> Any:
        """What a path answers."""
        answer = await self.client.get(path, params=query, headers={"Authorization": f"Bearer {bearer}"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def sessions_of(self, checkout_id: str) -> list[StripeSession]:
        """The sessions that Stripe has made for a checkout."""
        return [one for one in self.site.sessions.values() if one.client_reference_id == checkout_id]

    async def all_told(self) -> None:
        """Wait until all webhooks were taken."""
        with patience():
            await self.site.deliveries.idle()
        assert self.site.deliveries.given_up == []


@asynccontextmanager
async def selling(**settings: str) -> AsyncIterator[Counter]:
    """A service that is ready, with one product on sale.

    Args:
        settings: further configuration, by field name.
    """
    site = StripeSite(webhook_secret=SECRET)
    site.deliveries.tries = 10_000
    async with trio.open_nursery() as nursery:
        await nursery.start(Sites({"stripe": site}).serve)
        async with (
            server_process(
                shop_provider="stripe",
                stripe_url=site.base_url,
                stripe_key=site.key,
                shop_webhook_secret=SECRET,
                **settings,
            ) as server,
            httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client,
        ):
            site.deliveries.url = f"{server.url}{WEBHOOKS}"
            root = await server.token("Root", "--role=super-admin")
            counter = Counter(server, site, root, client)
            made = await client.post(PRODUCTS, json=PRODUCT, headers={"Authorization": f"Bearer {root}"})
            assert made.status_code == 201, made.text
            counter.product = made.json()["id"]
            yield counter
        nursery.cancel_scope.cancel()
