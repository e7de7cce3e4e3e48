"""Machines that say how they are to one node count for all: none takes them for silent that was not told itself."""

from pathlib import Path

import pytest

from actors.voice.home import HOME_SHARD
from tests.gateways.play import GATEWAYS, TOKEN, gateway
from tests.support.cluster import Cluster, open_cluster
from tests.support.nats import NatsServer
from tests.voice.play import VOICE, node, node_server

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


async def test_voice_wherever_it_is_asked_for(database_url: str, tmp_path: Path, nats: NatsServer) -> None:
    """Each step on the next node; then the one goes that has minded it, and the other goes on with what it was told."""
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        a, b = cluster.worlds.values()
        ann, ben = await a.players("Ann", "Ben")
        one = await node(a, await node_server(a))
        body = {"targetId": ben.id}
        made = await cluster.at(ann, "b").do("POST", f"{VOICE}/channels/private", body, status=201)
        joined = [
            await who.do("POST", f"{VOICE}/session/join", {"channelId": made["id"]}, status=200)
            for who in (ann, cluster.at(ben, "b"))
        ]
        (mine, other) = [{"sessionId": each["session"]["id"]} for each in joined]
        async with ann.live(f"{VOICE}/live") as here, cluster.at(ann, "b").live(f"{VOICE}/live") as there:
            for step in range(4):
                for world, name in ((a, "b"), (b, "a")):
                    world.clock.advance(15_000)
                    await one.at(world).beat()
                    await cluster.at(ann, name).do("POST", f"{VOICE}/session/sync", mine)
                speaks = {**other, "speaking": step % 2 == 0}
                await cluster.at(ben, "ab"[step % 2]).do("POST", f"{VOICE}/session/sync", speaks)
            for socket in (here, there):
                while (await socket.receive_json()).get("userIds") != [ben.id]:
                    pass
        first, second = ("a", "b") if minding_in(cluster) == "a" else ("b", "a")
        await cluster.remove(first)
        await cluster.settle()
        left = cluster.worlds[second]
        assert minding_in(cluster) == second
        await one.at(left).beat()
        shown = await cluster.at(ann, second).do("POST", f"{VOICE}/session/sync", mine)
        assert [each["userId"] for each in shown["channel"]["participants"]] == [ann.id, ben.id]
        (region,) = (await cluster.at(ann, second).get(f"{VOICE}/regions"))["items"]
        assert (region["nodes"], region["participants"]) == (1, 2)


def minding_in(cluster: Cluster) -> str:
    """The name of the node that minds voice."""
    return next(
        name for name, world in cluster.worlds.items() if HOME_SHARD in world.service.placement.held()
    )
