"""Wire: a socket shows what its user may see, and no longer than they may."""

import pytest
import trio

from actors.users.expiries import Expiries
from routes.users.parts import USER_DIRECTORY
from tests.support.one_world import in_one_world
from tests.support.waiting import patience
from tests.support.websocket import Client
from tests.support.world import Player, Room, World

pytestmark = pytest.mark.both_edges

NONE = "/v1/social/live?channels="


async def pair(world: World) -> tuple[Player, Player, Room]:
    ann, ben = await world.players("Ann", "Ben")
    return ann, ben, await ann.talk_to(ben, kind="group")


async def subscribe(socket: Client, channel: str, **params: object) -> None:
    await socket.send_json({"id": "s", "op": "subscribe", "channel": channel, "params": params})
    assert (await socket.receive_until(type="reply", id="s"))["ok"]
    await socket.receive_until(type="snapshot", channel=channel)


async def is_heard(socket: Client) -> None:
    """The socket is open and answers."""
    await socket.send_json({"id": "p", "op": "ping"})
    await socket.receive_until(type="pong", id="p")


@in_one_world("mode", ["snapshot", "delta"])
async def test_who_is_taken_out_is_told_and_hears_no_more(world: World, mode: str) -> None:
    ann, ben, room = await pair(world)
    async with ben.live() as socket:
        await subscribe(socket, room.channel, mode=mode)
        await ann.do("DELETE", f"{room.path}/participants/{ben.id}")
        await ann.say(room, "between us")
        seen = []
        while not seen or seen[-1]["type"] != "unsubscribed":
            seen.append(await socket.receive_json())
        assert seen[-1] == {
            "type": "unsubscribed",
            "channel": room.channel,
            "code": "CONVERSATION_NOT_FOUND",
        }
        assert "between us" not in str(seen)
        await is_heard(socket)
        await socket.send_json({"id": 1, "op": "subscribe", "channel": room.channel})
        reply = await socket.receive_until(type="reply", id=1)
        assert reply["error"]["code"] == "CONVERSATION_NOT_FOUND"
        # And once they are back in.
        await ann.do("POST", f"{room.path}/participants", {"userIds": [ben.id]})
        await subscribe(socket, room.channel)


async def test_a_lost_permission_ends_every_subscription(world: World) -> None:
    ann, ben, room = await pair(world)
    # A node that anybody is granted is in the catalog, and must be held from then on (contract §2, Gate).
    await world.grant(ann, "social:chat.read")
    await world.grant(ben, "social:chat.read")
    async with ben.live() as socket, ann.live(NONE) as other:
        await subscribe(socket, room.channel)
        await subscribe(other, room.channel)
        await world.grant(ben, "social:chat.read", negated=True)
        ended = {(await socket.receive_until(type="unsubscribed"))["channel"] for _ in range(2)}
        assert ended == {"inbox", room.channel}
        await ann.say(room, "without Ben")
        assert (await other.receive_until(type="snapshot"))["data"]["items"]
        await socket.send_json({"id": 1, "op": "subscribe", "channel": room.channel})
        reply = await socket.receive_until(type="reply", id=1)
        assert reply["error"]["code"] == "FORBIDDEN"
        # Given back, it may be asked for again.
        await world.grant(ben, "social:chat.read")
        await subscribe(socket, room.channel)


async def test_a_single_stream_ends_with_the_right_of_its_route_alone(world: World) -> None:
    ann = await world.player("Ann")
    await world.grant(ann, "social:chat.read")
    async with ann.live("/v1/social/chat/live") as chat, ann.live("/v1/social/party/live") as party:
        await chat.receive_json()
        assert (await party.receive_json())["party"] is None
        await world.grant(ann, "social:chat.read", negated=True)
        assert (await chat.wait_closed()).code == 4403
        await ann.do("POST", "/v1/social/party")
        assert (await party.receive_json())["party"] is not None


async def test_a_grant_that_expires_ends_what_it_gave(world: World) -> None:
    ann, ben, room = await pair(world)
    await world.grant(ann, "social:chat.read")
    assert await ben.refused("GET", room.messages) == (403, "FORBIDDEN")
    root = await world.super_admin()
    expires = {"node": "social:chat.read", "negated": False, "expiresAt": iso_in(world, 2_000)}
    await root.do("POST", f"/v1/admin/users/{ben.id}/permissions", expires)
    async with ben.live(NONE) as socket:
        await subscribe(socket, room.channel)
        world.clock.advance(2_000)
        assert (await socket.receive_until(type="unsubscribed"))["code"] == "FORBIDDEN"


@pytest.mark.one_node(because="it looks into the memory of the node that has the socket")
async def test_a_grant_ends_after_any_number_of_reloads(world: World) -> None:
    """Each reload of a user took one of the places for ends; ends that found none were never told of."""
    ann, ben, room = await pair(world)
    users = world.service.of(USER_DIRECTORY)
    users._resolver._expiries = Expiries(max_users=2)
    root = await world.super_admin()
    expires = {"node": "social:chat.read", "negated": False, "expiresAt": iso_in(world, 2_000)}
    for player in (ann, ben):
        await root.do("POST", f"/v1/admin/users/{player.id}/permissions", expires)
        for _ in range(10):
            users.changed(player.id)
            await users.access_of(player.id)
    async with ben.live(NONE) as socket:
        await subscribe(socket, room.channel)
        world.clock.advance(2_000)
        assert (await socket.receive_until(type="unsubscribed"))["code"] == "FORBIDDEN"


def iso_in(world: World, ms: int) -> str:
    from actors.time import iso

    return iso(world.clock.now_ms() + ms)


@pytest.mark.slow
async def test_the_end_of_the_token_closes_with_4401(world: World) -> None:
    _, ben, room = await pair(world)
    async with ben.live() as socket:
        await subscribe(socket, room.channel)
        world.clock.advance(3_600_000)
        assert (await socket.wait_closed()).code == 4401


async def test_a_block_stops_sends_and_leaves_the_subscription(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with ben.live(NONE) as socket:
        await subscribe(socket, room.channel)
        await world.block(ann, ben)
        await socket.send_json({"id": 1, "op": "send", "channel": room.channel, "data": {"content": "hi"}})
        reply = await socket.receive_until(type="reply", id=1)
        assert reply["error"]["code"] == "BLOCKED"
        await world.block(ann, ben, blocked=False)
        await ann.say(room, "again")
        while not (items := (await socket.receive_until(type="snapshot"))["data"]["items"]):
            pass  # that who is online shows otherwise, across the block and after it
        assert items[0]["content"] == "again"


@pytest.mark.one_node(because="it looks into the memory of the node that has the socket")
async def test_closing_lets_go_of_everything(world: World) -> None:
    _, ben, room = await pair(world)
    service = world.service
    async with ben.live() as socket:
        await subscribe(socket, room.channel)
        watched = {row.id: row.subscribers for row in service.system.statistics()}
        assert (watched[room.id], watched[ben.id]) == (1, 1)
        await socket.close()
    with patience():
        while any(row.subscribers for row in service.system.statistics()):  # noqa: ASYNC110
            await trio.sleep(0.01)
    assert len(service.sockets) == 0


@pytest.mark.slow
async def test_a_draining_server_says_when_to_come_back(world: World) -> None:
    ann, _, room = await pair(world)
    async with ann.live(NONE) as many, ann.live(f"{room.path}/live") as single:
        await many.receive_json()
        await single.receive_json()
        async with trio.open_nursery() as nursery:
            for service in world.services:
                nursery.start_soon(service.sockets.drain)
            told = await many.receive_until(type="reconnect")
            assert told["reason"] == "DRAINING"
            assert 0 <= told["afterMs"] <= 10_000
            assert (await many.wait_closed()).code == 4503
            assert (await single.wait_closed()).code == 4503
