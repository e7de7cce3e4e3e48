"""Settings of Discord that change while memory reads former ones: memory then says what rows say."""

from typing import Any

import pytest
import trio

from persistence.discord import servers
from routes.discord.parts import WEBHOOKS
from scripts.upstreams.discord import GUILD
from tests.networks.play import network
from tests.support.losing import proxy, world
from tests.support.proxy import Proxy
from tests.support.waiting import wait_until
from tests.support.world import World

__all__ = ["proxy", "world"]


@pytest.mark.parametrize("later", ["removed", "changed"])
async def test_what_was_read_too_early_does_not_stay_in_memory(
    proxy: Proxy, world: World, later: str
) -> None:
    ann = await world.player("Ann")
    net = await network(ann)
    settings: dict[str, Any] = {"guildId": GUILD, "events": ["server_online"]}

    async def is_written() -> bool:
        return await world.service.database.read(servers.watched_one, net.id) is None

    has_read = proxy.hold_at(net.id.encode(), after=b"d.events &&")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ann.ask, "PUT", f"{net.path}/discord", settings)
        await has_read.wait()
        if later == "removed":
            nursery.start_soon(ann.ask, "DELETE", net.path)
        else:
            nursery.start_soon(ann.ask, "PUT", f"{net.path}/discord", {**settings, "events": []})
        await wait_until(is_written)
        proxy.let_go()
    assert not world.service.of(WEBHOOKS).uptime.watches(net.id)
