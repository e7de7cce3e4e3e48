"""Parties of users who ask different nodes."""

from pathlib import Path

import pytest

from persistence.nodes.shards import shard_of
from tests.party.play import PARTY, end_in_one, gather, in_a_circle
from tests.support.cluster import Cluster, open_cluster
from tests.support.nats import NatsServer
from tests.support.world import Player

pytestmark = pytest.mark.slow


async def party_on(cluster: Cluster, name: str, leader: Player) -> str:
    """A party whose actor lives on a node, with its leader as only member."""
    held = cluster.worlds[name].service.placement.held()
    while shard_of("party", (party_id := await gather(leader))) not in held:
        await leader.do("POST", f"{PARTY}/leave", status=200)
    return party_id


async def test_two_who_have_invited_each_other_on_different_nodes_end_in_one_party(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        ann = await cluster.worlds["a"].player("Ann")
        ben = cluster.at(await cluster.worlds["a"].player("Ben"), "b")
        for _ in range(5):
            await end_in_one(ann, ben)


async def test_three_in_a_circle_on_three_nodes_lose_no_party(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b", "c") as cluster:
        names = list(cluster.worlds)
        people = await cluster.worlds["a"].players("Ann", "Ben", "Cid")
        people = [cluster.at(one, name) for one, name in zip(people, names, strict=True)]
        for _ in range(5):
            own = {one: await party_on(cluster, name, one) for one, name in zip(people, names, strict=True)}
            await in_a_circle(own)
