"""Wire: messages change that no event names one by one, and whoever takes events is shown them as they are."""

from typing import Any

from actors.chat.window import WINDOW_LINES
from tests.chat.history import archive_old, import_history
from tests.live.play import subscribe
from tests.support.websocket import Client
from tests.support.world import Player, Room, World
from tests.users.play import erase

QUIET = "/v1/social/live?channels="


async def begun(socket: Client, room: Room, **params: Any) -> Any:
    """Take events from now on; returns the first snapshot."""
    await subscribe(socket, room, mode="delta", **params)
    return await socket.receive_until(type="snapshot", channel=room.channel)


async def shown_again(socket: Client, player: Player, room: Room, **query: Any) -> Any:
    """The next snapshot, which is what a page shows that reloads."""
    told = await socket.receive_until(type="snapshot", channel=room.channel)
    fresh = await player.get(room.messages, **query)
    for name in ("items", "hasMore", "nextBeforeMs"):
        assert told["data"][name] == fresh[name]
    return told


async def test_messages_of_a_user_who_is_erased(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ben.talk_to(ann, cid)
    await ann.say(room, "hi")
    await cid.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    async with ben.live(QUIET) as socket:
        await begun(socket, room)
        await erase(world, ann)
        told = await shown_again(socket, ben, room)
        assert [one["senderName"] for one in told["data"]["items"]] == ["deleted", "Cid"]
        assert "Ann" not in str(told["data"])


async def test_history_that_was_brought_in(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ben.talk_to(ann, cid)
    await ann.say(room, "hi")
    now_ms = world.clock.now_ms()
    async with ben.live(QUIET) as all_of_it, cid.live(QUIET) as live_alone:
        await begun(all_of_it, room)
        await begun(live_alone, room, includeArchived=False)
        await import_history(world, room, ann, [now_ms - 100_000, now_ms - 90_000])
        told = await shown_again(all_of_it, ben, room)
        assert [one["content"] for one in told["data"]["items"]] == ["old 0", "old 1", "hi"]
        await shown_again(live_alone, cid, room, includeArchived="false")


async def test_old_messages_that_move_below_what_is_shown(world: World) -> None:
    """They are archived now, and nothing that is shown is another: nobody is sent it again."""
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ben.talk_to(ann, cid)
    for service in world.services:
        service.limits.enabled = False
    now_ms = world.clock.now_ms()
    await import_history(world, room, ann, [now_ms - 100_000])
    for number in range(WINDOW_LINES + 2):
        await ben.say(room, str(number))
    async with ben.live(QUIET) as socket:
        await begun(socket, room)
        world.clock.advance(1_000)
        database = world.service.database
        assert await archive_old(database, before_ms=world.clock.now_ms() - 1, most=1) == 1
        said = await ann.say(room, "last")
        frame = await socket.receive_json()
        assert (frame["type"], frame["data"]["id"]) == ("event", said["id"])
