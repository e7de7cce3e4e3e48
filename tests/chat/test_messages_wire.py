"""Wire: posting, editing, deleting, revisions, read markers, typing, idempotency and rates."""

import json

import pytest
import trio

from persistence.users.audit import WantedAudit, read_audit
from tests.edge.apps import FixedClock
from tests.support.one_world import in_one_world
from tests.support.world import CONVERSATIONS, Player, Room, World


async def pair(world: World) -> tuple[Player, Player, Room]:
    ann, ben = await world.players("Ann", "Ben")
    return ann, ben, await ann.talk_to(ben)


async def test_a_message_is_there_once_it_is_acknowledged(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ann.say(room, "Grüße 👋", clientMessageId="c-1")
    assert (sent["senderId"], sent["senderName"], sent["content"]) == (ann.id, "Ann", "Grüße 👋")
    assert (sent["source"], sent["revision"], sent["clientMessageId"]) == ("live", 1, "c-1")
    assert (sent["editedAt"], sent["deletedAt"], sent["poll"]) == (None, None, None)
    page = await ben.get(room.messages)
    assert page["items"] == [sent]
    head = page["conversation"]
    assert (head["lastMessageId"], head["lastMessagePreview"]) == (sent["id"], "Grüße 👋")
    assert head["lastMessageAtMs"] == sent["createdAtMs"]
    assert head["lastEvent"] == {
        "type": "message_created",
        "messageId": sent["id"],
        "actorId": ann.id,
        "atMs": sent["createdAtMs"],
    }
    assert (head["unreadCount"], head["lastReadAtMs"]) == (1, None)


@in_one_world(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"content": ""}, ""),
        ({"content": "   "}, ""),
        ({"content": None, "attachmentIds": [], "poll": None}, ""),
        ({"content": "x" * 4001}, "/content"),
        ({"content": 5}, "/content"),
        ({"content": "a\0b"}, "/content"),
        ({"content": "hi", "mentions": [{"id": "00000000-0000-4000-8000-00000000beef"}]}, "/mentions/0/id"),
        ({"content": "hi", "mentions": [{}]}, "/mentions/0/id"),
        ({"attachmentIds": ["0" * 24]}, "/attachmentIds/0"),
        ({"attachmentIds": ["nonsense"]}, "/attachmentIds/0"),
        ({"content": "hi", "clientMessageId": ""}, "/clientMessageId"),
        ({"content": "hi", "clientMessageId": "x" * 101}, "/clientMessageId"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_messages_that_cannot_be(world: World, body: dict[str, object], pointer: str) -> None:
    ann, _, room = await pair(world)
    response = await ann.ask("POST", room.messages, body)
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert pointer in {error["pointer"] for error in response.json()["errors"]}
    assert (await ann.get(room.messages))["items"] == []


@in_one_world(
    ("content", "media", "status", "code"),
    [
        (b"", "application/json", 400, "MALFORMED_JSON"),
        (b"{", "application/json", 400, "MALFORMED_JSON"),
        (b"[" * 40 + b"]" * 40, "application/json", 400, "MALFORMED_JSON"),
        (b'{"content":"a","content":"b"}', "application/json", 400, "MALFORMED_JSON"),
        (b"[]", "application/json", 422, "VALIDATION_FAILED"),
        (b'"hi"', "application/json", 422, "VALIDATION_FAILED"),
        (b'{"content":"hi"}', "text/plain", 415, "UNSUPPORTED_MEDIA"),
        (b'{"content":"' + b"x" * 300_000 + b'"}', "application/json", 413, "PAYLOAD_TOO_LARGE"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_bodies_that_are_none(world: World, content: bytes, media: str, status: int, code: str) -> None:
    ann, _, room = await pair(world)
    response = await ann.ask("POST", room.messages, content=content, headers={"content-type": media})
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_what_a_client_may_not_set_is_ignored(world: World) -> None:
    ann, ben, room = await pair(world)
    forged = {"id": "f" * 24, "senderId": ben.id, "createdAtMs": 1, "source": "archived", "revision": 9}
    sent = await ann.say(room, "mine", **forged)
    assert sent["id"] != "f" * 24
    assert (sent["senderId"], sent["source"], sent["revision"]) == (ann.id, "live", 1)
    assert sent["createdAtMs"] > 1


async def test_mentions_name_and_count(world: World) -> None:
    ann, ben, room = await pair(world)
    token = f"<@user:{ben.id}>"
    sent = await ann.say(room, f"hey {token}", mentions=[{"kind": "user", "id": ben.id, "label": "Benny"}])
    assert sent["mentions"] == [{"kind": "user", "id": ben.id, "token": token, "label": "Benny"}]
    assert (await ben.get(room.path))["mentionCount"] == 1
    marker = await ben.do("PUT", f"{room.path}/read", {"messageId": sent["id"]}, status=200)
    assert marker == {"unreadCount": 0, "mentionCount": 0, "lastReadAtMs": sent["createdAtMs"]}


async def test_read_markers_never_move_back(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = [await ann.say(room, str(number)) for number in range(4)]
    read = f"{room.path}/read"
    assert (await ben.do("PUT", read, {"messageId": sent[2]["id"]}))["unreadCount"] == 1
    late = await ben.do("PUT", read, {"messageId": sent[0]["id"]})
    assert late == {"unreadCount": 1, "mentionCount": 0, "lastReadAtMs": sent[2]["createdAtMs"]}
    assert await ben.refused("PUT", read, {"messageId": "0" * 24}) == (404, "NOT_FOUND")
    assert await ben.refused("PUT", read, {}) == (422, "VALIDATION_FAILED")


async def test_editing_keeps_what_was_said(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ann.say(room, "one")
    edited = await ann.do("PATCH", room.message(sent["id"]), {"content": "two"}, status=200)
    assert (edited["content"], edited["revision"]) == ("two", 2)
    assert edited["editedAt"] is not None
    assert edited["createdAtMs"] == sent["createdAtMs"]
    await ann.do("PATCH", room.message(sent["id"]), {"content": "three"})
    texts = (await ben.get(f"{room.message(sent['id'])}/revisions"))["items"]
    assert [(one["revision"], one["content"], one["editorId"]) for one in texts] == [
        (1, "one", ann.id),
        (2, "two", ann.id),
        (3, "three", ann.id),
    ]
    assert await ben.refused("PATCH", room.message(sent["id"]), {"content": "x"}) == (403, "FORBIDDEN")
    assert await ann.refused("PATCH", room.message(sent["id"]), {"content": " "}) == (
        422,
        "VALIDATION_FAILED",
    )
    assert await ann.refused("PATCH", room.message("0" * 24), {"content": "x"}) == (404, "NOT_FOUND")
    assert await ann.refused("PATCH", room.message("zz"), {"content": "x"}) == (404, "NOT_FOUND")
    assert await ann.refused("GET", f"{room.message('0' * 24)}/revisions") == (404, "NOT_FOUND")


async def test_deleting_leaves_a_shell(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ann.say(room, "secret")
    assert await ben.refused("DELETE", room.message(sent["id"])) == (403, "FORBIDDEN")
    gone = await ann.do("DELETE", room.message(sent["id"]), status=200)
    assert (gone["content"], gone["attachments"], gone["mentions"], gone["poll"]) == ("", [], [], None)
    assert gone["deletedAt"] is not None
    # Repeating it changes nothing, and nothing brings it back.
    assert await ann.do("DELETE", room.message(sent["id"]), status=200) == gone
    assert await ann.refused("PATCH", room.message(sent["id"]), {"content": "x"}) == (409, "INVALID_STATE")
    assert (await ben.get(f"{room.message(sent['id'])}/revisions"))["items"] == []
    page = await ben.get(room.messages)
    assert page["items"] == [gone]
    assert page["conversation"]["lastEvent"]["type"] == "message_deleted"


async def test_a_moderator_deletes_nothing_of_others_without_a_trace(world: World) -> None:
    ann, _, room = await pair(world)
    mod = await world.player("Mod")
    sent = await ann.say(room, "rude")
    assert await mod.refused("DELETE", room.message(sent["id"])) == (404, "CONVERSATION_NOT_FOUND")
    await world.grant(mod, "social:chat.moderate")
    gone = await mod.do("DELETE", room.message(sent["id"]), status=200)
    assert gone["deletedAt"] is not None
    assert await mod.do("DELETE", room.message(sent["id"]), status=200) == gone
    trail = await world.service.database.read(read_audit, WantedAudit(limit=10))
    deleted = [entry for entry in trail if entry.action == "message.deleted"]
    assert [(entry.actor_id, entry.target_id) for entry in deleted] == [(mod.id, ann.id)]
    assert json.loads(deleted[0].detail) == {"conversationId": room.id, "messageId": sent["id"]}
    # Deleting is all that the node gives.
    assert await mod.refused("GET", room.messages) == (404, "CONVERSATION_NOT_FOUND")
    assert await mod.refused("DELETE", f"{CONVERSATIONS}/{'0' * 24}/messages/{sent['id']}") == (
        404,
        "CONVERSATION_NOT_FOUND",
    )


async def test_a_block_forbids_posting_and_leaves_reading(world: World) -> None:
    ann, ben, room = await pair(world)
    await ann.say(room, "before")
    await world.block(ann, ben)
    for one in (ann, ben):
        assert await one.refused("POST", room.messages, {"content": "x"}) == (403, "BLOCKED")
        assert len((await one.get(room.messages))["items"]) == 1
    await world.block(ann, ben, blocked=False)
    await ben.say(room, "after")


async def test_a_repeated_client_id_is_the_first_message(world: World) -> None:
    ann, ben, room = await pair(world)
    first = await ann.say(room, "one", clientMessageId="same")
    assert await ann.say(room, "two", clientMessageId="same") == first
    # Ids are the sender's own.
    assert (await ben.say(room, "three", clientMessageId="same"))["id"] != first["id"]
    answers: list[str] = []

    async def post() -> None:
        answers.append((await ann.say(room, "race", clientMessageId="race"))["id"])

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(post)
    assert len(set(answers)) == 1
    assert [item["content"] for item in (await ann.get(room.messages))["items"]] == ["one", "three", "race"]


async def test_an_idempotency_key_makes_a_message_once(world: World) -> None:
    ann, _, room = await pair(world)
    headers = {"idempotency-key": "k-1"}
    first = await ann.ask("POST", room.messages, {"content": "hi"}, headers=headers)
    again = await ann.ask("POST", room.messages, {"content": "hi"}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    other = await ann.ask("POST", room.messages, {"content": "ho"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert len((await ann.get(room.messages))["items"]) == 1


async def test_typing_is_a_204(world: World) -> None:
    ann, _, room = await pair(world)
    response = await ann.ask("POST", f"{room.path}/typing")
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.one_node(because="it counts to the last token")
async def test_sending_is_limited_per_sender_and_conversation(world: World) -> None:
    ann, ben, room = await pair(world)
    quiet = await ann.talk_to(ben, kind="group")
    world.clock.stop()
    async with ann.live("/v1/social/live?channels=") as socket:
        for number in range(15):
            await ann.say(room, f"rest {number}")
            await socket.send_json(
                {"op": "send", "channel": room.channel, "data": {"content": f"ws {number}"}}
            )
        await socket.send_json({"id": 1, "op": "send", "channel": room.channel, "data": {"content": "31"}})
        reply = await socket.receive_until(type="reply", id=1)
    # REST and the socket draw from one bucket of 30.
    assert reply["error"]["code"] == "RATE_LIMITED"
    assert reply["error"]["meta"]["retryAfterMs"] > 0
    response = await ann.ask("POST", room.messages, {"content": "32"})
    assert (response.status_code, response.json()["code"]) == (429, "RATE_LIMITED")
    assert int(response.headers["retry-after"]) >= 1
    assert response.headers["ratelimit-policy"] == '"chat-send";q=30;w=10'
    await ann.say(quiet, "another conversation")
    await ben.say(room, "another sender")
    world.clock.advance(10_000)
    await ann.say(room, "later")


@pytest.mark.one_node(because="it counts to the last token")
async def test_ids_of_conversations_that_nobody_knows_are_limited_per_sender(world: World) -> None:
    """By REST and by the socket from one bucket, and none is kept for an id that is not the sender's."""
    ann, _, room = await pair(world)
    limits = world.service.limits
    world.clock._system = FixedClock(world.clock.now_ms())  # nothing is refilled while the test sends
    unknown = [f"/v1/social/chat/conversations/{number:024x}/messages" for number in range(296)]
    codes = {await ann.refused("POST", path, {"content": "x"}) for path in unknown}
    assert codes == {(404, "CONVERSATION_NOT_FOUND")}
    async with ann.live("/v1/social/live?channels=") as socket:
        for number in range(5):
            channel = f"conversation:{number:024x}"
            await socket.send_json({"id": number, "op": "send", "channel": channel, "data": {"content": "x"}})
        replies = [await socket.receive_until(type="reply") for _ in range(5)]
    told = sorted((reply["id"], reply["error"]["code"]) for reply in replies)
    assert told == [(number, "CONVERSATION_NOT_FOUND") for number in range(4)] + [(4, "RATE_LIMITED")]
    assert await ann.refused("POST", room.messages, {"content": "x"}) == (429, "RATE_LIMITED")
    assert len(limits) < 20
    world.clock.advance(1_000)
    await ann.say(room)


@pytest.mark.one_node(because="it counts to the last token")
async def test_a_quota_node_replaces_the_rate(world: World) -> None:
    ann, _, room = await pair(world)
    await world.grant(ann, "social:chat.send", value={"value": 2, "unit": "messages"})
    world.clock.stop()
    await ann.say(room)
    await ann.say(room)
    assert await ann.refused("POST", room.messages, {"content": "3"}) == (429, "RATE_LIMITED")
