"""Wire: friends live, as a stream of their own and as a channel; presence, and who may see it."""

from typing import Any

import pytest

from actors.time import iso
from persistence.friends import requests
from persistence.users.users import read_user
from routes.friends.parts import FRIENDS_LIVE
from routes.users.parts import PRESENCE, USER_DIRECTORY
from tests.friends import rows
from tests.friends.live import assert_quiet, befriend, frame, online, show_as, unfriend, watching
from tests.support.one_world import in_one_world
from tests.support.spec import spec
from tests.support.waiting import wait_until
from tests.support.world import Player, World

EMPTY = "/v1/social/live?channels="


@pytest.mark.both_edges
async def test_friends_are_shown_at_once_and_on_change(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await befriend(world, ann, ben)
    async with watching(ann) as socket:
        first = await frame(socket)
        assert first["type"] == "friends_snapshot"
        assert online(first) == {"Ben": False}
        assert first["requests"] == {"incoming": [], "outgoing": []}
        async with watching(ben) as bens:
            assert online(await frame(bens)) == {"Ann": True}
            assert online(await frame(socket)) == {"Ben": True}
        await befriend(world, ann, cid)
        assert online(await frame(socket)) == {"Ben": True, "Cid": False}
        world.clock.advance(10_000)
        assert online(await frame(socket)) == {"Ben": False, "Cid": False}
        await unfriend(world, ann, ben)
        assert online(await frame(socket)) == {"Cid": False}
        # What changes nothing sends nothing.
        world.service.of(FRIENDS_LIVE).changed(ann.id, cid.id)
        await assert_quiet(socket)


async def test_requests_come_and_go_and_expire(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    now_ms = world.clock.now_ms()
    transact, changed = world.service.database.transact, world.service.of(FRIENDS_LIVE).changed
    async with watching(ann) as socket, watching(ben):
        await frame(socket)
        await transact(rows.request, "a" * 24, ben.id, ann.id, now_ms, now_ms + 100_000)
        changed(ben.id, ann.id)
        (incoming,) = (await frame(socket))["requests"]["incoming"]
        # A stranger's presence does not show, although they are online.
        assert (incoming["direction"], incoming["player"]["name"]) == ("incoming", "Ben")
        assert incoming["player"]["online"] is False
        await transact(rows.request, "b" * 24, ann.id, cid.id, now_ms, now_ms + 900_000)
        changed(ann.id, cid.id)
        assert [one["id"] for one in (await frame(socket))["requests"]["outgoing"]] == ["b" * 24]
        world.clock.advance(100_000)
        await befriend(world, ann, cid)
        await transact(requests.remove_between, ann.id, cid.id)
        changed(ann.id, cid.id)
        waiting = None
        while waiting != {"incoming": [], "outgoing": []}:
            waiting = (await frame(socket))["requests"]


@pytest.mark.one_node(because="when somebody was last seen is up to a minute old on other nodes")
async def test_who_only_listened_was_last_seen_when_their_socket_closed(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    presence = world.service.of(PRESENCE)

    async def left() -> bool:
        return not presence.is_looking(ben.id)

    async with watching(ann) as socket:
        async with ben.live(EMPTY):
            while online(await frame(socket)) != {"Ben": True}:
                pass
            world.clock.advance(300_000)
            left_after_ms = world.clock.now_ms()
        await wait_until(left)
        left_before_ms = world.clock.now_ms()
        world.clock.advance(10_000)
        shown = await frame(socket)
        while online(shown) != {"Ben": False}:
            shown = await frame(socket)
    told = shown["friends"][0]["lastSeenAt"]
    assert iso(left_after_ms) <= told <= iso(left_before_ms)
    assert (await ann.get("/v1/social/friends"))["friends"][0]["lastSeenAt"] == told
    await world.service.of(USER_DIRECTORY).last_seen.flush()
    user = await world.service.database.read(read_user, ben.id)
    assert user is not None and iso(user.last_seen_at_ms or 0) == told


async def test_a_rename_shows_to_those_who_watch(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    async with watching(ann) as socket:
        await frame(socket)
        renamed = Player(world, ben.id, "Benno", world.token(ben.id, "Benno"))
        await renamed.get("/v1/auth/verify")
        assert online(await frame(socket)) == {"Benno": False}


async def test_a_frame_says_what_requests_say(world: World) -> None:
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    for friend in (ben, cid, dan):
        await befriend(world, ann, friend)
    await show_as(world, ben, ann, "HIDDEN")
    await show_as(world, cid, ann, "LIMITED")
    await show_as(world, ann, dan, "LIMITED", favorite=True)
    sent = await ann.do("POST", "/v1/social/friends/requests", {"targetId": (await world.player("Eve")).id})
    async with ben.live("/v1/social/live?channels="), cid.live("/v1/social/live?channels="):
        for friend in (ben, cid):
            await world.everywhere(lambda one, id=friend.id: one.of(PRESENCE).is_online(id))
        async with watching(ann) as socket:
            live = await frame(socket)
        listed = await ann.get("/v1/social/friends")
        assert [without_seen(one) for one in live["friends"]] == [
            without_seen(one) for one in listed["friends"]
        ]
        assert live["counts"] == {name: listed["counts"][name] for name in ("total", "favorites", "online")}
        assert live["requests"] == await ann.get("/v1/social/friends/requests")
        assert [one["id"] for one in live["requests"]["outgoing"]] == [sent["id"]]


def without_seen(entry: Any) -> Any:
    """An entry without when the friend was last seen, which moves with each request of theirs; null stays null."""
    return {**entry, "lastSeenAt": entry["lastSeenAt"] is not None}


async def test_the_channel_tells_events(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await befriend(world, ann, ben)
    async with ann.live("/v1/social/live?channels=") as socket:
        await socket.receive_json()
        await socket.send_json(
            {"id": 1, "op": "subscribe", "channel": "friends", "params": {"mode": "delta"}}
        )
        reply, snapshot = await socket.receive_json(), await socket.receive_json()
        assert (reply["ok"], snapshot["type"], snapshot["offset"]) == (True, "snapshot", 0)
        spec().check_frame("FriendsFrame", snapshot["data"])
        async with ben.live("/v1/social/live?channels="):
            event = await socket.receive_json()
            assert (event["event"], event["offset"]) == ("presence", None)
            assert (event["data"]["friendId"], event["data"]["online"]) == (ben.id, True)
            await befriend(world, ann, cid)
            event = await socket.receive_json()
            assert (event["event"], event["offset"], event["data"]["friendId"]) == ("friend_added", 1, cid.id)
            event = await socket.receive_json()
            assert (event["event"], event["offset"], event["data"]["friendId"]) == ("presence", None, cid.id)
            await unfriend(world, ann, cid)
            event = await socket.receive_json()
            assert (event["event"], event["offset"]) == ("friend_removed", 2)
            assert event["data"] == {"friendId": cid.id}
            dan = await world.player("Dan")
            await dan.do("POST", "/v1/social/friends/requests", {"targetId": ann.id})
            event = await socket.receive_json()
            assert (event["event"], event["offset"]) == ("request_added", 3)
        # What has an offset is replayed; presence has none, so whoever may have missed it gets a snapshot.
        for offset, is_replayed in ((2, True), (1, False), (0, False)):
            await socket.send_json(
                {"id": 2, "op": "subscribe", "channel": "friends", "params": {"mode": "delta"},
                 "since": {"epoch": event["epoch"], "offset": offset}}
            )  # fmt: skip
            assert (await socket.receive_json())["recovered"] is is_replayed
            frame = await socket.receive_json()
            assert (frame["type"], frame["offset"]) == ("event" if is_replayed else "snapshot", 3)


@pytest.mark.one_node(because="each node counts offsets of its own, while a socket there keeps them")
@in_one_world("mode", ["delta", "snapshot"])
async def test_presence_that_was_missed_is_in_a_snapshot(world: World, mode: str) -> None:
    """Another socket of the user keeps the offsets, under which nothing has happened."""
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    async with ann.live("/v1/social/live?channels=friends") as other, ann.live(EMPTY) as socket:
        await other.receive_until(type="snapshot", channel="friends")
        ask = {"id": 1, "op": "subscribe", "channel": "friends", "params": {"mode": mode}}
        await socket.send_json(ask)
        had = await socket.receive_until(type="snapshot")
        place = {"epoch": had["epoch"], "offset": had["offset"]}
        await socket.send_json({"id": 2, "op": "unsubscribe", "channel": "friends"})
        async with ben.live(EMPTY):
            seen = await other.receive_until(type="snapshot", channel="friends")
            assert (seen["data"]["friends"][0]["online"], seen["offset"]) == (True, had["offset"])
            await socket.send_json({**ask, "since": place})
            assert (await socket.receive_until(type="reply", id=1))["recovered"] is False
            snapshot = await socket.receive_json()
            assert (snapshot["type"], snapshot["data"]["friends"][0]["online"]) == ("snapshot", True)


async def test_friends_are_a_default_channel(world: World) -> None:
    ann = await world.player("Ann")
    async with ann.live() as socket:
        await socket.receive_json()
        channels = {(await socket.receive_json())["channel"] for _ in range(3)}
        assert channels == {"friends", "inbox", "party"}


@pytest.mark.both_edges
async def test_losing_the_permission_closes_with_4403(world: World) -> None:
    ann = await world.player("Ann")
    async with watching(ann) as socket:
        await frame(socket)
        await world.grant(ann, "social:friends.read", negated=True)
        assert (await socket.wait_closed()).code == 4403


async def test_nobody_is_kept_whom_nobody_watches(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    async with watching(ann) as anns, watching(ben) as bens:
        await frame(anns)
        await frame(bens)
        # With several nodes each has one whom it shows.
        assert sum(service.of(FRIENDS_LIVE).statistics() for service in world.services) == 2

    async def forgotten() -> bool:
        return not any(service.of(FRIENDS_LIVE).statistics() for service in world.services)

    await wait_until(forgotten)
