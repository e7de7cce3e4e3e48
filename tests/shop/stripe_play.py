"""What tests against Stripe share: the site on a loopback port, and our client of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from msgspec.structs import replace

from routes.edge.outgoing_http import Upstream
from routes.shop.provider import SessionLine, SessionOrder
from routes.shop.stripe_api import MAX_BYTES, Stripe
from scripts.upstreams.sites import Sites
from scripts.upstreams.stripe import StripeSite
from tests.support.waiting import PATIENCE_SECONDS

NOW_S = 1_795_500_000
CANARY = "sk_test_canary7Qx"
SECRET = "whsec_canary4Tz"
RETURN = "https://play.example/back?a=1&b=[2]"

ORDER = SessionOrder(
    checkout_id="0123456789abcdef01234567",
    lines=(SessionLine("A cape & more", 499, 2), SessionLine("Überhut", 1, 99)),
    currency="eur",
    success_url=RETURN,
    cancel_url=RETURN,
    expires_at_ms=(NOW_S + 3600) * 1000 + 999,
    attempt=0,
)
TOTAL = 499 * 2 + 99


def attempt(number: int) -> SessionOrder:
    return replace(ORDER, attempt=number)


@asynccontextmanager
async def stripe_site(webhook_url: str | None = None) -> AsyncIterator[StripeSite]:
    """Stripe, at a moment that does not pass."""
    site = StripeSite(key=CANARY, webhook_url=webhook_url, webhook_secret=SECRET, now_s=lambda: NOW_S)
    async with trio.open_nursery() as nursery:
        await nursery.start(Sites({"stripe": site}).serve)
        yield site
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def stripe_client(
    site: StripeSite, *, key: str = CANARY, seconds: float = PATIENCE_SECONDS
) -> AsyncIterator[Stripe]:
    async with Upstream(site.base_url, seconds=seconds, max_bytes=MAX_BYTES) as upstream:
        yield Stripe(upstream, key)
