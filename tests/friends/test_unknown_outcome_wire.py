"""Wire: the connection is lost while a change is committed, so that nobody knows whether it was made. What memory holds
beside the rows is right again a moment later, whether the caller repeats the request or not.
"""

from typing import Any

import pytest

from routes.friends.parts import FRIENDS_LIVE
from routes.party.memberships import MEMBERSHIPS
from tests.chat.presence import online
from tests.friends import rows
from tests.friends.play import BLOCKS, FRIENDS, REQUESTS, ask, entry_of, make_friends
from tests.party.play import INVITES, PARTY, gather, invite, names
from tests.support.losing import lose, proxy, settled, world
from tests.support.one_world import in_one_world
from tests.support.proxy import Proxy
from tests.support.world import Player, World

__all__ = ["proxy", "world"]


@in_one_world("landed", [True, False])
@in_one_world("repeated", [True, False])
async def test_who_hides_is_as_rows_say_after_an_unknown_outcome(
    world: World, proxy: Proxy, *, landed: bool, repeated: bool
) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    async with ann.live():
        path, body = f"{FRIENDS}/{ben.id}", {"visibility": "HIDDEN"}
        await lose(proxy, ann, "PATCH", path, body, landed=landed, said=b"HIDDEN")
        if repeated:
            await ann.do("PATCH", path, body, status=200)
        await settled(world)
        hidden = landed or repeated
        assert (await entry_of(ben, ann))["online"] is not hidden
        assert (await entry_of(ann, ben))["visibility"] == ("HIDDEN" if hidden else "DEFAULT")


@pytest.mark.parametrize("landed", [True, False])
async def test_who_hides_no_longer(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await world.service.database.transact(rows.befriend, ann.id, ben.id, world.clock.now_ms())
    await ann.do("PATCH", f"{FRIENDS}/{ben.id}", {"visibility": "HIDDEN"})
    await ben.do("DELETE", f"{FRIENDS}/{ann.id}")
    path = f"{REQUESTS}/{(await ask(ben, ann))['id']}/accept"
    await lose(proxy, ann, "POST", path, landed=landed, said=b"friend_accepted")
    await settled(world)
    assert world.service.of(FRIENDS_LIVE).hides(ann.id, ben.id) is not landed


@pytest.mark.parametrize("landed", [True, False])
async def test_the_end_of_a_friendship_unveils_nobody(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    await ann.do("PATCH", f"{FRIENDS}/{ben.id}", {"visibility": "HIDDEN"})
    await lose(proxy, ben, "DELETE", f"{FRIENDS}/{ann.id}", landed=landed, said=b"DELETE FROM friend_links")
    await settled(world)
    assert world.service.of(FRIENDS_LIVE).hides(ann.id, ben.id)


@pytest.mark.parametrize("landed", [True, False])
async def test_whose_presence_a_block_hides(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await lose(proxy, ann, "POST", BLOCKS, {"targetId": ben.id}, landed=landed, said=b"INSERT INTO blocks")
    await settled(world)
    assert [world.service.of(FRIENDS_LIVE).hides(*pair) for pair in ((ann.id, ben.id), (ben.id, ann.id))] == [
        landed
    ] * 2


@pytest.mark.parametrize("landed", [True, False])
async def test_whose_presence_a_friend_sees_in_chat(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    path = f"{REQUESTS}/{(await ask(ann, ben))['id']}/accept"
    async with ben.live():
        assert not await online(ann, room, ben)
        await lose(proxy, ben, "POST", path, landed=landed, said=b"INSERT INTO friend_links")
        await settled(world)
        assert await online(ann, room, ben) is landed


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("repeated", [True, False])
async def test_who_is_blocked(world: World, proxy: Proxy, *, landed: bool, repeated: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    await ben.say(room)
    body = {"targetId": ben.id}
    await lose(proxy, ann, "POST", BLOCKS, body, landed=landed, said=b"INSERT INTO blocks")
    if repeated:
        response = await ann.ask("POST", BLOCKS, body, headers={"idempotency-key": "once"})
        assert response.status_code == 201
    await settled(world)
    said = (await ben.ask("POST", room.messages, {"content": "?"})).status_code
    assert said == (403 if landed or repeated else 201)


@pytest.mark.parametrize("landed", [True, False])
async def test_who_may_be_put_into_a_group(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    body = {"privacy": {"groupInvites": "NOBODY"}}
    await lose(proxy, ben, "PATCH", "/v1/profile/settings", body, landed=landed, said=b"UPDATE users SET")
    await settled(world)
    group = {"kind": "group", "participantIds": [ben.id]}
    said = (await ann.ask("POST", "/v1/social/chat/conversations", group)).status_code
    assert said == (403 if landed else 201)


async def test_a_request_shows_live(world: World, proxy: Proxy) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ben.live(f"{FRIENDS}/live") as socket:
        assert (await socket.receive_json())["requests"]["incoming"] == []
        said = b"INSERT INTO friend_requests"
        await lose(proxy, ann, "POST", f"{FRIENDS}/requests", {"targetId": ben.id}, landed=True, said=said)
        (asked,) = (await socket.receive_json())["requests"]["incoming"]
        assert asked["senderId"] == ann.id


@pytest.mark.parametrize("landed", [True, False])
async def test_a_party_is_made(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann = await world.player("Ann")
    await lose(proxy, ann, "POST", PARTY, landed=landed, said=b"INSERT INTO parties")
    await settled(world)
    party = (await ann.get(PARTY))["party"]
    assert (party is not None) is landed
    await world.everywhere(lambda service: service.of(MEMBERSHIPS).of(ann.id) == (party and party["id"]))
    assert (await ann.do("POST", f"{PARTY}/leave"))["party"] is None


async def _joins(world: World, proxy: Proxy, *, landed: bool) -> tuple[Player, Player, Any]:
    """Ben accepts an invite; the connection is lost while that is committed."""
    ann, ben = await world.players("Ann", "Ben")
    party_id = await gather(ann)
    await invite(ann, ben)
    said = b"member_joined"
    await lose(proxy, ben, "POST", f"{INVITES}/{party_id}/accept", landed=landed, said=said)
    await settled(world)
    return ann, ben, party_id


@pytest.mark.parametrize("landed", [True, False])
async def test_who_joins_a_party_is_as_rows_say_after_an_unknown_outcome(
    world: World, proxy: Proxy, *, landed: bool
) -> None:
    ann, ben, party_id = await _joins(world, proxy, landed=landed)
    await world.everywhere(
        lambda service: service.of(MEMBERSHIPS).of(ben.id) == (party_id if landed else None)
    )
    assert names(await ann.get(PARTY)) == (["Ann", "Ben"] if landed else ["Ann"])
    assert (await ben.do("POST", f"{PARTY}/leave"))["party"] is None
    assert names(await ann.get(PARTY)) == ["Ann"]


@pytest.mark.parametrize("landed", [True, False])
async def test_somebody_is_taken_out(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    party_id = await gather(ann, ben)
    async with ben.live(f"{PARTY}/live") as socket:
        assert (await socket.receive_json())["party"]["id"] == party_id
        path = f"{PARTY}/members/{ben.id}"
        await lose(proxy, ann, "DELETE", path, landed=landed, said=b"members_left")
        await settled(world)
        await world.everywhere(
            lambda service: service.of(MEMBERSHIPS).of(ben.id) == (None if landed else party_id)
        )
        if landed:
            assert (await socket.receive_json())["party"] is None
        assert ((await ben.get(PARTY))["party"] is None) is landed


@pytest.mark.parametrize("landed", [True, False])
async def test_an_invite_is_declined(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    party_id = await gather(ann)
    await invite(ann, ben)
    async with ben.live(f"{PARTY}/live") as socket:
        assert [one["partyId"] for one in (await socket.receive_json())["invites"]] == [party_id]
        path = f"{INVITES}/{party_id}/decline"
        await lose(proxy, ben, "POST", path, landed=landed, said=b"invites_gone")
        if landed:
            assert (await socket.receive_json())["invites"] == []
        await settled(world)
        assert ((await ben.get(PARTY))["invites"] == []) is landed


@pytest.mark.parametrize("landed", [True, False])
async def test_between_two_parties(world: World, proxy: Proxy, *, landed: bool) -> None:
    """Who accepts leaves one party and joins another, in two turns: lost between the two, they are in no party, the
    invite stands, and the same again brings them in.
    """
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    old, new = await gather(ben, cid), await gather(ann)
    await invite(ann, ben)
    path = f"{INVITES}/{new}/accept"
    await lose(proxy, ben, "POST", path, landed=landed, said=b"member_joined")
    await settled(world)
    left = (await cid.get(PARTY))["party"]
    assert (left["id"], left["leaderId"], len(left["members"])) == (old, cid.id, 1)
    mine = await ben.get(PARTY)
    assert (mine["party"] and mine["party"]["id"]) == (new if landed else None)
    assert [one["partyId"] for one in mine["invites"] if one["direction"] == "incoming"] == (
        [] if landed else [new]
    )
    again = await ben.ask("POST", path, headers={"idempotency-key": "once"})
    assert names(again.json()) == ["Ann", "Ben"]
    assert world.service.of(MEMBERSHIPS).of(ben.id) == new
