"""Wire: a user is erased who has left a conversation, which still tells of them."""

from typing import Any

import pytest

from actors.chat.window import WINDOW_LINES
from tests.chat.history import archive_old, import_history
from tests.chat.play import poll_body
from tests.live.play import subscribe
from tests.support.world import Player, Room, World
from tests.users.play import erase
from tests.users.traces import NAME, traces


async def events_of(player: Player, room: Room) -> list[Any]:
    """All that the journal of a conversation tells."""
    items: list[Any] = []
    more = True
    while more:
        since = items[-1]["offset"] if items else 0
        page = await player.get(f"{room.path}/events", since=since, limit=100)
        items += page["items"]
        more = page["hasMore"]
    return items


async def told_alike(world: World, ben: Player, room: Room, ann: Player) -> None:
    """Erase Ann: what was told of her stays, without her name, and no row has it."""
    before = await events_of(ben, room)
    rows: Any = await world.service.database.read(traces, NAME)
    assert "events" in rows
    await erase(world, ann)
    after = await events_of(ben, room)
    assert after == [_without_name(one) for one in before]
    assert await world.service.database.read(traces, NAME) == {}


def _without_name(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _without_name(value) for name, value in told.items()}
    if isinstance(told, list):
        return [_without_name(value) for value in told]
    return "deleted" if told == NAME else told


@pytest.mark.one_node(because="it spends whole minutes of its rate by a clock that jumps")
async def test_whose_messages_are_all_archived(world: World) -> None:
    """What names her lies in no live row, and she is in no conversation any more."""
    ann, ben, cid = await world.players(NAME, "Ben", "Cid")
    room = await ben.talk_to(ann, cid)
    await ann.say(room)
    await cid.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    for number in range(120):
        world.clock.advance(1000)
        await ben.say(room, str(number))
    moved = await archive_old(world.service.database, before_ms=world.clock.now_ms() - 1000)
    assert moved >= 2
    await ann.do("DELETE", f"{room.path}/participants/{ann.id}")
    await told_alike(world, ben, room, ann)


@pytest.mark.one_node(because="it spends whole minutes of its rate by a clock that jumps")
async def test_nothing_is_told_again_from_memory(world: World) -> None:
    """What memory had to tell whoever comes back named her, though nothing else there did."""
    ann, ben, cid = await world.players(NAME, "Ben", "Cid")
    room = await ben.talk_to(ann, cid)
    poll = await ann.do("POST", room.messages, {"poll": poll_body()}, status=201)
    for number in range(WINDOW_LINES):
        world.clock.advance(1000)
        await ben.say(room, str(number))
    async with ben.live("/v1/social/live?channels=") as socket:
        begun = await subscribe(socket, room, mode="delta")
        since = {"epoch": begun["epoch"], "offset": begun["offset"]}
        vote = {"optionIds": [poll["poll"]["options"][0]["id"]]}
        await cid.do("POST", f"{room.message(poll['id'])}/poll/vote", vote, status=200)
        await socket.receive_until(type="event", event="poll_updated")
        await ann.do("DELETE", f"{room.path}/participants/{ann.id}")
        await erase(world, ann)
        async with ben.live("/v1/social/live?channels=") as again:
            resumed = await subscribe(again, room, mode="delta", since=since)
            assert resumed["recovered"] is True
            told = [await again.receive_text() for _ in range(resumed["offset"] - since["offset"])]
    assert "poll_updated" in told[0]
    assert NAME not in "".join(told)


async def test_who_had_never_written_there(world: World) -> None:
    """Only the event of her coming names her, in a row."""
    ann, ben, cid = await world.players(NAME, "Ben", "Cid")
    room = await ben.talk_to(cid, kind="group")
    await ben.do("POST", f"{room.path}/participants", {"userIds": [ann.id]})
    await ann.do("DELETE", f"{room.path}/participants/{ann.id}")
    await told_alike(world, ben, room, ann)


async def test_history_that_is_brought_in_afterwards(world: World) -> None:
    ann, ben = await world.players(NAME, "Ben")
    room = await ann.talk_to(ben)
    await erase(world, ann)
    await import_history(world, room, ann, [world.clock.now_ms() - 10**9], reader=ben)
    (shown,) = (await ben.get(room.messages))["items"]
    assert (shown["senderId"], shown["senderName"], shown["content"]) == (ann.id, "deleted", "old 0")
    assert await world.service.database.read(traces, NAME) == {}
