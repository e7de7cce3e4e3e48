"""Wire: who hides from a friend is offline to them, everywhere and at once; who limits what they show shows no more."""

from typing import Any

import trio

from persistence.friends.visibilities import veiled
from tests.friends import rows
from tests.friends.live import assert_quiet, befriend, frame, online, show_as, watching
from tests.friends.play import BLOCKS, FRIENDS
from tests.support.world import World


async def test_who_hides_is_offline_and_stays_silent(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    room = await ann.talk_to(ben)
    async with watching(ann) as socket, ben.live("/v1/social/live?channels="):
        while online(await frame(socket)) != {"Ben": True}:
            pass
        await show_as(world, ben, ann, "HIDDEN")
        shown = await frame(socket)
        while online(shown) != {"Ben": False}:
            shown = await frame(socket)
        assert (shown["friends"][0]["lastSeenAt"], shown["friends"][0]["partyId"]) == (None, None)
        # Not in chat either, whoever asks for it and however; Ben sees himself as he is.
        for viewer, seen in ((ann, False), (ben, True)):
            one = await viewer.get(room.path)
            listed = await viewer.get("/v1/social/chat/conversations")
            page = await viewer.get(room.messages)
            people = await viewer.get(f"{room.path}/participants")
            for participants in (
                one["participants"],
                listed["items"][0]["participants"],
                page["conversation"]["participants"],
                people["items"],
            ):
                assert [p["online"] for p in participants if p["id"] == ben.id] == [seen]
    # Going and coming back makes no frame for whom it does not show.
    async with watching(ann) as socket:
        assert online(await frame(socket)) == {"Ben": False}
        world.clock.advance(11_000)
        await trio.sleep(1.1)
        async with ben.live("/v1/social/live?channels="):
            await assert_quiet(socket)
            await show_as(world, ben, ann, "DEFAULT")
            assert online(await frame(socket)) == {"Ben": True}


async def test_a_block_by_who_hides_already_is_told_nobody(world: World) -> None:
    """A frame that is equal to the one before it would tell that something was done."""
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    room = await ann.talk_to(ben)
    await ben.say(room)
    await show_as(world, ben, ann, "HIDDEN")
    await ben.do("DELETE", f"{FRIENDS}/{ann.id}")
    async with ben.live("/v1/social/live?channels="), ann.live("/v1/social/live?channels=inbox") as socket:
        await socket.receive_until(type="snapshot")
        await ben.do("POST", BLOCKS, {"targetId": ann.id})
        await assert_quiet(socket)


async def test_who_hides_is_offline_on_streams_that_are_open(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await befriend(world, ann, ben)
    room = await ann.talk_to(ben, cid)
    async with (
        ann.live(f"{room.path}/live") as anns,
        cid.live(f"{room.path}/live") as cids,
        ben.live("/v1/social/live?channels="),
    ):
        await anns.receive_json()
        await cids.receive_json()
        await ben.say(room)
        for socket in (anns, cids):
            assert participants(await socket.receive_json())["Ben"] is True
        await show_as(world, ben, ann, "HIDDEN")
        # Told at once, without a message, and to nobody else.
        assert participants(await anns.receive_json())["Ben"] is False
        await ben.say(room)
        assert participants(await anns.receive_json())["Ben"] is False
        assert participants(await cids.receive_json())["Ben"] is True


def participants(page: Any) -> dict[str, bool]:
    """{name: online} of a MessagePage."""
    return {one["name"]: one["online"] for one in page["conversation"]["participants"]}


async def test_limited_friends_keep_their_party_and_last_seen(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    async with watching(ann) as socket, ben.live("/v1/social/live?channels="):
        shown = await frame(socket)
        while online(shown) != {"Ben": True}:
            shown = await frame(socket)
        assert shown["friends"][0]["lastSeenAt"] is not None
        await show_as(world, ben, ann, "LIMITED")
        while shown["friends"][0]["lastSeenAt"] is not None:
            shown = await frame(socket)
        assert online(shown) == {"Ben": True}


async def test_veils_are_read_at_the_start(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await befriend(world, ann, ben)
    await world.service.database.transact(rows.choose, ben.id, ann.id, "HIDDEN", False, world.clock.now_ms())
    assert await world.service.database.read(veiled) == [(ben.id, ann.id, "HIDDEN")]
