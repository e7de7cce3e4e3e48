"""Wire: what is told after a restart, and after a COMMIT whose answer was lost."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from routes.discord import parts, webhooks
from scripts.upstreams.discord import DiscordSite
from scripts.upstreams.sites import Sites
from tests.connect.play import GameServer
from tests.discord.play import Guild, queue, said
from tests.networks.play import Net
from tests.news.play import write
from tests.publications.play import flush, push
from tests.support.losing import proxy
from tests.support.proxy import Proxy
from tests.support.shifted_clock import ShiftedClock
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import World, open_world

__all__ = ["proxy"]


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DiscordSite]:
    """Discord, which takes everything at once."""
    for module, bound in ((parts, "SECONDS"), (webhooks, "LOOK_SECONDS")):
        monkeypatch.setattr(module, bound, PATIENCE_SECONDS)
    site = DiscordSite()
    site.limit = 1_000
    async with trio.open_nursery() as nursery:
        await nursery.start(Sites({"discord": site}).serve)
        yield site
        nursery.cancel_scope.cancel()


async def article(net: Net, title: str) -> None:
    await write(net.owner, title, scope={"type": "network", "id": net.id})


def at(server: GameServer, world: World) -> GameServer:
    """The same server at another service."""
    made = {"serverId": server.id, "serverName": server.name, "serverSecret": server.secret, "claimKey": ""}
    return GameServer(world, made)


async def test_servers_that_come_back_after_a_restart_are_not_told_of(
    site: DiscordSite, database_url: str, tmp_path: Path
) -> None:
    clock = ShiftedClock()
    clock.stop()
    async with open_world(database_url, tmp_path, clock=clock, discord_url=site.base_url) as world:
        guild = Guild(world, site)
        net = await guild.network(await world.player("Ann"))
        back, gone = await net.server("Back"), await net.server("Gone")
        for server in (back, gone):
            await push(server)
        guild.later(60)
        await guild.tell_of_servers()
        assert sorted(await guild.posted(2)) == ["**Back** is online.", "**Gone** is online."]
        await flush(world)
    clock.advance(600_000)
    async with open_world(database_url, tmp_path, clock=clock, discord_url=site.base_url) as world:
        guild = Guild(world, site)
        await guild.tell_of_servers()
        guild.later(80)
        await push(at(back, world))
        await guild.tell_of_servers()
        guild.later(69)
        await guild.tell_of_servers()
        assert await queue(world, net.id) == []
        guild.later(1)
        await guild.tell_of_servers()
        assert (await guild.posted(3))[2:] == ["**Gone** is offline."]


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("said_before", ["SET sending = true", "failing_since_ms = $5"])
async def test_a_lost_commit_neither_loses_nor_doubles(
    site: DiscordSite, proxy: Proxy, tmp_path: Path, said_before: str, *, landed: bool
) -> None:
    """Of the transaction that marks a post, and of the one that notes what has become of it."""
    async with open_world(proxy.url, tmp_path, discord_url=site.base_url) as world:
        guild = Guild(world, site)
        net = await guild.network(await world.player("Ann"))
        proxy.cut_at(b"COMMIT\0", answered=landed, after=said_before.encode())
        for title in ("First", "Second", "Third"):
            await article(net, title)
        await guild.posted(3)
        await guild.drained(net)
        assert [said(post) for post in guild.webhook.posts] == ["First", "Second", "Third"]
