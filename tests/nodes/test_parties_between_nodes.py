"""Parties of users who ask different nodes."""

from pathlib import Path

import pytest

from actors.kernel.nodes.entries import Answered, Asked, Failed
from persistence.nodes.shards import shard_of
from tests.party.play import INVITES, PARTY, end_in_one, gather, in_a_circle, invite
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


def answer_as_before(cluster: Cluster, name: str) -> None:
    """Have a node know no command of other nodes, and say so as releases did that said the same of a fault."""
    node = cluster.worlds[name].service.node
    assert node is not None
    peers = node.membership.peers
    peers.hear(Asked, lambda asker, asked: peers.tell(asker, Answered(asked.number, None, Failed("Fault"))))


async def test_joining_a_party_on_a_node_that_has_yet_to_be_renewed_costs_nobody_theirs(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        ann = await cluster.worlds["a"].player("Ann")
        ben = cluster.at(await cluster.worlds["a"].player("Ben"), "b")
        # They have invited each other, so it is decided on the node of the party that comes first.
        hers = await party_on(cluster, "a", ann)
        while (his := await party_on(cluster, "b", ben)) < hers:
            await ben.do("POST", f"{PARTY}/leave", status=200)
        await invite(ann, ben)
        await invite(ben, ann)
        answer_as_before(cluster, "b")
        answer = await ann.ask("POST", f"{INVITES}/{his}/accept")
        assert (answer.status_code, answer.json()["code"]) == (503, "OVERLOADED"), answer
        assert answer.headers["retry-after"] == "1"
        assert (await ann.get(PARTY))["party"]["id"] == hers


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
