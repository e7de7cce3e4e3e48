"""A service whose users sign in at other issuers, and those issuers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from routes.users.authenticator import ISSUERS
from tests.sessions.issuer import Issuer, serving, setting
from tests.sessions.play import Browser
from tests.support.shifted_clock import ShiftedClock
from tests.support.waiting import wait_until
from tests.support.world import World, open_world

IDENTITIES = "/v1/profile/identities"
GO = "/app/sign-in/good-games"


class Place:
    """A service and its issuers.

    Args:
        world: the service.
        good, other: its issuers.
    """

    def __init__(self, world: World, good: Issuer, other: Issuer) -> None:
        self.world = world
        self.good = good
        self.other = other

    async def goes(self, browser: Browser, path: str = GO) -> str:
        """The address that a browser is led to by a link."""
        response = await browser.ask("GET", path)
        assert response.status_code == 302, response.text
        assert response.headers["cache-control"] == "no-store"
        return response.headers["location"]

    async def comes_back(self, browser: Browser, address: str) -> str:
        """Where a browser is led to in the end: path and fragment of the console."""
        parts = urlsplit(address)
        response = await browser.ask(
            "GET", f"{parts.path}?{parts.query}", headers={"sec-fetch-site": "cross-site"}
        )
        assert response.status_code == 302, response.text
        location = response.headers["location"]
        assert location.startswith(self.world.service.config.dashboard_url + "/app")
        return location.removeprefix(self.world.service.config.dashboard_url)

    async def enters(self, browser: Browser, subject: str, **claims: Any) -> str:
        """Sign in from end to end; returns where the browser is led to."""
        address = self.good.signed_in(await self.goes(browser), subject, **claims)
        return await self.comes_back(browser, address)

    async def user(self, subject: str, **claims: Any) -> Browser:
        """A browser of somebody who has signed in."""
        browser = Browser(self.world)
        assert await self.enters(browser, subject, **claims) == "/app"
        await browser.renew()
        return browser


@asynccontextmanager
async def placed(database_url: str, folder: Path, **more: Any) -> AsyncIterator[Place]:
    """Run both for the block.

    Args:
        more: in the entry of the first issuer.
    """
    clock = ShiftedClock()
    good, other = [Issuer(name, lambda: clock.now_ms() // 1000) for name in ("Good Games", "Other")]
    async with serving(good, other):
        issuers = setting(good.entry(**more), other.entry())
        async with open_world(
            database_url, folder, clock=clock, jwt_issuers=issuers, rate_limits="off"
        ) as world:

            async def known() -> bool:
                return all(world.service.of(ISSUERS).named(one.url)[0].keys for one in (good, other))

            await wait_until(known)
            yield Place(world, good, other)
