"""Wire: users who were erased, and come back under the same id with a newer token (contract §8)."""

from tests.chat.play import a_file
from tests.live.play import subscribe
from tests.support.waiting import patience, wait_until
from tests.support.world import World
from tests.users.play import again, erase, one, swept

CONVERSATIONS = "/v1/social/chat/conversations"
VERIFY = "/v1/auth/verify"
NOT_THERE = (404, "CONVERSATION_NOT_FOUND")
REFUSED = (401, "UNAUTHENTICATED")


async def test_tokens_of_before_stay_refused(world: World) -> None:
    ann = await world.player("Ann")
    await erase(world, ann)
    assert await ann.refused("GET", VERIFY) == REFUSED
    fresh = again(world, ann)
    await fresh.get(VERIFY)
    assert await ann.refused("GET", VERIFY) == REFUSED


async def test_what_is_acknowledged_to_them_stays(world: World) -> None:
    """Also while the erasure was under way when they asked for the first time."""
    ann, ben = await world.players("Ann", "Ben")
    root = await world.super_admin()
    await root.do("DELETE", one(ann), status=204)
    fresh = again(world, ann)

    async def is_back() -> bool:
        return (await fresh.ask("GET", VERIFY)).status_code == 200

    await wait_until(is_back)
    room = await fresh.talk_to(ben)
    kept = await fresh.do("POST", f"{room.path}/attachments", a_file(), status=201)
    await fresh.say(room, "hello", attachmentIds=[kept["id"]])
    await swept(world)
    (said,) = (await ben.get(room.messages))["items"]
    assert (said["senderName"], len(said["attachments"])) == ("Ann", 1)
    assert (await ben.ask("GET", kept["url"])).status_code == 200


async def test_they_are_in_none_of_their_groups(world: World) -> None:
    """A group of theirs is owned by the longest-standing of the others, who are told of it at once."""
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    group, lonely = await ann.talk_to(ben, kind="group"), await ann.talk_to(dan, kind="group")
    await ann.do("POST", f"{group.path}/participants", {"userIds": [cid.id]})
    await dan.do("DELETE", f"{lonely.path}/participants/{dan.id}", status=204)
    former = await ann.say(group, "secret")
    async with ben.live("/v1/social/live?channels=") as live, ben.live("/v1/social/chat/live") as inbox:
        await subscribe(live, group, mode="delta")
        assert (await inbox.receive_json())["conversations"][0]["ownerId"] == ann.id
        await erase(world, ann)
        with patience():
            while (await live.receive_until(type="snapshot"))["data"]["conversation"]["ownerId"] != ben.id:
                pass
            while (await inbox.receive_json())["conversations"][0]["ownerId"] != ben.id:
                pass
    shown = await ben.get(group.path)
    assert (shown["participantCount"], [one["name"] for one in shown["participants"]]) == (2, ["Ben", "Cid"])
    assert [one["senderName"] for one in (await ben.get(group.messages))["items"]] == ["deleted"]
    await ben.do("PATCH", group.path, {"title": "ours"})
    fresh = again(world, ann)
    assert (await fresh.get(CONVERSATIONS))["items"] == []
    for room in (group, lonely):
        assert await fresh.refused("GET", room.messages) == NOT_THERE
    await ben.do("POST", f"{group.path}/participants", {"userIds": [fresh.id, dan.id]})
    assert [one["name"] for one in (await ben.get(group.path))["participants"]] == [
        "Ben",
        "Cid",
        "Ann",
        "Dan",
    ]
    own = await fresh.say(group, "mine")
    for said, status in ((former, 403), (own, 200)):
        answer = await fresh.ask("PATCH", f"{group.messages}/{said['id']}", {"content": "changed"})
        assert answer.status_code == status, answer.text


async def test_a_direct_conversation_is_the_others_alone(world: World) -> None:
    """The two talk again in a conversation of its own."""
    ann, ben = await world.players("Ann", "Ben")
    old = await ann.talk_to(ben)
    await ann.say(old, "secret")
    await erase(world, ann)
    fresh = again(world, ann)
    assert (await fresh.get(CONVERSATIONS))["items"] == []
    assert await fresh.refused("GET", old.messages) == NOT_THERE
    assert await fresh.refused("POST", old.messages, {"content": "back"}) == NOT_THERE
    async with fresh.live(f"/v1/social/live?channels={old.channel}") as live, fresh.live() as inbox:
        assert (await live.receive_until(type="unsubscribed"))["code"] == "CONVERSATION_NOT_FOUND"
        await inbox.receive_json()
        shown = await ben.get(old.path)
        assert [one["name"] for one in shown["participants"]] == ["Ben", "deleted"]
        assert ann.id not in {one["id"] for one in shown["participants"]}
        assert [one["online"] for one in shown["participants"]] == [False, False]
        page = await ben.get(old.messages)
        assert [(one["senderName"], one["content"]) for one in page["items"]] == [("deleted", "secret")]
        await ben.say(old, "who are you?")
    new = await fresh.talk_to(ben)
    assert new.id != old.id
    assert (await ben.talk_to(fresh)).id == new.id
    await fresh.say(new, "hello")
    listed = (await ben.get(CONVERSATIONS))["items"]
    names = [sorted(one["name"] for one in room["participants"]) for room in listed]
    assert names == [["Ann", "Ben"], ["Ben", "deleted"]]
    assert [one["id"] for one in (await fresh.get(CONVERSATIONS))["items"]] == [new.id]
