"""Live sockets on a node that does not own what they are about."""

from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest

from persistence.nodes.shards import shard_of
from persistence.publications.rows import Target
from routes.connect.waiters import WAITERS
from routes.publications.parts import STATUSES
from tests.connect.play import GameServer, claimed
from tests.support.cluster import Cluster
from tests.support.waiting import wait_until
from tests.support.websocket import Client, connect
from tests.support.world import Player, Room, World

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


async def _subscribe(socket: Client, channel: str, **fields: Any) -> Any:
    ask = {"id": channel, "op": "subscribe", "channel": channel, "params": {"mode": "delta"}, **fields}
    await socket.send_json(ask)
    return await socket.receive_until(type="reply", id=channel)


async def test_a_conversation_is_watched_on_every_node(cluster: Cluster) -> None:
    """What each socket is sent, in which order and why it ends, is the same at home and elsewhere."""
    ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
    eve = await cluster.worlds["a"].player("Eve")
    room = await ann.talk_to(ben, kind="group")
    heard = []
    for name in cluster.worlds:
        at = [cluster.at(one, name) for one in (ann, ben, eve)]
        live = f"{room.path}/live?limit=3"
        async with (
            at[0].live("/v1/social/live?channels=") as socket,
            at[1].live("/v1/social/live?channels=") as other,
            at[2].live("/v1/social/live?channels=") as stranger,
            at[0].live(live) as single,
        ):
            refused = await _subscribe(stranger, room.channel)
            opened = await _subscribe(socket, room.channel)
            await _subscribe(other, room.channel)
            frames = [(await socket.receive_json())["type"]]
            await socket.send_json(
                {"id": 1, "op": "send", "channel": room.channel, "data": {"content": name}}
            )
            # The reply comes before the event of one's own message.
            frames += [await socket.receive_json(), await socket.receive_json()]
            assert [frames[1]["id"], frames[2]["data"]["content"]] == [1, name]
            assert frames[2]["offset"] == opened["offset"] + 1
            await other.receive_until(type="event", event="message_created")
            while name not in [one["content"] for one in (await single.receive_json())["items"]]:
                pass
            await ann.do("DELETE", f"{room.path}/participants/{ben.id}", status=204)
            ended = await other.receive_until(type="unsubscribed")
            await ann.do("POST", f"{room.path}/participants", {"userIds": [ben.id]}, status=200)
            members = [frame["event"] for frame in [await socket.receive_json(), await socket.receive_json()]]
        heard.append([frames[0], refused["error"], ended["code"], members])
    assert heard[0] == heard[1]
    assert heard[0][:1] == ["snapshot"]


def _stream_of(server: GameServer, cluster: Cluster, name: str) -> Any:
    url = f"{cluster.worlds[name].url}{server.path}/stream"
    return connect(url, token=server.token, headers=[("x-server-id", server.id)])


async def _listens(world: World, server: GameServer) -> bool:
    return world.service.of(WAITERS).listening.listens(server.id)


async def _reports(world: World, server: GameServer, players: int) -> bool:
    now_ms = world.service.clock.now_ms()
    return world.service.of(STATUSES).of(Target("server", server.id), now_ms).players == players


async def test_a_game_server_is_given_its_commands_on_every_node(cluster: Cluster) -> None:
    ann = await cluster.worlds["a"].player("Ann")
    server = await claimed(cluster.worlds["a"], ann)
    for name in cluster.worlds:
        waiting = await ann.do("POST", f"{server.path}/commands", {"action": "first"}, status=201)
        async with _stream_of(server, cluster, name) as live:
            assert (await live.receive_json())["type"] == "settings_snapshot"
            for world in cluster.worlds.values():
                await wait_until(partial(_listens, world, server))
            for made in (waiting, None):
                command = made or await ann.do(
                    "POST", f"{server.path}/commands", {"action": "second"}, status=201
                )
                # Created while it listens, it is delivered in the same turn, wherever the server and its stream are.
                if made is None:
                    page = await ann.get(f"{server.path}/commands", limit=1)
                    assert page["items"][0]["status"] == "delivered"
                frame = await live.receive_until(type="command")
                assert frame["command"]["id"] == command["command"]["id"]
                assert frame["command"]["status"] == "delivered"
                path = f"{server.path}/commands/{command['command']['id']}/ack"
                await server.do("POST", path, {"status": "success"}, status=200)
            await ann.do("PUT", f"{server.path}/settings", {"data": {"at": name}}, status=200)
            frame = await live.receive_until(type="settings_updated")
            assert frame["settings"]["data"] == {"at": name}
        # What it reports to one node is known on all.
        status = {"online": True, "playerCount": len(name) + ord(name), "playerCapacity": 500}
        there = server.at(cluster.worlds[name])
        await there.do("PUT", f"{server.path}/publication/status", status, status=200)
        for world in cluster.worlds.values():
            await wait_until(partial(_reports, world, server, status["playerCount"]))


async def test_a_new_member_has_a_name_on_every_node(cluster: Cluster) -> None:
    """Its event has none, so a copy that followed the event alone would show nobody."""
    ann = await cluster.worlds["a"].player("Ann")
    server = await claimed(cluster.worlds["a"], ann)
    for name in cluster.worlds:
        new = await cluster.worlds["a"].player(f"Ben at {name}")
        async with cluster.at(ann, name).live("/v1/social/live?channels=") as socket:
            await _subscribe(socket, f"server:{server.id}")
            await socket.receive_until(type="snapshot")
            await ann.do("PUT", f"{server.path}/members/{new.id}", {"role": "viewer"})
            told = await socket.receive_until(type="event", event="members")
        names = {member["userId"]: member["name"] for member in told["data"]}
        assert names[new.id] == new.name


async def _has_read(world: World, server: GameServer, times: int) -> bool:
    """Whether a node that shows a server of another node has read what was changed in rows, so many times."""
    copies = world.service.system.copies
    assert copies is not None
    return all(copy.changes == times and not copy.is_outdated for copy in copies if copy.id == server.id)


async def test_a_new_name_of_a_member_is_told_by_itself_on_every_node(cluster: Cluster) -> None:
    """Snapshots of the stream have settings alone, so one in its place would leave the former name with viewers."""
    ann, ben, eve = await cluster.worlds["a"].players("Ann", "Ben", "Eve")
    server = await claimed(cluster.worlds["a"], ann)
    for member in (ben, eve):
        await ann.do("PUT", f"{server.path}/members/{member.id}", {"role": "viewer"})
    async with AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(cluster.at(ann, name).live(f"{server.path}/stream"))
            for name in cluster.worlds
        ]
        for stream in streams:
            assert (await stream.receive_json())["type"] == "settings_snapshot"
        for member, called, names in (
            (ben, "Benny", ["Ann", "Benny", "Eve"]),
            (eve, "Evey", ["Ann", "Benny", "Evey"]),
        ):
            await Player(ann.world, member.id, called, ann.world.token(member.id, called)).get(
                "/v1/auth/verify"
            )
            for stream in streams:
                told = await stream.receive_json()
                assert [one["name"] for one in told["members"]] == names
        for world in cluster.worlds.values():
            await wait_until(partial(_has_read, world, server, 2))
        await ann.do("PUT", f"{server.path}/settings", {"data": {"at": "last"}}, status=200)
        assert [(await stream.receive_json())["type"] for stream in streams] == ["settings_updated"] * 2
