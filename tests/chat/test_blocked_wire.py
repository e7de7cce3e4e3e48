"""Wire: what is refused in a direct conversation while one of the two blocks the other, and what is not."""

from base64 import b64encode
from typing import Any

import pytest

from actors.friends.between import seen_between
from persistence.connection import Connection
from persistence.friends import blocks
from routes.changes import announce
from tests.chat.play import poll_body
from tests.support.waiting import wait_until
from tests.support.world import World

FILE = {"fileName": "a.txt", "contentType": "text/plain", "dataBase64": b64encode(b"hello").decode()}


@pytest.mark.parametrize("blocker", [0, 1])
async def test_nothing_is_said_across_a_block_by_any_way(world: World, blocker: int) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    told = await ben.say(room)
    mine = await ann.say(room)
    poll = await ann.do("POST", room.messages, {"poll": poll_body()}, status=201)
    uploaded = await ann.do("POST", f"{room.path}/attachments", FILE, status=201)
    one, other = ((ann, ben), (ben, ann))[blocker]
    await one.do("POST", "/v1/social/friends/blocks", {"targetId": other.id}, status=201)
    option = poll["poll"]["options"][0]["id"]
    mention = {"content": f"<@user:{ben.id}>", "mentions": [{"id": ben.id}]}
    refused: list[tuple[str, str, Any]] = [
        ("POST", room.messages, {"content": "?"}),
        ("POST", room.messages, mention),
        ("POST", room.messages, {"attachmentIds": [uploaded["id"]]}),
        ("POST", room.messages, {"poll": poll_body()}),
        ("PATCH", room.message(mine["id"]), {"content": "changed"}),
        ("POST", f"{room.message(poll['id'])}/poll/vote", {"optionIds": [option]}),
        ("POST", f"{room.message(poll['id'])}/poll/vote", {"optionIds": []}),
        ("POST", f"{room.message(poll['id'])}/poll/close", None),
        ("POST", f"{room.path}/attachments", FILE),
        ("POST", f"{room.path}/typing", None),
    ]
    for method, path, body in refused:
        assert await ann.refused(method, path, body) == (403, "BLOCKED"), (method, path)
    # Reading stays, and so does taking back what one has said.
    page = await ann.get(room.messages)
    assert [item["id"] for item in page["items"]] == [told["id"], mine["id"], poll["id"]]
    assert page["items"][2]["poll"]["totalVotes"] == 0
    await ann.do("PUT", f"{room.path}/read", {"messageId": told["id"]}, status=200)
    await ann.do("DELETE", room.message(mine["id"]), status=200)
    await one.do("DELETE", f"/v1/social/friends/blocks/{other.id}", status=204)
    await ann.do("POST", f"{room.message(poll['id'])}/poll/vote", {"optionIds": [option]}, status=200)
    await ann.do("POST", f"{room.path}/attachments", FILE, status=201)


async def test_in_a_group_a_block_refuses_nothing(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben, kind="group")
    poll = await ann.do("POST", room.messages, {"poll": poll_body()}, status=201)
    await ben.do("POST", "/v1/social/friends/blocks", {"targetId": ann.id}, status=201)
    option = poll["poll"]["options"][0]["id"]
    await ann.do("POST", f"{room.message(poll['id'])}/poll/vote", {"optionIds": [option]}, status=200)
    await ann.do("POST", f"{room.path}/attachments", FILE, status=201)


async def test_a_block_made_by_another_process_holds_in_a_conversation_that_is_awake(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    await ben.say(room)

    async def block(conn: Connection) -> None:
        await blocks.put(conn, ann.id, ben.id, reason=None, now_ms=world.clock.now_ms())
        await seen_between(conn, ann.id, ben.id)

    async def refused() -> bool:
        return (await ben.ask("POST", room.messages, {"content": "?"})).status_code == 403

    # A unit without its reactions is what a process leaves behind that ends before it has told anybody.
    await world.service.database.transact(block)
    await wait_until(refused)


async def test_news_of_an_earlier_change_that_comes_late_ends_no_block(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    await ben.say(room)
    before = await world.service.database.transact(seen_between, ann.id, ben.id)
    await world.block(ann, ben)
    await announce(world.service, before)
    assert await ben.refused("POST", room.messages, {"content": "?"}) == (403, "BLOCKED")
