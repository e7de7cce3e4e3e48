"""Both catalogues of mods on a loopback port, and a service, or only its library, that asks them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio

from actors.mods.kept import MAX_BYTES, Body, Failure
from routes.edge.outgoing_http import Upstream
from routes.mods import parts, searching
from routes.mods.library import Found, ModLibrary, Outcome
from routes.mods.modrinth_requests import ModrinthQuery, modrinth_request
from routes.mods.source import MAX_BYTES as ANSWER_BYTES
from routes.mods.source import Source
from scripts.upstreams.curseforge import CurseForgeSite
from scripts.upstreams.http import Request
from scripts.upstreams.modrinth import ModrinthSite
from scripts.upstreams.mods import SHOWN, Mod
from scripts.upstreams.sites import Sites
from tests.support.shifted_clock import ShiftedClock
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import World, open_world

PUBLIC = "/v1/public"
MODRINTH = f"{PUBLIC}/modrinth"
CURSEFORGE = f"{PUBLIC}/curseforge"
SEARCH = f"{PUBLIC}/mods/search"
CANARY = "$2a$10$canary9Lw"
AWAY = (503, "UPSTREAM_UNAVAILABLE")


@dataclass
class Catalogues:
    """A service, and the catalogues that it asks. Time stands still but for `world.clock.advance`."""

    world: World
    modrinth: ModrinthSite
    curseforge: CurseForgeSite

    async def ask(self, path: str, **headers: str) -> httpx2.Response:
        """Make a GET without credentials; `if_none_match` is sent as the header If-None-Match."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return await self.world.nobody().ask("GET", path, headers=named)

    async def get(self, path: str, **query: object) -> Any:
        """Make a GET, which has to succeed; returns the JSON of the answer."""
        return await self.world.nobody().get(path, **query)

    async def refused(self, path: str) -> tuple[int, str]:
        """Make a GET, which has to be refused; returns (status, code)."""
        return await self.world.nobody().refused("GET", path)

    def seconds(self, seconds: int) -> None:
        """Let so many seconds pass."""
        self.world.clock.advance(seconds * 1000)

    @property
    def asked(self) -> int:
        """How many requests have arrived at both catalogues together."""
        return len(self.modrinth.asked) + len(self.curseforge.asked)


@asynccontextmanager
async def sites(modrinth: ModrinthSite, curseforge: CurseForgeSite) -> AsyncIterator[None]:
    """Serve both catalogues for the block."""
    async with trio.open_nursery() as nursery:
        await nursery.start(Sites({"modrinth": modrinth, "curseforge": curseforge}).serve)
        yield
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_catalogues(
    database_url: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    modrinth: Sequence[Mod] = SHOWN,
    curseforge: Sequence[Mod] = SHOWN,
    **settings: str,
) -> AsyncIterator[Catalogues]:
    """A service with both catalogues; with `curseforge_key=""` it has no key."""
    for module in (parts, searching):
        monkeypatch.setattr(module, "SECONDS", float(PATIENCE_SECONDS))
    asked = ModrinthSite(modrinth), CurseForgeSite(curseforge, key=CANARY)
    clock = ShiftedClock()
    clock.stop()
    async with sites(*asked):
        given = {
            "modrinth_url": asked[0].api_url,
            "curseforge_url": asked[1].api_url,
            "curseforge_key": CANARY,
            "rate_limits": "off",
        }
        async with open_world(database_url, folder, clock=clock, **(given | settings)) as world:
            yield Catalogues(world, *asked)


class RunClock:
    """A clock for rules that goes by trio's, which a test may let jump."""

    def now_ms(self) -> int:
        """Milliseconds since trio's clock began."""
        return int(trio.current_time() * 1000)


@asynccontextmanager
async def open_library(
    site: ModrinthSite, *, seconds: float = PATIENCE_SECONDS, max_bytes: int = MAX_BYTES
) -> AsyncIterator[ModLibrary]:
    """A library that asks Modrinth alone, by trio's clock."""
    clock = RunClock()
    async with (
        sites(site, CurseForgeSite()),
        Upstream(site.api_url, seconds=seconds, max_bytes=ANSWER_BYTES) as upstream,
    ):
        yield ModLibrary([Source("modrinth", upstream, {}, clock)], clock, max_bytes)


async def read(library: ModLibrary, path: str, **query: Any) -> Outcome:
    """What the library returns for a path of Modrinth's."""
    return await library.read(modrinth_request(path, ModrinthQuery(**query)))


def body_of(outcome: Outcome) -> Body:
    """The answer in an outcome, which must have one."""
    assert isinstance(outcome, Found), outcome
    return outcome.body


def failure_of(outcome: Outcome) -> Failure:
    """The failure in an outcome, which must have one."""
    assert isinstance(outcome, Failure), outcome
    return outcome


def arrived(request: Request) -> tuple[str, dict[str, str]]:
    """(path, query) of a request as it arrived."""
    return request.path, dict(request.query)
