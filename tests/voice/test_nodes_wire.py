"""Wire: voice nodes register, say how they are, and go."""

from functools import partial

import jwt
import trio

from actors.voice.fleet import MOVES, SILENCE_MS
from routes.voice.parts import FLEET, NODE_SECRETS, WAITING_NODES
from routes.voice.secrets import SigningKey
from tests.connect.play import claimed
from tests.support.waiting import wait_until
from tests.support.world import World
from tests.voice.play import NODE, NODES, node, node_server

REGIONS = "/v1/social/voice/regions"


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
    assert [silent.row.node_id for silent in world.service.of(FLEET).silence()] == [one.id]
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


async def test_a_heartbeat_waits_for_an_order_which_is_repeated_until_acknowledged(world: World):
    one = await node(world, await node_server(world))
    fleet, heard = world.service.of(FLEET), []

    async def beat() -> None:
        heard.extend(await one.beat(wait=20))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(beat)
        await wait_until(partial(_waits, world))
        fleet.order(one.id, "close", "a" * 36, None)
    (action,) = heard
    assert action == {
        "id": action["id"], "kind": "close", "channelId": "a" * 36, "notBefore": world.clock.now_ms() // 1000 + 1,
    }  # fmt: skip
    kept, one.cursor = one.cursor, None
    assert [again["id"] for again in await one.beat(wait=20)] == [action["id"]]
    one.cursor = kept
    assert await one.beat() == []


async def test_secrets_are_sealed_for_their_node(world: World):
    server = await node_server(world)
    one = await node(world, server, livekit={"apiKey": "APIkey", "apiSecret": "s" * 32})
    two = await node(world, server)
    fleet, secrets = world.service.of(FLEET), world.service.of(NODE_SECRETS)
    first, second = fleet.get(one.id), fleet.get(two.id)
    assert first is not None
    assert second is not None
    assert secrets.signing(first.row) == SigningKey("APIkey", b"s" * 32)
    assert secrets.signing(second.row) == SigningKey(two.id, two.secret.encode())
    assert one.secret.encode() not in first.row.sealed_secret


def test_every_status_has_a_move_for_every_sign():
    statuses, signs = {status for status, _ in MOVES}, {sign for _, sign in MOVES}
    assert set(MOVES) == {(status, sign) for status in statuses for sign in signs}


async def _waits(world: World) -> bool:
    return len(world.service.of(WAITING_NODES)) == 1
