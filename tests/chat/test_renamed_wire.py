"""Wire: a user has a new name, and inboxes show it, whether their conversations are in memory or not."""

from typing import Any

import pytest

from routes.users.parts import USER_DIRECTORY
from tests.support.websocket import Client
from tests.support.world import Player, World

SUBSCRIBE = {"id": 1, "op": "subscribe", "channel": "inbox", "params": {"mode": "delta"}}


async def renamed(world: World, player: Player, name: str) -> Player:
    """The same user, under another name from now on."""
    other = Player(world, player.id, name, world.token(player.id, name))
    await other.get("/v1/auth/verify")
    return other


def names(conversation: Any) -> list[str]:
    return sorted(one["name"] for one in conversation["participants"])


async def next_event(socket: Client) -> Any:
    """The next event of the inbox."""
    return await socket.receive_until(type="event", channel="inbox")


@pytest.mark.parametrize("awake", [False, True], ids=["asleep", "awake"])
async def test_an_inbox_shows_a_new_name(world: World, *, awake: bool) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben)
    await ann.talk_to(cid)
    if awake:
        await ben.say(room)
    async with ann.live("/v1/social/live?channels=") as socket, ben.live("/v1/social/chat/live") as own:
        await own.receive_json()
        await socket.send_json(SUBSCRIBE)
        begun = await socket.receive_until(type="snapshot", channel="inbox")
        assert len(begun["data"]["conversations"]) == 2
        benno = await renamed(world, ben, "Benno")
        told = await next_event(socket)
        assert (told["event"], told["data"]["id"], names(told["data"])) == (
            "conversation_updated", room.id, ["Ann", "Benno"],
        )  # fmt: skip
        assert told["offset"] == begun["offset"] + 1
        assert names((await own.receive_json())["conversations"][0]) == ["Ann", "Benno"]
        # It is told once: the next event is that of a message.
        await benno.say(room, "it is me")
        said = await next_event(socket)
        assert (said["data"]["lastMessagePreview"], said["offset"]) == ("it is me", begun["offset"] + 2)
        assert names(said["data"]) == ["Ann", "Benno"]


async def test_a_message_bears_the_name_that_its_sender_has_now(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    for service in world.services:
        # As when conversations hear of a new name late, or never, because too many users are renamed at once.
        service.of(USER_DIRECTORY)._rename_listeners.clear()
    ann = Player(world, ann.id, "Anna", world.token(ann.id, "Anna"))
    assert (await ann.say(room))["senderName"] == "Anna"
    async with ann.live("/v1/social/live?channels=") as socket:
        await renamed(world, ann, "Annie")
        # Told to every node, as it is committed.
        await world.everywhere(
            lambda service: service.of(USER_DIRECTORY).peek_name(ann.id) in (None, "Annie")
        )
        await socket.send_json({"id": 1, "op": "send", "channel": room.channel, "data": {"content": "x"}})
        assert (await socket.receive_until(type="reply", id=1))["data"]["senderName"] == "Annie"
    assert [one["senderName"] for one in (await ben.get(room.messages))["items"]] == ["Anna", "Annie"]
