"""Wire: the list, marking as read, and the channel with its durable offsets."""

from contextlib import AsyncExitStack

import pytest
import trio

from persistence.notifications.notifications import KEPT_MS
from tests.connect.play import claimed
from tests.notifications.play import LIST, READ, notify, numbers, opened
from tests.support.jobs import jobs_of
from tests.support.one_world import in_one_world
from tests.support.world import World
from tests.users.play import erase


async def test_the_newest_come_first_page_by_page(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    assert await ann.get(LIST) == {"items": [], "nextCursor": None, "hasMore": False}
    ids = await notify(world, ann, *range(1, 6), kind="friend_request")
    await notify(world, ben, 99)
    first = await ann.get(LIST, limit=2)
    assert (numbers(first["items"]), first["hasMore"]) == ([5, 4], True)
    assert first["items"][0] | {"createdAt": None} == {
        "id": ids[-1], "kind": "friend_request", "actorId": None, "data": {"n": 5},
        "createdAt": None, "readAt": None,
    }  # fmt: skip
    second = await ann.get(LIST, limit=2, cursor=first["nextCursor"])
    # What comes meanwhile moves no page.
    await notify(world, ann, 6)
    third = await ann.get(LIST, limit=2, cursor=second["nextCursor"])
    assert (numbers(second["items"]), numbers(third["items"])) == ([3, 2], [1])
    assert (third["hasMore"], third["nextCursor"]) == (False, None)


@in_one_world("query", ["cursor=x", "cursor=-1", "cursor=" + "9" * 19, "limit=x"])
async def test_queries_that_are_none(world: World, query: str) -> None:
    ann = await world.player("Ann")
    assert await ann.refused("GET", f"{LIST}?{query}") == (400, "BAD_QUERY")
    assert await world.nobody().refused("GET", LIST) == (401, "UNAUTHENTICATED")


async def test_reading_by_ids_and_by_time(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    ids = await notify(world, ann, 1, 2, 3)
    foreign = await notify(world, ben, 9)
    body = {"ids": [ids[0].upper(), foreign[0], "nonsense"]}
    assert await ann.do("POST", READ, body, status=200) == {"read": 1, "unread": 2}
    items = (await ann.get(LIST))["items"]
    assert [item["readAt"] is not None for item in items] == [False, False, True]
    assert await ann.do("POST", READ, {"beforeMs": 0}) == {"read": 0, "unread": 2}
    assert await ann.do("POST", READ, {"beforeMs": 2**53 - 1}) == {"read": 2, "unread": 0}
    assert (await ben.get(LIST))["items"][0]["readAt"] is None


@in_one_world(
    "body",
    [
        {},
        {"ids": None},
        {"ids": "x"},
        {"ids": ["x"] * 501},
        {"beforeMs": -1},
        {"beforeMs": "now"},
        {"beforeMs": 2**53},
    ],
    ids=lambda body: str(body)[:30],
)
async def test_readings_that_are_none(world: World, body: dict[str, object]) -> None:
    ann = await world.player("Ann")
    assert await ann.refused("POST", READ, body) == (422, "VALIDATION_FAILED")


async def test_a_reading_is_repeated_by_its_key(world: World) -> None:
    ann = await world.player("Ann")
    ids = await notify(world, ann, 1, 2)
    headers = {"idempotency-key": "once"}
    first = await ann.ask("POST", READ, {"ids": ids[:1]}, headers=headers)
    await notify(world, ann, 3)
    again = await ann.ask("POST", READ, {"ids": ids[:1]}, headers=headers)
    assert again.json() == first.json() == {"read": 1, "unread": 1}
    assert again.headers["idempotent-replayed"] == "true"


async def test_the_channel_tells_what_happens(world: World) -> None:
    ann = await world.player("Ann")
    await notify(world, ann, 1)
    async with ann.live("/v1/social/live?channels=") as client:
        reply = await opened(client)
        assert (reply["ok"], reply["offset"], reply["recovered"]) == (True, 1, False)
        snapshot = await client.receive_until(type="snapshot")
        assert snapshot["data"]["type"] == "notifications_snapshot"
        assert (numbers(snapshot["data"]["items"]), snapshot["data"]["unread"]) == ([1], 1)
        ids = await notify(world, ann, 2)
        added = await client.receive_until(type="event")
        assert (added["event"], added["offset"], added["epoch"]) == ("notification_added", 2, reply["epoch"])
        assert added["data"] == {"notification": (await ann.get(LIST))["items"][0], "unread": 2, "kept": None}
        await ann.do("POST", READ, {"ids": ids})
        read = await client.receive_until(type="event")
        assert (read["event"], read["offset"]) == ("notifications_read", 3)
        assert (read["data"]["ids"], read["data"]["unread"]) == (ids, 1)


async def test_what_was_missed_is_told_from_rows(world: World) -> None:
    ann = await world.player("Ann")
    ids = await notify(world, ann, 1)
    async with ann.live("/v1/social/live?channels=") as client:
        epoch = (await opened(client))["epoch"]
    # Nobody looks: the view is gone, the rows stay.
    await notify(world, ann, 2)
    await ann.do("POST", READ, {"ids": ids})
    async with ann.live("/v1/social/live?channels=") as client:
        reply = await opened(client, since=(epoch, 1))
        assert (reply["epoch"], reply["offset"], reply["recovered"]) == (epoch, 3, True)
        frames = [await client.receive_until(type="event") for _ in range(2)]
        assert [(frame["event"], frame["offset"]) for frame in frames] == [
            ("notification_added", 2), ("notifications_read", 3),
        ]  # fmt: skip
    async with ann.live("/v1/social/live?channels=") as client:
        assert (await opened(client, since=("other", 1)))["recovered"] is False


async def _old_ones_go(world: World) -> None:
    world.clock.advance(KEPT_MS)
    job = next(job for job in jobs_of(world.service) if job.name == "old notifications")
    await job.run()


@pytest.mark.parametrize("how", ["old", "erased"])
async def test_whoever_comes_back_keeps_nothing_that_changed_while_nobody_looked(
    world: World, how: str
) -> None:
    ann = await world.player("Ann", ttl_seconds=2 * KEPT_MS // 1000)
    ben = await world.player("Ben")
    server = await claimed(world, ben)
    invite = {"inviteeUserId": ann.id, "role": "viewer", "note": "it is Ben"}
    await ben.do("POST", f"{server.path}/invites", invite, status=201)
    async with ann.live("/v1/social/live?channels=") as client:
        reply = await opened(client)
        await client.receive_until(type="snapshot")
    await (_old_ones_go(world) if how == "old" else erase(world, ben))
    async with ann.live("/v1/social/live?channels=") as client:
        again = await opened(client, since=(reply["epoch"], reply["offset"]))
        assert (again["epoch"], again["recovered"]) == (reply["epoch"], False)
        items = (await client.receive_until(type="snapshot"))["data"]["items"]
        assert items == (await ann.get(LIST))["items"]
        assert [one["data"]["note"] for one in items] == ([] if how == "old" else [None])


@pytest.mark.parametrize("mode", ["snapshot", "delta"])
async def test_old_ones_go_and_the_channel_shows_it(world: World, mode: str) -> None:
    ann = await world.player("Ann", ttl_seconds=2 * KEPT_MS // 1000)
    await notify(world, ann, 1)
    async with ann.live("/v1/social/live?channels=") as client:
        await opened(client, mode=mode)
        await client.receive_until(type="snapshot")
        await _old_ones_go(world)
        snapshot = await client.receive_until(type="snapshot")
        assert (snapshot["data"]["items"], snapshot["data"]["unread"], snapshot["offset"]) == ([], 0, 2)


@pytest.mark.parametrize("mode", ["snapshot", "delta"])
async def test_whoever_is_erased_is_no_longer_named(world: World, mode: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ben)
    invite = {"inviteeUserId": ann.id, "role": "viewer", "note": "it is Ben"}
    await ben.do("POST", f"{server.path}/invites", invite, status=201)
    async with AsyncExitStack() as stack:
        # One to each node, where there are several.
        clients = [
            await stack.enter_async_context(ann.live("/v1/social/live?channels=")) for _ in world.services
        ]
        for client in clients:
            await opened(client, mode=mode)
            (begun,) = (await client.receive_until(type="snapshot"))["data"]["items"]
            assert begun["data"]["note"] == "it is Ben"
        await erase(world, ben)
        for client in clients:
            (left,) = (await client.receive_until(type="snapshot"))["data"]["items"]
            assert left == (await ann.get(LIST))["items"][0]
            assert left["data"]["note"] is None


async def test_every_offset_comes_once_however_much_happens_at_once(world: World) -> None:
    ann = await world.player("Ann")
    ids = await notify(world, ann, *range(50))
    async with ann.live("/v1/social/live?channels=") as client, trio.open_nursery() as nursery:
        reply = await opened(client, since=None)
        assert reply["offset"] == 50
        for number in range(50):
            nursery.start_soon(notify, world, ann, 50 + number)
            nursery.start_soon(ann.do, "POST", READ, {"ids": [ids[number]]})
        frames = [await client.receive_until(type="event") for _ in range(100)]
        assert [frame["offset"] for frame in frames] == list(range(51, 151))
        read = [
            id for frame in frames if frame["event"] == "notifications_read" for id in frame["data"]["ids"]
        ]
        assert sorted(read) == sorted(ids)
        assert frames[-1]["data"]["unread"] == 50


async def test_nobody_sees_the_notifications_of_another(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await notify(world, ann, 1)
    async with ben.live("/v1/social/live?channels=") as client:
        reply = await opened(client)
        assert (reply["offset"], reply["recovered"]) == (0, False)
        assert (await client.receive_until(type="snapshot"))["data"]["items"] == []
        await client.send_json({"id": 2, "op": "subscribe", "channel": f"notifications:{ann.id}"})
        refused = await client.receive_until(type="reply")
        assert (refused["ok"], refused["error"]["code"]) == (False, "NOT_FOUND")
