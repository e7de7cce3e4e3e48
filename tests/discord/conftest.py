"""Fixtures of Discord's tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from routes.discord import parts, webhooks
from scripts.upstreams.discord import DiscordSite
from scripts.upstreams.sites import Sites
from tests.discord.play import Guild
from tests.support.server import Edge
from tests.support.shifted_clock import ShiftedClock
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import open_world, world

__all__ = ["world"]


@pytest.fixture
def discord_seconds() -> float:
    """How long Discord is waited for: a test in which it never answers says how long."""
    return PATIENCE_SECONDS


@pytest.fixture
async def guild(
    served_by: Edge,
    database_url: str,
    tmp_path: Path,
    discord_seconds: float,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Guild]:
    """A service with a Discord, on which one time passes."""
    for module, bound in ((parts, "SECONDS"), (webhooks, "LOOK_SECONDS")):
        monkeypatch.setattr(module, bound, discord_seconds)
    clock = ShiftedClock()
    site = DiscordSite(now_s=lambda: clock.now_ms() / 1000)
    async with trio.open_nursery() as nursery:
        await nursery.start(Sites({"discord": site}).serve)
        settings = {"discord_url": site.base_url}
        async with open_world(database_url, tmp_path, edge=served_by, clock=clock, **settings) as world:
            yield Guild(world, site)
            site.faults.clear()
        nursery.cancel_scope.cancel()
