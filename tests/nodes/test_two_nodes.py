"""Two nodes of one service: whoever is asked, the answer is the same, and each thing has one owner."""

from itertools import count

import httpx2
import pytest
import trio

from actors.kernel.nodes.shares import wanted
from persistence.nodes.shards import shard_of
from tests.support.cluster import Cluster
from tests.support.world import Player, Room

pytestmark = pytest.mark.slow


async def _rooms(cluster: Cluster) -> tuple[Player, dict[str, Room]]:
    """Somebody, and two groups of theirs: {name of a node: the group that it owns}."""
    first = next(iter(cluster.worlds.values()))
    ann = await first.player("Ann")
    rooms: dict[str, Room] = {}
    for number in count():
        room = await ann.talk_to(await first.player(f"Bob{number}"), kind="group")
        for name, world in cluster.worlds.items():
            if shard_of("conversation", room.id) in world.service.placement.held():
                rooms.setdefault(name, room)
        if len(rooms) == len(cluster.worlds):
            break
    return ann, rooms


async def test_requests_are_answered_wherever_they_come_in(cluster: Cluster) -> None:
    ann, rooms = await _rooms(cluster)
    for owner, room in rooms.items():
        said = [await cluster.at(ann, name).say(room, f"{owner} from {name}") for name in cluster.worlds]
        for name in cluster.worlds:
            reader = cluster.at(ann, name)
            page = await reader.get(room.messages)
            assert [one["id"] for one in page["items"]] == [one["id"] for one in said]
        # Nobody else has it in memory.
        living = [
            name
            for name, world in cluster.worlds.items()
            if any(row.id == room.id for row in world.service.system.statistics())
        ]
        assert living == [owner]


async def test_a_refusal_of_the_owner_reaches_the_client(cluster: Cluster) -> None:
    ann, rooms = await _rooms(cluster)
    for room in rooms.values():
        answers = [
            await cluster.at(ann, name).ask("POST", room.messages, {"content": ""}) for name in cluster.worlds
        ]
        stranger = await cluster.worlds["a"].player("Eve")
        answers += [
            await cluster.at(stranger, name).ask("POST", room.messages, {"content": "?"})
            for name in cluster.worlds
        ]
        assert [one.status_code for one in answers] == [422, 422, 404, 404]
        for one in answers:
            assert one.json()["requestId"] == one.headers["x-request-id"]


async def test_a_key_has_one_effect_whichever_node_is_asked(cluster: Cluster) -> None:
    ann, rooms = await _rooms(cluster)
    for owner, room in rooms.items():
        key = {"idempotency-key": f"once-{owner}"}
        answers = [
            await cluster.at(ann, name).ask("POST", room.messages, {"content": "once"}, headers=key)
            for name in ("a", "b", "a")
        ]
        assert [one.status_code for one in answers] == [201, 201, 201]
        assert len({one.json()["id"] for one in answers}) == 1
        assert [one.headers.get("idempotent-replayed") for one in answers] == [None, "true", "true"]
        assert len((await ann.get(room.messages))["items"]) == 1


async def test_a_key_has_one_answer_where_both_nodes_are_asked_at_once(cluster: Cluster) -> None:
    """Whichever comes second finds that there is a request already, but it is the same one."""
    ann = await cluster.worlds["a"].player("Ann")
    answers: list[httpx2.Response] = []

    async def ask(name: str, target_id: str) -> None:
        body, headers = {"targetId": target_id}, {"idempotency-key": target_id}
        path = "/v1/social/friends/requests"
        answers.append(await cluster.at(ann, name).ask("POST", path, body, headers=headers))

    for number in range(5):
        bob = await cluster.worlds["a"].player(f"Bob{number}")
        answers.clear()
        async with trio.open_nursery() as nursery:
            for name in cluster.worlds:
                nursery.start_soon(ask, name, bob.id)
        first, second = answers
        assert first.is_success, first.text
        assert (first.status_code, first.content) == (second.status_code, second.content)


async def test_each_node_owns_its_share_and_sweeps_and_works_for_it_alone(cluster: Cluster) -> None:
    services = [world.service for world in cluster.worlds.values()]
    names = [service.node.membership.life.node for service in services if service.node is not None]
    for service, name in zip(services, names, strict=True):
        assert set(service.placement.held()) == wanted(names, name)
    for job in ("journal", "silent servers", "receipts"):
        assert sum(service.placement.does(job) for service in services) == 1


async def test_operators_see_both(cluster: Cluster) -> None:
    root = await cluster.worlds["a"].super_admin()
    for name, world in cluster.worlds.items():
        found = await cluster.at(root, name).get("/v1/admin/nodes")
        node = world.service.node
        assert node is not None
        assert found["self"] == node.membership.life.node
        assert (found["unowned"], sum(one["shards"] for one in found["items"])) == (0, 1_040)
        assert [one["state"] for one in found["items"]] == ["up", "up"]
        lines = (await world.http.get("/metrics")).text.splitlines()
        told = dict(line.rsplit(" ", 1) for line in lines if line[0] != "#")
        assert (told["partyline_nodes_heard"], told["partyline_node_shards"]) == ("1.0", "520.0")
        assert float(told["partyline_link_batches_total"]) > 0
