"""Wire: voice nodes register, say how they are, and go."""

import secrets
from functools import partial
from typing import Any

import jwt
import pytest
import trio

from actors.connect.access import SCOPES
from actors.ids import new_object_id
from actors.time import DAY_MS
from actors.voice.fleet import KEPT_MS, MOVES, RETURN_MS, SILENCE_MS
from actors.voice.units_nodes import MOST_NODES
from persistence.voice import nodes
from routes.voice.addresses import is_websocket
from routes.voice.jobs import look
from routes.voice.orders import MOST_REMOVED
from routes.voice.parts import FLEET, NODE_SECRETS, WAITING_NODES
from routes.voice.secrets import SigningKey
from tests.connect.play import claimed
from tests.support.jobs import jobs_of
from tests.support.waiting import wait_until
from tests.support.world import World
from tests.voice.play import NODE, NODES, VOICE, join, minding, node, node_server, private

REGIONS = "/v1/social/voice/regions"
RIGHT = "social:voice.node"


async def test_a_node_registers_is_heard_falls_silent_and_goes(world: World):
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    one = await node(world, server)
    assert len(one.secret) == 43
    assert await one.beat() == []
    (region,) = (await moderator.get(REGIONS))["items"]
    assert region == {
        "region": "eu-west", "displayName": "Western Europe", "healthy": True, "nodes": 1, "participants": 0,
        "capacity": 10,
    }  # fmt: skip
    (shown,) = (await moderator.get(NODES))["items"]
    assert (shown["status"], shown["serverId"], shown["load"]) == ("online", server.id, 0.1)
    await one.beat(draining=True)
    assert (await moderator.get(REGIONS))["items"][0]["healthy"] is False
    await one.beat()
    world.advance(SILENCE_MS)
    assert [silent.row.node_id for silent in minding(world).of(FLEET).silence()] == [one.id]
    assert (await moderator.get(NODES))["items"][0]["status"] == "offline"
    await server.do(
        "POST",
        f"{one.path}/heartbeat",
        {"participants": 0, "channels": 0, "load": 0, "draining": False},
        status=200,
    )
    assert (await moderator.get(NODES))["items"][0]["status"] == "online"
    await server.do("DELETE", one.path, status=204)
    await server.do("DELETE", one.path, status=204)
    assert (await moderator.get(NODES))["items"] == []
    assert await one.refused("DELETE", one.path) == (401, "BAD_SERVER_CREDENTIALS")


async def test_each_node_is_written_down_as_it_was_heard(world: World):
    server = await node_server(world)
    world.clock.stop()
    began_ms = world.clock.now_ms()
    first, second = [await node(world, server, publicUrl=f"wss://v{n}.example.net/rtc") for n in (1, 2)]
    await first.beat()
    world.advance(1_000)
    await second.beat(draining=True)
    (job,) = [one for one in jobs_of(minding(world)) if one.name == "heartbeats of voice nodes"]
    await job.run()
    rows = {row.node_id: row for row in await world.service.database.read(nodes.read_all)}
    kept = {id: (row.heard_at_ms - began_ms, row.draining) for id, row in rows.items()}
    assert kept == {first.id: (0, False), second.id: (1_000, True)}
    assert [await world.service.database.read(nodes.read, id) for id in rows] == list(rows.values())


async def test_a_node_that_is_offline_for_a_week_is_forgotten(world: World):
    """Such as one that was killed, and whose next life has registered anew."""
    server = await node_server(world)
    world.clock.stop()
    former, present = [await node(world, server) for _ in range(2)]
    service = minding(world)
    fleet = service.of(FLEET)
    (job,) = [one for one in jobs_of(service) if one.name == "voice nodes that are gone"]

    async def left_after(ms: int) -> set[str]:
        world.advance(ms)
        fleet.silence()
        await job.run()
        return {row.node_id for row in await world.service.database.read(nodes.read_all)}

    assert await left_after(SILENCE_MS) == {former.id, present.id}
    assert await left_after(KEPT_MS - 1) == {former.id, present.id}
    await present.beat()
    fleet.begin()  # as after a time in which nobody minded them, and nobody could be heard
    assert await left_after(RETURN_MS - 1) == {former.id, present.id}
    assert await left_after(1) == {present.id}
    assert [one.row.node_id for one in fleet] == [present.id]


async def test_a_node_that_another_has_heard_since_is_not_forgotten(world: World):
    """Who comes to mind voice remembers nodes as they were when they last did, or started."""
    server = await node_server(world)
    world.clock.stop()
    absent = await node(world, server)
    service = minding(world)
    fleet = service.of(FLEET)
    world.advance(SILENCE_MS)
    fleet.silence()
    world.advance(KEPT_MS - DAY_MS)
    row = (absent.id, world.clock.now_ms(), False)  # it was back for a moment, and heard elsewhere
    await service.database.transact(nodes.save_heard, [row])
    (job,) = [one for one in jobs_of(service) if one.name == "voice nodes that are gone"]
    for ms, left in ((DAY_MS, [absent.id]), (KEPT_MS - DAY_MS - 1, [absent.id]), (1, [])):
        world.advance(ms)
        await job.run()
        assert [row.node_id for row in await service.database.read(nodes.read_all)] == left
        assert [one.row.node_id for one in fleet] == left


async def test_who_may_call_for_a_node(world: World):
    server = await node_server(world)
    one, two = await node(world, server), await node(world, server)
    other = await claimed(world, await world.player("Other"))
    beat = {"participants": 0, "channels": 0, "load": 0, "draining": False}
    assert await other.refused("POST", f"{NODES}/register", NODE) == (403, "FORBIDDEN")
    assert await other.refused("DELETE", one.path) == (403, "FORBIDDEN")
    foreign = await node_server(world)
    assert await foreign.refused("POST", f"{one.path}/heartbeat", beat) == (404, "NOT_FOUND")
    assert await foreign.refused("DELETE", one.path) == (404, "NOT_FOUND")
    assert await one.refused("POST", f"{two.path}/heartbeat", beat) == (404, "NOT_FOUND")
    player = await world.player("Ann")
    assert await player.refused("POST", f"{one.path}/heartbeat", beat) == (401, "BAD_SERVER_CREDENTIALS")
    one.headers["authorization"] = f"Bearer {two.secret}"
    assert await one.refused("POST", f"{one.path}/heartbeat", beat) == (401, "BAD_SERVER_CREDENTIALS")
    # Neither a node's secret, nor a token that is signed with it, is one of a user's.
    signed = jwt.encode({"sub": player.id, "iss": two.id}, two.secret, algorithm="HS256")
    for token in (two.secret, signed):
        player.headers["authorization"] = f"Bearer {token}"
        assert await player.refused("GET", REGIONS) == (401, "UNAUTHENTICATED")


async def test_a_node_serves_while_its_servers_owner_may_have_nodes(world: World):
    """No longer once that right is taken, or the server is passed on to somebody without it; it may still leave."""
    ann, bob = await world.players("Ann", "Bob")
    root = await world.super_admin()
    right = f"/v1/admin/users/{ann.id}/permissions/{RIGHT}"
    await world.grant(ann, RIGHT)
    server = await claimed(world, ann)
    one = await node(world, server)
    beat = {"participants": 0, "channels": 0, "load": 0, "draining": False}
    await one.beat()
    await root.do("DELETE", right)
    assert await one.refused("POST", f"{one.path}/heartbeat", beat) == (403, "FORBIDDEN")
    world.advance(SILENCE_MS)
    assert [silent.row.node_id for silent in minding(world).of(FLEET).silence()] == [one.id]
    await world.grant(ann, RIGHT)
    await one.beat()
    invite = await ann.do(
        "POST", f"{server.path}/invites", {"inviteeUserId": bob.id, "role": "owner"}, status=201
    )
    await bob.do("POST", f"/v1/connect/server-invites/{invite['id']}/accept", status=200)
    assert await one.refused("POST", f"{one.path}/heartbeat", beat) == (403, "FORBIDDEN")
    await one.do("DELETE", one.path, status=204)
    assert (await root.get(NODES))["items"] == []


@pytest.mark.parametrize("scope", sorted(SCOPES))
async def test_a_delegated_token_is_for_no_node(world: World, scope: str):
    """Its scopes are of other things, and whoever has one could have players' voices sent to a node of their own."""
    server = await node_server(world)
    one, delegated = await node(world, server), await server.delegated(scope)
    beat = {"participants": 0, "channels": 0, "load": 0, "draining": True}
    refused = (403, "FORBIDDEN")
    assert await delegated.refused("POST", f"{NODES}/register", NODE) == refused
    assert await delegated.refused("POST", f"{one.path}/heartbeat", beat) == refused
    assert await delegated.refused("DELETE", one.path) == refused
    assert await delegated.refused("DELETE", f"{NODES}/{new_object_id(0, secrets.token_bytes)}") == refused
    moderator = await world.ranked("Mod", "moderator")
    (shown,) = (await moderator.get(NODES))["items"]
    assert (shown["nodeId"], shown["status"]) == (one.id, "online")


async def test_a_heartbeat_waits_for_an_order_which_is_repeated_until_acknowledged(world: World):
    one = await node(world, await node_server(world))
    fleet, heard = minding(world).of(FLEET), []

    async def beat() -> None:
        heard.extend(await one.beat(wait=20))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(beat)
        await wait_until(partial(_waits, world))
        earliest_s = world.clock.now_ms() // 1000 + 1
        fleet.order(one.id, "close", "a" * 36, None)
        latest_s = world.clock.now_ms() // 1000 + 1
    (action,) = heard
    not_before_s = action.pop("notBefore")
    assert earliest_s <= not_before_s <= latest_s
    assert action == {"id": action["id"], "kind": "close", "channelId": "a" * 36}
    kept, one.cursor = one.cursor, None
    assert [again["id"] for again in await one.beat(wait=20)] == [action["id"]]
    one.cursor = kept
    assert await one.beat() == []


async def test_a_heartbeat_that_waits_ends_with_the_secret_of_its_server(world: World):
    owner = await world.player("Operator")
    await world.grant(owner, "social:voice.node")
    server = await claimed(world, owner)
    one = await node(world, server)
    beat = {"participants": 0, "channels": 0, "load": 0, "draining": False, "waitSeconds": 20}
    refused = []

    async def outlived() -> None:
        refused.append(await server.refused("POST", f"{one.path}/heartbeat", beat))

    async def is_rotated() -> bool:
        asked = [await server.ask("POST", f"{one.path}/heartbeat", {}) for _ in world.services]
        return {each.status_code for each in asked} == {401}

    async with trio.open_nursery() as nursery:
        nursery.start_soon(outlived)
        await wait_until(partial(_waits, world))
        for _ in range(2):
            await owner.do("POST", f"{server.path}/secret/rotate", status=200)
        await wait_until(is_rotated)
        minding(world).of(FLEET).order(one.id, "close", "a" * 36, None)
    assert refused == [(401, "BAD_SERVER_CREDENTIALS")]


async def test_a_heartbeat_that_waits_ends_with_the_right_of_its_servers_owner(world: World):
    owner, root = await world.player("Operator"), await world.super_admin()
    await world.grant(owner, RIGHT)
    one = await node(world, await claimed(world, owner))
    beat = {"participants": 0, "channels": 0, "load": 0, "draining": False, "waitSeconds": 20}
    refused = []

    async def outlived() -> None:
        refused.append(await one.refused("POST", f"{one.path}/heartbeat", beat))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(outlived)
        await wait_until(partial(_waits, world))
        await root.do("DELETE", f"/v1/admin/users/{owner.id}/permissions/{RIGHT}")
        minding(world).of(FLEET).order(one.id, "close", "a" * 36, None)
    assert refused == [(403, "FORBIDDEN")]


async def test_a_report_only_removes_and_is_bounded(world: World):
    one = await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    joined = await join(ann, channel_id)
    world.clock.stop()
    strangers = [f"{number:036x}" for number in range(128)]
    room = {"channelId": channel_id, "participants": [ann.id, *strangers[1:]]}
    told = await one.beat(rooms=[room] * 10 + [{"channelId": id, "participants": []} for id in strangers])
    assert {(action["kind"], action.get("userId")) for action in told} == {
        ("close", None), *(("remove", id) for id in strangers[1:]),
    }  # fmt: skip
    many = [{"channelId": f"{number:036x}", "participants": []} for number in range(1_000)]
    assert len(await one.beat(rooms=many)) == MOST_REMOVED
    assert await one.beat(rooms=[]) == []
    # Whoever was removed by it and joins in the same second has a token that counts.
    await one.beat(rooms=[{"channelId": channel_id, "participants": [ben.id]}])
    second = await join(ben, channel_id)
    (order,) = await one.repeated()
    assert _nbf(second) >= order["notBefore"] > _nbf(joined) - 1
    # So has whoever left in this second, and comes back.
    await ben.do("POST", f"{VOICE}/session/leave", {"sessionId": second["session"]["id"]}, status=204)
    third = await join(ben, channel_id)
    (order,) = await one.repeated()
    assert _nbf(third) >= order["notBefore"] > _nbf(second)


async def test_mutes_are_told_to_the_node_that_a_user_comes_to(world: World):
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    one = await node(world, server)
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    control = f"{VOICE}/channels/{channel_id}/control"
    await moderator.do("PUT", control, {"mutedIds": [ann.id]}, status=200)
    assert await one.beat() == [], "she is not there"
    await join(ann, channel_id)
    muted = [("mute", ann.id)]
    assert [(told["kind"], told["userId"]) for told in await one.beat()] == muted
    two = await node(world, server)
    await server.do("DELETE", one.path, status=204)
    await look(minding(world))
    assert [(told["kind"], told["userId"]) for told in await two.beat()] == muted


async def test_a_server_has_fifty_nodes(world: World):
    server, answers = await node_server(world), []

    async def come() -> None:
        answers.append((await server.ask("POST", f"{NODES}/register", NODE)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(MOST_NODES + 10):
            nursery.start_soon(come)
    assert sorted(answers) == [201] * MOST_NODES + [422] * 10
    assert len(list(minding(world).of(FLEET))) == MOST_NODES
    other = await node_server(world)
    await node(world, other)
    gone = next(iter(minding(world).of(FLEET))).row.node_id
    await server.do("DELETE", f"{NODES}/{gone}", status=204)
    await node(world, server)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example", "javascript:alert(1)", "ws://", "ws://a:b@a.example", "ws://a.example?x", "ws://a.example#x",
        "ws://a.example:0", "ws://a.example:99999", "ws://a b", "ws://a.example/\n", "ws://ä.example", "ws://a\\b",
    ],
)  # fmt: skip
def test_addresses_that_nobody_is_sent_to(url: str):
    assert not is_websocket(url)


@pytest.mark.parametrize("url", ["ws://a", "wss://a.example/rtc", "wss://[::1]:7880/x/y", "WS://1.2.3.4:1"])
def test_addresses_that_clients_are_sent_to(url: str):
    assert is_websocket(url)


async def test_secrets_are_sealed_for_their_node(world: World):
    server = await node_server(world)
    one = await node(world, server, livekit={"apiKey": "APIkey", "apiSecret": "s" * 32})
    two = await node(world, server)
    fleet, secrets = minding(world).of(FLEET), minding(world).of(NODE_SECRETS)
    first, second = fleet.get(one.id), fleet.get(two.id)
    assert first is not None
    assert second is not None
    assert secrets.signing(first.row) == SigningKey("APIkey", b"s" * 32)
    assert secrets.signing(second.row) == SigningKey(two.id, two.secret.encode())
    assert one.secret.encode() not in first.row.sealed_secret


def test_every_status_has_a_move_for_every_sign():
    statuses, signs = {status for status, _ in MOVES}, {sign for _, sign in MOVES}
    assert set(MOVES) == {(status, sign) for status in statuses for sign in signs}


def _nbf(joined: Any) -> int:
    return int(jwt.decode(joined["session"]["token"], options={"verify_signature": False})["nbf"])


async def _waits(world: World) -> bool:
    return len(minding(world).of(WAITING_NODES)) == 1
