"""Wire: pages are exact to the message whatever is written meanwhile, from memory and from rows alike."""

from typing import Any

import pytest
import trio

from actors.kernel.hot_reads import WAKING_READS
from routes.chat.parts import CHAT_KINDS
from tests.chat.asleep import sleep
from tests.chat.history import import_history
from tests.support.one_world import in_one_world
from tests.support.waiting import patience
from tests.support.world import Player, Room, World


async def pair(world: World) -> tuple[Player, Player, Room]:
    ann, ben = await world.players("Ann", "Ben")
    return ann, ben, await ann.talk_to(ben, kind="group")


async def post_many(world: World, player: Player, room: Room, count: int) -> list[Any]:
    """Messages by the socket, which is quicker, in the order of their replies."""
    sent = []
    async with player.live("/v1/social/live?channels=") as socket:
        await socket.receive_until(type="hello")
        for first in range(0, count, 30):
            some = range(first, min(first + 30, count))
            for number in some:
                data = {"content": str(number)}
                await socket.send_json({"id": number, "op": "send", "channel": room.channel, "data": data})
            for number in some:
                reply = await socket.receive_until(type="reply")
                assert reply["id"] == number
                assert reply["ok"], reply
                sent.append(reply["data"])
            world.clock.advance(60_000)
    return sent


async def walk(player: Player, room: Room, *, limit: int, **query: object) -> list[Any]:
    """Every message, by pages from the newest to the oldest; in order of time."""
    found: list[Any] = []
    before: dict[str, object] = {}
    while True:
        page = await player.get(room.messages, limit=limit, **query, **before)
        items = page["items"]
        assert len(items) <= limit
        found = items + found
        if not page["hasMore"]:
            assert page["nextBeforeMs"] == 0
            return found
        assert page["nextBeforeMs"] == items[0]["createdAtMs"]
        before = {"beforeMs": page["nextBeforeMs"]}


def moments(messages: list[Any]) -> list[int]:
    return [message["createdAtMs"] for message in messages]


@pytest.mark.slow
async def test_pages_of_a_long_conversation_from_memory_and_rows(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await post_many(world, ann, room, 300)
    assert moments(sent) == sorted(set(moments(sent)))
    for limit in (1_000, 120, 49):
        assert await walk(ben, room, limit=min(limit, 120)) == sent
    # Every page before any moment is the newest ones before it, wherever memory ends.
    for place in (1, 2, 119, 120, 121, 179, 180, 181, 250, 299):
        for limit in (1, 60, 120):
            page = await ben.get(room.messages, limit=limit, beforeMs=sent[place]["createdAtMs"])
            assert page["items"] == sent[max(0, place - limit) : place]
            assert page["hasMore"] is (place > limit)


@pytest.mark.slow
@pytest.mark.one_node(because="each node counts how often it reads before it wakes an owner")
async def test_pages_are_the_same_asleep_and_awake(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await post_many(world, ann, room, 90)
    await ann.do("DELETE", room.message(sent[10]["id"]))
    poll = {"question": "?", "options": [{"label": "a"}, {"label": "b"}]}
    asked = await ann.do("POST", room.messages, {"poll": poll})
    await ben.do("POST", f"{room.message(asked['id'])}/poll/vote", {"optionIds": ["2"]})
    world.clock.advance(11_000)  # Ann's socket is closed, and her presence with it
    awake = [await ben.get(room.messages, limit=limit) for limit in (1, 50, 120)]
    listed = await ben.get(room.path)
    await sleep(world, room)
    assert [await ben.get(room.messages, limit=limit) for limit in (1, 50, 120)] == awake
    assert await ben.get(room.path) == listed
    # Reading woke nobody; reading again and again does.
    service = world.home("conversation", room.id)
    kind = service.of(CHAT_KINDS).conversation
    assert service.system.peek(kind, room.id) is None
    pages = [await ben.get(room.messages, limit=50) for _ in range(WAKING_READS)]
    assert pages == [awake[1]] * WAKING_READS
    with patience():
        while service.system.peek(kind, room.id) is None:
            await trio.lowlevel.checkpoint()
    assert await ben.get(room.messages, limit=50) == awake[1]


@pytest.mark.one_node(because="it looks into the memory of one node")
async def test_a_conversation_that_is_read_stays_awake(world: World) -> None:
    ann, ben, room = await pair(world)
    await ann.say(room)
    service = world.home("conversation", room.id)
    kind = service.of(CHAT_KINDS).conversation
    for _ in range(3):
        world.clock.advance(45_000)
        await ben.get(room.messages)
        for actor in service.system.actors():
            actor.retire_if_idle(world.clock.now_ms())
        assert service.system.peek(kind, room.id) is not None
    await sleep(world, room)
    assert service.system.read(kind, room.id, world.clock.now_ms()) is None


@pytest.mark.slow
@pytest.mark.one_node(because="it spends whole minutes of its rate by a clock that jumps")
async def test_pages_neither_skip_nor_repeat_while_others_write(world: World) -> None:
    ann, ben, room = await pair(world)
    before = await post_many(world, ann, room, 60)
    walks: list[list[Any]] = []

    async def read() -> None:
        for limit in (7, 13, 50):
            walks.append(await walk(ben, room, limit=limit))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        nursery.start_soon(read)
        after = await post_many(world, ann, room, 60)
    everything = [*before, *after]
    ids = [message["id"] for message in everything]
    for found in walks:
        # What a walk saw is everything up to some moment between its start and its end.
        assert [message["id"] for message in found] == ids[: len(found)]
        assert len(found) >= len(before)
    assert await walk(ann, room, limit=120) == everything


async def test_many_senders_have_one_order(world: World) -> None:
    people = await world.players("Ann", *"BCDEFGH")
    room = await people[0].talk_to(*people[1:])
    acknowledged: list[Any] = []

    async def talk(player: Player) -> None:
        for number in range(5):
            acknowledged.append(await player.say(room, f"{player.name}{number}"))

    async with trio.open_nursery() as nursery:
        for player in people:
            nursery.start_soon(talk, player)
    found = await walk(people[0], room, limit=120)
    assert moments(found) == sorted(set(moments(found)))
    assert sorted(found, key=lambda one: one["id"]) == sorted(acknowledged, key=lambda one: one["id"])
    for player in people:
        mine = [one["content"] for one in found if one["senderId"] == player.id]
        assert mine == [f"{player.name}{number}" for number in range(5)]


@in_one_world(
    ("limit", "shown"), [("0", 1), ("-1", 1), ("1", 1), ("3", 3), ("120", 5), ("121", 5), ("1" + "0" * 18, 5)]
)
async def test_the_pages_limit_is_clamped(world: World, limit: str, shown: int) -> None:
    ann, _, room = await pair(world)
    for _ in range(5):
        await ann.say(room)
    assert len((await ann.get(room.messages, limit=limit))["items"]) == shown


@in_one_world(
    ("before", "shown"),
    [("0", 0), ("-5", 0), ("1", 0), (str(2**53), 2), (str(2**63 - 1), 2), (str(-(2**63)), 0)],
)
async def test_any_moment_may_be_asked_for(world: World, before: str, shown: int) -> None:
    ann, _, room = await pair(world)
    await ann.say(room)
    await ann.say(room)
    page = await ann.get(room.messages, beforeMs=before)
    assert (len(page["items"]), page["hasMore"], page["nextBeforeMs"]) == (shown, False, 0)


@in_one_world(
    "query",
    ["limit=x", "beforeMs=x", "beforeMs=1.5", "includeArchived=maybe", f"beforeMs={2**70}", "limit=%00"],
)
async def test_a_bad_query_is_a_400(world: World, query: str) -> None:
    ann, _, room = await pair(world)
    assert await ann.refused("GET", f"{room.messages}?{query}") == (400, "BAD_QUERY")


async def test_history_is_merged_where_it_belongs(world: World) -> None:
    ann, ben, room = await pair(world)
    live = [await ann.say(room, f"live {number}") for number in range(3)]
    start_ms = live[0]["createdAtMs"] - 600_000
    await import_history(world, room, ann, [start_ms + number for number in range(5)])
    for limit in (1, 2, 3, 120):
        found = await walk(ben, room, limit=limit)
        assert [one["content"] for one in found] == [
            *(f"old {number}" for number in range(5)),
            *(f"live {number}" for number in range(3)),
        ]
        assert [one["source"] for one in found] == ["archived"] * 5 + ["live"] * 3
    assert await walk(ben, room, limit=2, includeArchived="false") == live
    # What happened long ago stays as it was.
    old = (await walk(ben, room, limit=120))[0]
    assert await ann.refused("PATCH", room.message(old["id"]), {"content": "x"}) == (409, "INVALID_STATE")


async def test_past_events_after_an_offset(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ann.say(room, "one")
    await ann.do("PATCH", room.message(sent["id"]), {"content": "two"})
    await ben.say(room, "three")
    await ann.do("PATCH", room.path, {"title": "Crew"})
    events = f"{room.path}/events"
    page = await ben.get(events)
    assert [one["event"] for one in page["items"]] == [
        "message_created",
        "message_edited",
        "message_created",
        "conversation_updated",
    ]
    assert [one["offset"] for one in page["items"]] == [1, 2, 3, 4]
    assert page["hasMore"] is False
    # What was edited or deleted since is told as it is now.
    assert page["items"][0]["data"]["content"] == "two"
    part = await ben.get(events, since=1, limit=2)
    assert ([one["offset"] for one in part["items"]], part["hasMore"]) == ([2, 3], True)
    assert part["epoch"] == page["epoch"]
    assert (await ben.get(events, since=4))["items"] == []
    assert (await ben.get(events, since=999))["items"] == []
    assert await ben.refused("GET", f"{events}?since=-1") == (400, "BAD_QUERY")
    assert await ben.refused("GET", f"{events}?since=x") == (400, "BAD_QUERY")


async def test_events_that_are_no_longer_kept(world: World) -> None:
    ann, _, room = await pair(world)
    for _ in range(3):
        await ann.say(room)

    async def forget(conn: Any) -> None:
        await conn.execute("DELETE FROM events WHERE kind = 'conversation' AND id = $1 AND seq <= 2", room.id)

    await world.service.database.transact(forget)
    events = f"{room.path}/events"
    assert await ann.refused("GET", f"{events}?since=0") == (410, "EVENTS_EXPIRED")
    assert await ann.refused("GET", f"{events}?since=1") == (410, "EVENTS_EXPIRED")
    assert len((await ann.get(events, since=2))["items"]) == 1
