"""Wire: nobody is put into a group by somebody whom they block, or who blocks them, or whom their settings keep out."""

from typing import Any

import pytest

from tests.friends.play import BLOCKS, make_friends
from tests.support.one_world import in_one_world
from tests.support.world import CONVERSATIONS, Player, World

SETTINGS = "/v1/profile/settings"


def a_group(*others: Player) -> dict[str, Any]:
    return {"kind": "group", "participantIds": [other.id for other in others]}


async def members(player: Player) -> list[int]:
    """How many are in each of the player's conversations."""
    return [one["participantCount"] for one in (await player.get(CONVERSATIONS))["items"]]


async def let(player: Player, who: str) -> None:
    changed = await player.do("PATCH", SETTINGS, {"privacy": {"groupInvites": who}}, status=200)
    assert changed["privacy"]["groupInvites"] == who


@pytest.mark.parametrize("blocker", [0, 1])
async def test_nobody_makes_a_group_across_a_block(world: World, blocker: int) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    one, other = ((ann, ben), (ben, ann))[blocker]
    await one.do("POST", BLOCKS, {"targetId": other.id}, status=201)
    for others in ((ben, cid), (cid, ben), (ben,)):
        assert await ann.refused("POST", CONVERSATIONS, a_group(*others)) == (403, "BLOCKED")
    assert [await members(player) for player in (ann, ben, cid)] == [[], [], []]
    # A direct conversation can be looked for, although nothing can be said in it.
    room = await ann.talk_to(ben)
    assert await ann.refused("POST", room.messages, {"content": "?"}) == (403, "BLOCKED")
    await one.do("DELETE", f"{BLOCKS}/{other.id}", status=204)
    await ann.do("POST", CONVERSATIONS, a_group(ben, cid), status=201)


@pytest.mark.parametrize("blocker", [0, 1])
async def test_nobody_adds_across_a_block(world: World, blocker: int) -> None:
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    room = await ann.talk_to(cid, kind="group")
    one, other = ((ann, ben), (ben, ann))[blocker]
    await one.do("POST", BLOCKS, {"targetId": other.id}, status=201)
    path = f"{room.path}/participants"
    for some in ([ben.id], [dan.id, ben.id]):
        assert await ann.refused("POST", path, {"userIds": some}) == (403, "BLOCKED")
    # Where one cannot be added, nobody is.
    assert [await members(player) for player in (ann, ben, dan)] == [[2], [], []]
    await ann.do("POST", path, {"userIds": [dan.id]}, status=200)
    await one.do("DELETE", f"{BLOCKS}/{other.id}", status=204)
    await ann.do("POST", path, {"userIds": [ben.id]}, status=200)


async def test_a_group_that_there_is_survives_a_block(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, cid)
    await ben.do("POST", BLOCKS, {"targetId": ann.id}, status=201)
    await ann.say(room)
    assert (await ann.do("POST", CONVERSATIONS, a_group(ben, cid), status=200))["id"] == room.id
    # Nobody is put anywhere who is there already.
    assert (await ann.do("POST", f"{room.path}/participants", {"userIds": [ben.id]}))["id"] == room.id


@in_one_world(("who", "friends", "may"), [
    ("EVERYONE", False, True), ("FRIENDS", False, False), ("FRIENDS", True, True),
    ("NOBODY", False, False), ("NOBODY", True, False),
])  # fmt: skip
async def test_who_is_not_let_puts_nobody_into_a_group(
    world: World, who: str, *, friends: bool, may: bool
) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    if friends:
        await make_friends(ann, ben)
    await let(ben, who)
    room = await ann.talk_to(cid, kind="group")
    path = f"{room.path}/participants"
    if may:
        await ann.do("POST", CONVERSATIONS, a_group(ben), status=201)
        await ann.do("POST", path, {"userIds": [ben.id]}, status=200)
        return
    assert await ann.refused("POST", CONVERSATIONS, a_group(ben)) == (403, "FORBIDDEN")
    assert await ann.refused("POST", CONVERSATIONS, a_group(cid, ben)) == (403, "FORBIDDEN")
    assert await ann.refused("POST", path, {"userIds": [ben.id]}) == (403, "FORBIDDEN")
    assert await members(ben) == []
    # It is about groups alone, and about being put into one by somebody else.
    await ann.talk_to(ben)
    await ben.do("POST", CONVERSATIONS, a_group(ann), status=201)


async def test_a_friend_is_let_by_their_own_link(world: World) -> None:
    """Somebody who was a friend is none."""
    ann, ben = await world.players("Ann", "Ben")
    await let(ben, "FRIENDS")
    await make_friends(ann, ben)
    await ann.do("DELETE", f"/v1/social/friends/{ben.id}", status=204)
    assert await ann.refused("POST", CONVERSATIONS, a_group(ben)) == (403, "FORBIDDEN")
