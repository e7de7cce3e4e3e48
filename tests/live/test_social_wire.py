"""Wire: one socket for everything; what can be said on it, and what is answered."""

from typing import Any

import pytest

from tests.support.one_world import in_one_world
from tests.support.spec import spec
from tests.support.websocket import Client
from tests.support.world import Player, Room, World

pytestmark = pytest.mark.both_edges

NONE = "/v1/social/live?channels="

FRAMES = {
    "hello": "Hello",
    "reply": "Reply",
    "snapshot": "Snapshot",
    "event": "Event",
    "pong": "Pong",
    "unsubscribed": "Unsubscribed",
    "reconnect": "Reconnect",
}


async def frame(socket: Client) -> Any:
    """The next frame, as AsyncAPI describes it."""
    received = await socket.receive_json()
    spec().check_frame(FRAMES[received["type"]], received)
    return received


async def frames(socket: Client, count: int) -> list[Any]:
    return [await frame(socket) for _ in range(count)]


async def say(socket: Client, op: str, id: object = 1, **fields: object) -> Any:
    """Send a command and return the next frame."""
    await socket.send_json({"id": id, "op": op, **fields})
    return await frame(socket)


async def pair(world: World) -> tuple[Player, Player, Room]:
    ann, ben = await world.players("Ann", "Ben")
    return ann, ben, await ann.talk_to(ben, kind="group")


async def test_hello_comes_first_and_the_default_channels_by_themselves(world: World) -> None:
    ann, _, room = await pair(world)
    async with ann.live() as socket:
        hello, friends, party, inbox = await frames(socket, 4)
        assert hello["v"] == 1
        assert hello["heartbeatMs"] == 30_000
        assert hello["limits"] == {"commandsPerMinute": 120, "maxSubscriptions": 200, "maxFrameBytes": 65_536}
        assert abs(hello["serverTimeMs"] - world.clock.now_ms()) < 60_000
        assert (friends["type"], friends["channel"]) == ("snapshot", "friends")
        assert (party["type"], party["channel"]) == ("snapshot", "party")
        assert (inbox["type"], inbox["channel"], inbox["skipped"]) == ("snapshot", "inbox", 0)
        assert [one["id"] for one in inbox["data"]["conversations"]] == [room.id]
        assert (await socket.close()).code == 1000


@in_one_world(
    ("channels", "shown"),
    [
        ("", []),
        (",,", []),
        ("inbox", [("snapshot", "inbox")]),
        ("inbox,inbox", [("snapshot", "inbox")]),
        ("ROOM,inbox", [("snapshot", "ROOM"), ("snapshot", "inbox")]),
        ("nope,inbox", [("unsubscribed", "nope"), ("snapshot", "inbox")]),
        (
            "party,ROOM,nope,friends",
            [("snapshot", "party"), ("snapshot", "ROOM"), ("unsubscribed", "nope"), ("snapshot", "friends")],
        ),
        ("conversation:zz", [("unsubscribed", "conversation:zz")]),
    ],
)
async def test_the_address_says_what_is_watched(
    world: World, channels: str, shown: list[tuple[str, str]]
) -> None:
    ann, _, room = await pair(world)
    async with ann.live("/v1/social/live?channels=" + channels.replace("ROOM", room.channel)) as socket:
        assert (await frame(socket))["type"] == "hello"
        for kind, channel in shown:
            told = await frame(socket)
            assert (told["type"], told["channel"]) == (kind, channel.replace("ROOM", room.channel))
        # And nothing else: the next frame is the answer to the next command.
        assert (await say(socket, "ping", "last")) == {"type": "pong", "id": "last"}


async def test_ping_and_commands_without_an_id(world: World) -> None:
    ann, _, room = await pair(world)
    async with ann.live(NONE) as socket:
        await frame(socket)
        assert await say(socket, "ping", 3) == {"type": "pong", "id": 3}
        for command in (
            {"op": "typing", "channel": room.channel},
            {"op": "send", "channel": room.channel, "data": {"content": "quiet"}},
            {"op": "unsubscribe", "channel": "inbox"},
        ):
            await socket.send_json(command)
        # What was sent is done in its order, so that the answer to the last tells of the first.
        loud = await say(socket, "send", 4, channel=room.channel, data={"content": "loud"})
        assert (loud["id"], loud["ok"]) == (4, True)
    assert [item["content"] for item in (await ann.get(room.messages))["items"]] == ["quiet", "loud"]


@in_one_world(
    ("command", "code"),
    [
        ({"op": "send", "channel": "ROOM", "data": {}}, "VALIDATION_FAILED"),
        ({"op": "send", "channel": "nope", "data": {"content": "x"}}, "NOT_FOUND"),
        ({"op": "read", "channel": "ROOM", "messageId": "0" * 24}, "NOT_FOUND"),
        ({"op": "typing", "channel": "conversation:" + "0" * 24}, "CONVERSATION_NOT_FOUND"),
        ({"op": "subscribe", "channel": "nope"}, "NOT_FOUND"),
        ({"op": "subscribe", "channel": "conversation:" + "0" * 24}, "CONVERSATION_NOT_FOUND"),
        ({"op": "subscribe", "channel": "ROOM", "id": None, "params": {"mode": "all"}}, "VALIDATION_FAILED"),
        ({"op": "dance"}, "VALIDATION_FAILED"),
    ],
    ids=str,
)
async def test_a_command_without_an_id_is_refused_aloud(
    world: World, command: dict[str, object], code: str
) -> None:
    ann, _, room = await pair(world)
    if command.get("channel") == "ROOM":
        command = {**command, "channel": room.channel}
    async with ann.live(NONE) as socket:
        await frame(socket)
        await socket.send_json(command)
        reply = await frame(socket)
        assert (reply["type"], reply["id"], reply["ok"]) == ("reply", None, False)
        assert reply["error"]["code"] == code
        assert (await say(socket, "ping", 2))["type"] == "pong"


async def test_subscribing_replies_before_the_first_frame(world: World) -> None:
    ann, ben, room = await pair(world)
    await ben.say(room, "one")
    async with ann.live(NONE) as socket:
        await frame(socket)
        reply = await say(socket, "subscribe", channel=room.channel, params={"limit": 10})
        assert (reply["ok"], reply["channel"], reply["recovered"]) == (True, room.channel, False)
        snapshot = await frame(socket)
        assert (snapshot["type"], snapshot["offset"]) == ("snapshot", reply["offset"])
        assert snapshot["epoch"] == reply["epoch"]
        spec().check_frame("MessagePage", snapshot["data"])
        assert [item["content"] for item in snapshot["data"]["items"]] == ["one"]
        await ben.say(room, "two")
        told = await frame(socket)
        assert (told["offset"], len(told["data"]["items"])) == (reply["offset"] + 1, 2)
        # Subscribed again, in another mode: the new one takes the place of the old, however its id is
        # written.
        again = await say(socket, "subscribe", channel=room_in_capitals(room), params={"mode": "delta"})
        assert again["ok"] is True
        assert (await frame(socket))["type"] == "snapshot"
        await ben.say(room, "three")
        event = await frame(socket)
        assert (event["type"], event["event"], event["offset"]) == ("event", "message_created", 3)
        assert "self" not in event
        left = await say(socket, "unsubscribe", channel=room_in_capitals(room))
        assert left == {"type": "reply", "id": 1, "ok": True, "channel": room.channel}
        await ben.say(room, "four")
        assert (await say(socket, "ping"))["type"] == "pong"


def room_in_capitals(room: Room) -> str:
    return f"conversation:{room.id.upper()}"


NOT_THEIRS = [
    ("nope", "NOT_FOUND"),
    ("friends:x", "NOT_FOUND"),
    ("inbox:" + "0" * 24, "NOT_FOUND"),
    ("conversation:" + "0" * 24, "CONVERSATION_NOT_FOUND"),
    ("conversation:zz", "CONVERSATION_NOT_FOUND"),
    ("FOREIGN", "CONVERSATION_NOT_FOUND"),
]


@in_one_world(
    "op, channel, code",
    [(op, *row) for op in ("subscribe", "typing", "read", "send") for row in NOT_THEIRS],
)
async def test_channels_that_one_may_not_have(world: World, op: str, channel: str, code: str) -> None:
    ann, ben, _ = await pair(world)
    cid = await world.player("Cid")
    foreign = await ben.talk_to(cid)
    fields: dict[str, object] = {"channel": channel.replace("FOREIGN", foreign.channel)}
    if op == "send":
        fields["data"] = {"content": "hi"}
    elif op == "read":
        fields["messageId"] = "0" * 24
    async with ann.live(NONE) as socket:
        await frame(socket)
        reply = await say(socket, op, **fields)
        assert (reply["ok"], reply["error"]["code"]) == (False, code)


async def test_send_is_rest_by_another_way(world: World) -> None:
    ann, ben, room = await pair(world)
    async with ann.live(NONE) as socket:
        await frame(socket)
        data = {"content": "hi", "clientMessageId": "c"}
        reply = await say(socket, "send", channel=room.channel, data=data)
        assert reply["ok"] is True
        spec().check_frame("Message", reply["data"])
        assert (await ben.get(room.messages))["items"] == [reply["data"]]
        # A repetition is answered with the first message, over either way.
        assert (await say(socket, "send", channel=room.channel, data=data))["data"] == reply["data"]
        assert await ann.say(room, "other", clientMessageId="c") == reply["data"]
        for data, pointer in (
            ({}, ""),
            ({"content": 5}, "/content"),
            ({"content": "a\0"}, "/content"),
            ({"content": "x", "mentions": [{"id": "nobody"}]}, "/mentions/0/id"),
            (
                {"poll": {"question": "?", "options": [{"label": "a"}, {"label": "a"}]}},
                "/poll/options/1/label",
            ),
            ({"attachmentIds": ["0" * 24]}, "/attachmentIds/0"),
        ):
            error = (await say(socket, "send", channel=room.channel, data=data))["error"]
            rest = (await ann.ask("POST", room.messages, data)).json()
            assert (error["code"], error["message"]) == (rest["code"], rest["message"])
            assert error["errors"] == rest["errors"]
            assert [one["pointer"] for one in error["errors"]] == [pointer]
        direct = await ann.talk_to(ben)
        await world.block(ben, ann)
        blocked = await say(socket, "send", channel=direct.channel, data={"content": "hi"})
        assert blocked["error"]["code"] == "BLOCKED"


async def test_read_and_typing(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ben.say(room, "one")
    async with ann.live("/v1/social/live?channels=") as anns, ben.live(NONE) as bens:
        for socket in (anns, bens):
            await frame(socket)
            assert (await say(socket, "subscribe", channel=room.channel, params={"mode": "delta"}))["ok"]
            assert (await frame(socket))["type"] == "snapshot"
        await anns.send_json({"op": "typing", "channel": room.channel})
        typing = await frame(bens)
        assert (typing["event"], typing["offset"]) == ("typing", None)
        assert typing["data"]["userId"] == ann.id
        await anns.send_json(
            {"id": 2, "op": "read", "channel": room.channel, "messageId": sent["id"].upper()}
        )
        reply = await anns.receive_until(type="reply", id=2)
        assert reply["data"] == {"unreadCount": 0, "mentionCount": 0, "lastReadAtMs": sent["createdAtMs"]}
        assert (await anns.receive_until(type="event", event="read"))["data"]["userId"] == ann.id
        # In a small conversation the others are told too.
        told = await bens.receive_until(type="event", event="read")
        assert (told["data"]["userId"], told["data"]["messageId"], told["offset"]) == (
            ann.id,
            sent["id"],
            None,
        )
        missing = await say(anns, "read", channel=room.channel, messageId="0" * 24)
        assert missing["error"]["code"] == "NOT_FOUND"


async def test_rights_are_those_of_rest(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ben.say(room)
    await world.grant(ann, "social:chat.write", negated=True)
    async with ann.live(NONE) as socket:
        await frame(socket)
        for op, fields in (
            ("send", {"data": {"content": "hi"}}),
            ("read", {"messageId": sent["id"]}),
            ("typing", {}),
        ):
            reply = await say(socket, op, channel=room.channel, **fields)
            assert reply["error"]["code"] == "FORBIDDEN"
            assert reply["error"]["meta"] == {"permission": "social:chat.write"}
        # Looking is another node.
        assert (await say(socket, "subscribe", channel=room.channel))["ok"] is True


@in_one_world(
    "text", ["hello", "[]", "null", "{", '{"op":"ping","id":{}}', "[" * 1000, '{"op":"ping","op":"ping"}']
)
async def test_what_is_no_command_closes_with_4400(world: World, text: str) -> None:
    ann = await world.player("Ann")
    async with ann.live(NONE) as socket:
        await frame(socket)
        await socket.send_text(text)
        assert (await socket.wait_closed()).code == 4400


async def test_binary_closes_with_4400_and_too_much_with_4413(world: World) -> None:
    ann = await world.player("Ann")
    async with ann.live(NONE) as socket:
        await frame(socket)
        await socket.send_bytes(b'{"op":"ping"}')
        assert (await socket.wait_closed()).code == 4400
    async with ann.live(NONE) as socket:
        await frame(socket)
        await socket.send_text("x" * 65_537)
        assert (await socket.wait_closed()).code in {4413, 1006}


@in_one_world(
    ("command", "pointer"),
    [
        ({"op": "dance"}, "/op"),
        ({"op": ["ping"]}, "/op"),
        ({}, "/op"),
        ({"op": "subscribe"}, "/channel"),
        ({"op": "subscribe", "channel": "inbox", "params": {"mode": "all"}}, "/params/mode"),
        ({"op": "subscribe", "channel": "inbox", "since": {"epoch": "x"}}, "/since/offset"),
        ({"op": "read", "channel": "conversation:" + "0" * 24, "messageId": "last"}, "/messageId"),
    ],
    ids=str,
)
async def test_a_broken_command_is_refused_and_the_socket_stays(
    world: World, command: dict[str, object], pointer: str
) -> None:
    ann = await world.player("Ann")
    async with ann.live(NONE) as socket:
        await frame(socket)
        await socket.send_json({**command, "id": "x"})
        reply = await frame(socket)
        assert (reply["id"], reply["ok"], reply["error"]["code"]) == ("x", False, "VALIDATION_FAILED")
        assert [error["pointer"] for error in reply["error"]["errors"]] == [pointer]
        assert (await say(socket, "ping", 2))["type"] == "pong"


async def test_too_many_commands_are_refused_then_closed(world: World) -> None:
    ann = await world.player("Ann")
    world.clock.stop()
    async with ann.live(NONE) as socket:
        await frame(socket)
        for number in range(160):
            await socket.send_json({"id": number, "op": "ping"})
        assert [(await frame(socket))["type"] for _ in range(120)] == ["pong"] * 120
        refused = await frame(socket)
        assert refused["type"] == "reply"
        assert refused["error"]["code"] == "RATE_LIMITED"
        assert refused["error"]["meta"]["retryAfterMs"] > 0
        assert (await socket.wait_closed()).code == 4429


async def test_a_socket_watches_at_most_two_hundred_channels(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    for service in world.services:
        service.limits.enabled = False
    await world.grant(ann, "social:groups.max", value={"value": 201, "unit": "count"})
    rooms = []
    for number in range(201):
        rooms.append(await ann.talk_to(ben, kind="group"))
        if number < 200:
            await ben.do("DELETE", f"{rooms[-1].path}/participants/{ben.id}")
    async with ann.live(NONE) as socket:
        await frame(socket)
        for room in rooms[:200]:
            await socket.send_json(
                {"id": 1, "op": "subscribe", "channel": room.channel, "params": {"limit": 1}}
            )
            assert (await socket.receive_until(type="reply"))["ok"], room
        await socket.send_json({"id": 2, "op": "subscribe", "channel": rooms[200].channel})
        reply = await socket.receive_until(type="reply", id=2)
        assert (reply["ok"], reply["error"]["code"]) == (False, "QUOTA_EXCEEDED")
        # Again is no more; and one that was left makes room.
        await socket.send_json({"id": 3, "op": "subscribe", "channel": rooms[0].channel})
        assert (await socket.receive_until(type="reply", id=3))["ok"] is True
        await socket.send_json({"op": "unsubscribe", "channel": rooms[1].channel})
        await socket.send_json({"id": 4, "op": "subscribe", "channel": rooms[200].channel})
        assert (await socket.receive_until(type="reply", id=4))["ok"] is True
