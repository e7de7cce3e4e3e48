"""Machines that say how they are to one node count for all: none takes them for silent that was not told itself."""

from pathlib import Path

import pytest

from tests.gateways.play import GATEWAYS, TOKEN, gateway
from tests.support.cluster import open_cluster
from tests.support.nats import NatsServer

pytestmark = pytest.mark.slow


async def test_a_gateway_that_one_node_hears(database_url: str, tmp_path: Path, nats: NatsServer) -> None:
    settings = {"gateway_token": TOKEN, "gateway_domain": "play.partyline.test"}
    async with open_cluster(database_url, tmp_path, nats, "a", "b", **settings) as cluster:
        here, there = cluster.worlds.values()
        admin = cluster.at(await here.ranked("Adam", "admin"), "b")
        one = await gateway(here)
        for seconds in (20, 20):
            for world in (here, there):
                world.clock.advance(seconds * 1000)
            await one.beat(connections=seconds)
        shown = (await admin.get(GATEWAYS))["items"]
        assert [(each["status"], each["connections"]) for each in shown] == [("online", 20)]
