"""Live sockets on a node that does not own what they are about."""

from typing import Any

import pytest

from persistence.nodes.shards import shard_of
from tests.support.cluster import Cluster
from tests.support.websocket import Client
from tests.support.world import Player, Room

pytestmark = pytest.mark.slow


def owner_of(cluster: Cluster, room: Room) -> str:
    """The node that owns a conversation."""
    shard = shard_of("conversation", room.id)
    return next(name for name, world in cluster.worlds.items() if shard in world.service.placement.held())


async def _say(socket: Client, op: str, room: Room, **fields: Any) -> Any:
    await socket.send_json({"id": op, "op": op, "channel": room.channel, **fields})
    reply = await socket.receive_until(type="reply", id=op)
    return reply["data"] if reply["ok"] and "data" in reply else reply.get("error", reply["ok"])


async def _all_of(socket: Client, room: Room, stranger: Player) -> list[Any]:
    """The answers to everything that a socket can say about a conversation."""
    draft = {"content": "hi", "clientMessageId": stranger.id}
    first, again = [await _say(socket, "send", room, data=draft) for _ in range(2)]
    assert first["id"] == again["id"]
    marked = await _say(socket, "read", room, messageId=first["id"])
    typed = await _say(socket, "typing", room)
    bad = await _say(socket, "send", room, data={"content": "x", "attachmentIds": ["0" * 24]})
    unknown = await _say(socket, "read", room, messageId="f" * 24)
    async with stranger.live("/v1/social/live?channels=") as other:
        refused = await _say(other, "send", room, data={"content": "?"})
    return [sorted(first), sorted(marked), typed, bad, unknown, refused]


async def test_commands_of_a_socket_reach_the_owner(cluster: Cluster) -> None:
    """In their order; what is answered, refusals with all their fields included, is what is answered at home."""
    ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
    room = await ann.talk_to(ben)
    answers = []
    for name in cluster.worlds:
        eve = cluster.at(await cluster.worlds["a"].player(f"Eve at {name}"), name)
        async with cluster.at(ann, name).live("/v1/social/live?channels=") as socket:
            answers.append(await _all_of(socket, room, eve))
            for number in range(30):
                text = {"content": f"{name}{number}"}
                await socket.send_json({"id": number, "op": "send", "channel": room.channel, "data": text})
            replies = [await socket.receive_until(type="reply") for _ in range(30)]
        assert [(one["id"], one["ok"]) for one in replies] == [(number, True) for number in range(30)]
    assert answers[0] == answers[1]
    said = [one["content"] for one in (await ben.get(room.messages, limit=100))["items"]]
    wanted = [[f"{name}{number}" for number in range(30)] for name in cluster.worlds]
    assert said == ["hi", *wanted[0], "hi", *wanted[1]]
