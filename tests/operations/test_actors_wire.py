"""Wire: which actors live, one of them closely, and the channel that tells them; for super-admins."""

import pytest

from actors.operations.actors import INTERVAL_MS
from routes.operations.parts import LIVE_ACTORS
from tests.support.jobs import job_named
from tests.support.one_world import in_one_world
from tests.support.spec import spec
from tests.support.waiting import wait_until
from tests.support.world import World

ACTORS = "/v1/admin/actors"


@pytest.mark.one_node(because="what operators watch is of the node that answers")
async def test_actors_are_found(world: World) -> None:
    root, ann, ben = await world.super_admin(), *await world.players("Ann", "Ben")
    rooms = [await ann.talk_to(ben), await ann.talk_to(root)]
    for room in rooms:
        await ann.say(room)
    found = await root.get(ACTORS, kind="conversation")
    assert (found["total"], found["matched"]) == (2, 2)
    assert {item["id"] for item in found["items"]} == {room.id for room in rooms}
    (one,) = (await root.get(ACTORS, query=rooms[0].id.upper(), sort="busy"))["items"]
    assert (one["kind"], one["restarts"], one["lastError"]) == ("conversation", 0, None)
    few = await root.get(ACTORS, limit=1)
    assert (len(few["items"]), few["matched"], few["kinds"][0]["actors"]) == (1, 2, 2)
    assert (await root.get(ACTORS, kind="nothing"))["items"] == []
    assert await root.refused("GET", f"{ACTORS}?sort=size") == (400, "BAD_QUERY")


@pytest.mark.one_node(because="what operators watch is of the node that answers")
async def test_one_actor_closely(world: World) -> None:
    root, ann, ben = await world.super_admin(), *await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with ann.live(f"/v1/social/live?channels={room.channel},inbox") as socket:
        await socket.receive_until(type="snapshot", channel=room.channel)
        await socket.receive_until(type="snapshot", channel="inbox")
        await ben.say(room, "zwiebelkuchen")
        one = await root.get(f"{ACTORS}/conversation/{room.id}")
        assert (one["sort"], one["state"], one["parkedUntilMs"], one["subscribers"]) == (
            "owner",
            "live",
            None,
            1,
        )
        assert one["watchers"] == [{"userId": ann.id, "channel": room.channel, "lagging": False}]
        assert [event["event"] for event in one["recent"]] == ["message_created"]
        assert "zwiebelkuchen" not in str(one)
        view = await root.get(f"{ACTORS}/inbox/{ann.id}")
        assert (view["sort"], view["subscribers"], view["watchers"][0]["userId"]) == ("view", 1, ann.id)


@in_one_world("path", ["chat/000000000000000000000000", "nothing/x", "chat/%00"])
async def test_what_does_not_live(world: World, path: str) -> None:
    root = await world.super_admin()
    assert await root.refused("GET", f"{ACTORS}/{path}") == (404, "NOT_FOUND")


@pytest.mark.one_node(because="what operators watch is of the node that answers")
async def test_the_channel_shows_what_is_worth_a_look(world: World) -> None:
    root, ann, ben = await world.super_admin(), *await world.players("Ann", "Ben")
    await ann.say(await ann.talk_to(ben))
    live = world.service.of(LIVE_ACTORS)
    assert not live.watched
    async with root.live("/v1/social/live?channels=actors") as client, root.live() as second:
        first = await client.receive_until(type="snapshot", channel="actors")
        spec().check_frame("ActorsSnapshot", first["data"])
        assert (first["data"]["total"], first["data"]["items"][0]["kind"]) == (1, "conversation")
        subscribe = {"id": 1, "op": "subscribe", "channel": "actors", "params": {"mode": "delta"}}
        await second.send_json(subscribe)
        await second.receive_until(type="snapshot", channel="actors")
        assert live.watched
        await ben.say(await ben.talk_to(root))
        await job_named(world, "actors that are watched").run()
        world.advance(INTERVAL_MS)
        snapshot = await client.receive_until(type="snapshot", channel="actors")
        event = await second.receive_until(type="event", channel="actors")
        spec().check_frame("ActorsChanged", event["data"])
        while event["data"]["atMs"] < snapshot["data"]["atMs"]:
            event = await second.receive_until(type="event", channel="actors")
        assert {**snapshot["data"], **event["data"]}["total"] > first["data"]["total"]
        assert len(snapshot["data"]["items"]) <= 50

    async def unwatched() -> bool:
        return not live.watched

    await wait_until(unwatched)
    before = live.newest
    await job_named(world, "actors that are watched").run()
    assert live.newest is before


async def test_the_channel_is_for_super_admins(world: World) -> None:
    admin = await world.ranked("Adam", "admin")
    async with admin.live("/v1/social/live?channels=actors,metrics") as client:
        told = [await client.receive_until(type="unsubscribed") for _ in range(2)]
        assert {(one["channel"], one["code"]) for one in told} == {
            ("actors", "FORBIDDEN"), ("metrics", "FORBIDDEN"),
        }  # fmt: skip
