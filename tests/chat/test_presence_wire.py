"""Wire: who sees whom online in chat. It is never more than the profile shows."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio

from routes.friends.parts import FRIENDS_LIVE
from tests.chat.presence import online, seen, shown, until_seen
from tests.friends.play import BLOCKS, FRIENDS, make_friends
from tests.party.play import gather
from tests.support.one_world import in_one_world
from tests.support.websocket import Client
from tests.support.world import CONVERSATIONS, Player, World, open_world

QUIET = "/v1/social/live?channels="

QUIET_SECONDS = 0.4


async def hide(holder: Player, viewer: Player) -> None:
    await holder.do("PATCH", f"{FRIENDS}/{viewer.id}", {"visibility": "HIDDEN"}, status=200)


@pytest.mark.parametrize("kind", ["direct", "group"])
async def test_a_stranger_does_not_show_before_they_write(world: World, kind: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ann.live(QUIET), ben.live(QUIET):
        made = await ann.do("POST", CONVERSATIONS, {"kind": kind, "participantIds": [ben.id]}, status=201)
        assert shown(made["participants"]) == {"Ann": True, "Ben": False}
        room = await ann.talk_to(ben, kind=kind)
        # Whoever has made it shows, and everybody to themselves.
        assert await seen(ann, room) == {"Ann": True, "Ben": False}
        assert await seen(ben, room) == {"Ann": True, "Ben": True}
        async with ann.live(f"{room.path}/live") as page, ann.live("/v1/social/chat/live") as inbox:
            for _ in range(2):
                assert shown((await page.receive_json())["conversation"]["participants"])["Ben"] is False
                assert shown((await inbox.receive_json())["conversations"][0]["participants"])["Ben"] is False
                await ann.say(room)
            await ben.say(room)
            while not shown((await page.receive_json())["conversation"]["participants"])["Ben"]:
                pass
            while not shown((await inbox.receive_json())["conversations"][0]["participants"])["Ben"]:
                pass
        assert await online(ann, room, ben)


async def test_who_was_added_does_not_show_before_they_write_again(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, cid)
    await ben.say(room)
    async with ben.live(QUIET):
        assert await online(ann, room, ben)
        await ben.do("DELETE", f"{room.path}/participants/{ben.id}")
        added = await ann.do("POST", f"{room.path}/participants", {"userIds": [ben.id]}, status=200)
        assert shown(added["participants"])["Ben"] is False
        assert not await online(ann, room, ben)


async def test_a_friend_shows_before_they_write(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, cid)
    async with ben.live(QUIET), ann.live(f"{QUIET}inbox,{room.channel}") as socket:
        assert not await online(ann, room, ben)
        await make_friends(ann, ben)
        await until_seen(socket, "inbox", "Ben", online=True)
        assert await online(ann, room, ben)
        assert not await online(cid, room, ben)
        await ben.do("DELETE", f"{FRIENDS}/{ann.id}", status=204)
        await until_seen(socket, "inbox", "Ben", online=False)
        assert not await online(ann, room, ben)


async def test_the_conversation_shows_a_new_friend(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with ben.live(QUIET), ann.live(QUIET + room.channel) as socket:
        await until_seen(socket, room.channel, "Ben", online=False)
        await make_friends(ann, ben)
        await until_seen(socket, room.channel, "Ben", online=True)


@in_one_world("end", ["removed by the hidden", "removed by the other", "blocked", "unblocked"])
async def test_the_end_of_a_friendship_unveils_nobody(world: World, end: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    await make_friends(ann, ben)
    await hide(ben, ann)
    await ben.say(room)
    async with ben.live(QUIET):
        assert not await online(ann, room, ben)
        match end:
            case "removed by the hidden":
                await ben.do("DELETE", f"{FRIENDS}/{ann.id}", status=204)
            case "removed by the other":
                await ann.do("DELETE", f"{FRIENDS}/{ben.id}", status=204)
            case _:
                await ben.do("POST", BLOCKS, {"targetId": ann.id}, status=201)
        assert not await online(ann, room, ben)
        if end == "unblocked":
            await ben.do("DELETE", f"{BLOCKS}/{ann.id}", status=204)
            assert not await online(ann, room, ben)
            # Who becomes a friend anew begins without a veil.
            await make_friends(ann, ben)
            assert await online(ann, room, ben)


async def test_a_restart_unveils_nobody(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann, ben, cid = await world.players("Ann", "Ben", "Cid")
        rooms = [await ann.talk_to(ben), await cid.talk_to(ben)]
        await make_friends(ann, ben)
        await hide(ben, ann)
        await ann.do("DELETE", f"{FRIENDS}/{ben.id}", status=204)
        await cid.do("POST", BLOCKS, {"targetId": ben.id}, status=201)
    async with open_world(database_url, tmp_path) as world:
        hides = world.service.of(FRIENDS_LIVE).hides
        assert hides(ben.id, ann.id)
        assert not hides(ann.id, ben.id)
        assert hides(ben.id, cid.id)
        assert hides(cid.id, ben.id)
        ben, ann = (Player(world, one.id, one.name, one.token) for one in (ben, ann))
        async with ben.live(QUIET):
            assert not await online(ann, rooms[0], ben)


@pytest.mark.parametrize("blocker", [0, 1])
async def test_nobody_shows_across_a_block(world: World, blocker: int) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    both, group = await ann.talk_to(ben), await ann.talk_to(ben, cid)
    for room in (both, group):
        await ann.say(room)
        await ben.say(room)
    one, other = ((ann, ben), (ben, ann))[blocker]
    async with ann.live(QUIET), ben.live(QUIET):
        await one.do("POST", BLOCKS, {"targetId": other.id}, status=201)
        for room in (both, group):
            assert not await online(ann, room, ben)
            assert not await online(ben, room, ann)
        assert await online(cid, group, ann)
        await one.do("DELETE", f"{BLOCKS}/{other.id}", status=204)
        assert await online(ann, both, ben)


async def test_a_block_shows_at_once_on_sockets_that_are_open(world: World) -> None:
    """On those of both, and everywhere: the conversation, the inbox, the party and the friends."""
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    room = await ann.talk_to(ben)
    await ann.say(room)
    await ben.say(room)
    await gather(ann, ben)
    async with ann.live(QUIET), ben.live(QUIET), AsyncExitStack() as stack:
        watched = [
            (await stack.enter_async_context(viewer.live(QUIET + channel)), channel, name)
            for viewer, name in ((ann, "Ben"), (ben, "Ann"))
            for channel in ("friends", "party", "inbox", room.channel)
        ]
        for socket, channel, name in watched:
            await until_seen(socket, channel, name, online=True)
        await ben.do("POST", BLOCKS, {"targetId": ann.id}, status=201)
        for socket, channel, name in watched:
            await until_seen(socket, channel, name, online=None if channel == "friends" else False)


async def assert_quiet(*sockets: Client) -> None:
    for socket in sockets:
        with pytest.raises(trio.TooSlowError):
            await socket.receive_text(patience_seconds=QUIET_SECONDS)


async def test_a_block_that_shows_nowhere_sends_no_frame(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, cid)
    async with (
        cid.live(QUIET),
        ben.live(f"{room.path}/live") as page,
        ben.live("/v1/social/chat/live") as inbox,
    ):
        for socket in (page, inbox):
            await socket.receive_json()
        # Cid has not written here, and they are no friends: nothing that Ben sees says whether Cid is online.
        await cid.do("POST", BLOCKS, {"targetId": ben.id}, status=201)
        await assert_quiet(page, inbox)
        await cid.do("POST", BLOCKS, {"targetId": ben.id, "reason": "spam"}, status=200)
        await cid.do("DELETE", f"{BLOCKS}/{ben.id}", status=204)
        await assert_quiet(page, inbox)
        await cid.say(room)
        while not shown((await inbox.receive_json())["conversations"][0]["participants"])["Cid"]:
            pass
        while not shown((await page.receive_json())["conversation"]["participants"])["Cid"]:
            pass
        await cid.do("POST", BLOCKS, {"targetId": ben.id}, status=201)
        while shown((await inbox.receive_json())["conversations"][0]["participants"])["Cid"]:
            pass
        while shown((await page.receive_json())["conversation"]["participants"])["Cid"]:
            pass
        await cid.do("POST", BLOCKS, {"targetId": ben.id, "reason": "spam"}, status=200)
        await assert_quiet(page, inbox)


async def test_what_changes_nobodys_looks_sends_the_inbox_no_frame(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await make_friends(ann, ben)
    room = await ann.talk_to(ben, cid)
    await ann.say(room)
    async with ann.live(QUIET), ben.live("/v1/social/chat/live") as inbox:
        await inbox.receive_json()
        await ann.do("PATCH", f"{FRIENDS}/{ben.id}", {"visibility": "LIMITED"}, status=200)
        await assert_quiet(inbox)
        await cid.do("POST", f"{FRIENDS}/requests", {"targetId": ben.id}, status=201)
        await assert_quiet(inbox)
        await hide(ann, ben)
        while shown((await inbox.receive_json())["conversations"][0]["participants"])["Ann"]:
            pass
