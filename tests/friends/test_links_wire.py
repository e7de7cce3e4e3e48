"""Wire: what one chooses for a friend, ending a friendship, blocks, and who sees whose friends."""

import pytest
import trio

from actors.friends.visibility import TURNS_KEPT, Visibilities
from persistence.friends.visibilities import veiled
from routes.friends.parts import FRIENDS_LIVE, STREAKS
from routes.party.parts import DAYS_TOGETHER
from tests.friends.play import (
    BLOCKS,
    FRIENDS,
    REQUESTS,
    ask,
    entry_of,
    friends_of,
    make_friends,
    waiting,
)
from tests.support.one_world import in_one_world
from tests.support.waiting import wait_until
from tests.support.world import World

QUIET_SECONDS = 0.4

OWN = ("favorite", "visibility", "note", "updatedAt")
"""The fields of an entry that its holder moves."""


@pytest.mark.one_node(because="when somebody was last seen is up to a minute old on other nodes")
async def test_a_link_is_its_holders_own(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    path = f"{FRIENDS}/{ben.id}"
    changed = await ann.do(
        "PATCH", path, {"favorite": True, "visibility": "LIMITED", "note": "raids"}, status=200
    )
    assert (changed["favorite"], changed["visibility"], changed["note"]) == (True, "LIMITED", "raids")
    assert await entry_of(ann, ben) == changed
    assert (await ann.get(FRIENDS))["counts"]["favorites"] == 1
    other = await entry_of(ben, ann)
    assert (other["favorite"], other["visibility"], other["note"]) == (False, "DEFAULT", None)

    world.clock.advance(1_000)
    for again in ({}, {"favorite": True, "visibility": None}, {"visibility": "LIMITED", "note": "raids"}):
        same = await ann.do("PATCH", path, again)
        assert {key: same[key] for key in OWN} == {key: changed[key] for key in OWN}
    assert (await ann.do("PATCH", path, {"note": "raid"}))["updatedAt"] > changed["updatedAt"]
    bare = await ann.do("PATCH", path, {"note": None, "favorite": False, "visibility": "whatever"})
    assert (bare["favorite"], bare["visibility"], bare["note"]) == (False, "DEFAULT", None)
    for body in ({"note": "x" * 301}, {"favorite": "yes"}, {"visibility": 1}):
        assert await ann.refused("PATCH", path, body) == (422, "VALIDATION_FAILED")
    cid = await world.player("Cid")
    for id in (cid.id, ann.id, "nonsense"):
        assert await ann.refused("PATCH", f"{FRIENDS}/{id}", {"favorite": True}) == (404, "NOT_FOUND")


@in_one_world(
    ("visibility", "online", "seen"),
    [("DEFAULT", True, True), ("LIMITED", True, False), ("HIDDEN", False, False)],
)
async def test_what_a_friend_sees_of_the_holder(
    world: World, visibility: str, online: bool, seen: bool
) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    await ann.do("PATCH", f"{FRIENDS}/{ben.id}", {"visibility": visibility})
    async with ann.live():
        entry = await entry_of(ben, ann)
        assert entry["online"] is online
        assert entry["status"]["state"] == ("ONLINE" if online else "OFFLINE")
        assert (entry["lastSeenAt"] is not None) == seen
        assert entry["player"]["online"] is online
        assert (await ben.get(FRIENDS))["counts"]["online"] == int(online)
        # With the friendship goes what was chosen in it.
        await ben.do("DELETE", f"{FRIENDS}/{ann.id}", status=204)
        await make_friends(ben, ann)
        assert (await entry_of(ben, ann))["online"] is True


async def test_a_friendship_ends_both_ways(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    await ben.do("DELETE", f"{FRIENDS}/{ann.id}", status=204)
    assert (await friends_of(ann), await friends_of(ben)) == (set(), set())
    for one, other in ((ann, ben), (ben, ann)):
        assert await one.refused("DELETE", f"{FRIENDS}/{other.id}") == (404, "NOT_FOUND")


@pytest.mark.parametrize("blocker", [0, 1])
async def test_a_block_ends_everything_between_two(world: World, blocker: int) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await make_friends(ann, ben)
    await ask(ann, cid)
    room = await ann.talk_to(ben)
    await ann.say(room)
    one, other = ((ann, ben), (ben, ann))[blocker]
    made = await one.do("POST", BLOCKS, {"targetId": other.id.upper(), "reason": "rude"}, status=201)
    assert (made["blockedUserId"], made["reason"]) == (other.id, "rude")
    assert (await friends_of(ann), await friends_of(ben)) == (set(), set())
    for sender, receiver in ((ann, ben), (ben, ann)):
        assert await sender.refused("POST", REQUESTS, {"targetId": receiver.id}) == (403, "BLOCKED")
        assert await sender.refused("POST", room.messages, {"content": "?"}) == (403, "BLOCKED")
    assert (await other.get(BLOCKS))["items"] == []

    again = await one.do("POST", BLOCKS, {"targetId": other.id}, status=200)
    assert (again["reason"], again["createdAt"]) == (None, made["createdAt"])
    assert (await one.get(BLOCKS))["items"] == [again]

    await one.do("DELETE", f"{BLOCKS}/{other.id}", status=204)
    assert await one.refused("DELETE", f"{BLOCKS}/{other.id}") == (404, "NOT_FOUND")
    assert await friends_of(ann) == set()
    await other.say(room)
    await make_friends(other, one)
    assert await waiting(cid) == (["Ann"], [])


async def test_a_block_takes_requests_away_either_way(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    from_ann, from_cid = await ask(ann, ben), await ask(cid, ann)
    for other in (ben, cid):
        await ann.do("POST", BLOCKS, {"targetId": other.id}, status=201)
    for player in (ann, ben, cid):
        assert await waiting(player) == ([], [])
    assert await ben.refused("POST", f"{REQUESTS}/{from_ann['id']}/accept") == (404, "NOT_FOUND")
    assert await ann.refused("POST", f"{REQUESTS}/{from_cid['id']}/accept") == (404, "NOT_FOUND")


async def test_no_acceptance_across_a_block(world: World) -> None:
    """Should a request have outlived a block, it still makes no friendship."""
    ann, ben = await world.players("Ann", "Ben")
    made = await ask(ann, ben)
    await world.block(ann, ben)
    assert await ben.refused("POST", f"{REQUESTS}/{made['id']}/accept") == (403, "BLOCKED")


async def test_blocks_in_pages(world: World) -> None:
    ann, *others = await world.players("Ann", *(f"P{n}" for n in range(5)))
    for other in others:
        await ann.do("POST", BLOCKS, {"targetId": other.id})
        world.clock.advance(1)
    seen: list[str] = []
    page = await ann.get(BLOCKS, limit=2)
    while page["hasMore"]:
        seen += [item["blockedUserId"] for item in page["items"]]
        page = await ann.get(BLOCKS, limit=2, cursor=page["nextCursor"])
    assert page["nextCursor"] is None
    assert seen + [item["blockedUserId"] for item in page["items"]] == [
        other.id for other in reversed(others)
    ]
    assert await ann.refused("POST", BLOCKS, {"targetId": ann.id}) == (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", BLOCKS, {"targetId": others[0].id, "reason": "x" * 501}) == (
        422,
        "VALIDATION_FAILED",
    )
    assert await ann.refused("POST", BLOCKS, {"targetId": "0" * 8}) == (422, "VALIDATION_FAILED")


async def test_memory_follows_the_last_commit(world: World) -> None:
    """Of fifty choices at once, and an end of it all now and then, memory knows the last."""
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    path = f"{FRIENDS}/{ben.id}"

    async def choose(number: int) -> None:
        if number % 10 == 9:
            await ann.ask("DELETE", path)
            await ann.ask("POST", REQUESTS, {"targetId": ben.id})
            await ben.ask("POST", REQUESTS, {"targetId": ann.id})
        else:
            visibility = ("DEFAULT", "LIMITED", "HIDDEN")[number % 3]
            await ann.ask("PATCH", path, {"visibility": visibility})

    for _ in range(3):
        async with trio.open_nursery() as nursery:
            for number in range(30):
                nursery.start_soon(choose, number)
        stored = [one[2] for one in await world.service.database.read(veiled) if one[0] == ann.id]
        assert [world.service.of(FRIENDS_LIVE).visibility_of(ann.id, ben.id)] == (stored or ["DEFAULT"])


def test_changes_told_of_in_the_wrong_order() -> None:
    visibilities = Visibilities()
    first, second, third = range(1, 4)
    assert visibilities.change("ann", "ben", "HIDDEN", second)
    assert not visibilities.change("ann", "ben", "DEFAULT", first)
    assert visibilities.of("ann", "ben") == "HIDDEN"
    assert visibilities.change("ann", "ben", "DEFAULT", third)
    for number in range(TURNS_KEPT + 1):
        visibilities.change("ann", f"{number}", "LIMITED", third + number)
    assert visibilities.of("ann", "ben") == "DEFAULT"


async def test_direct_messages_make_a_streak(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    room = await ann.talk_to(ben)
    await ann.say(room)
    await _flush(world)
    assert (await entry_of(ann, ben))["flameStreak"] is None
    await ben.say(room)
    await _flush(world)

    async def has_begun() -> bool:  # the node's own job may be writing it at this moment
        return (await entry_of(ann, ben))["flameStreak"] is not None

    await wait_until(has_begun)
    for one, other in ((ann, ben), (ben, ann)):
        streak = (await entry_of(one, other))["flameStreak"]
        assert (streak["days"], streak["active"]) == (1, True)


async def test_a_message_without_an_answer_changes_no_friend_entry(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    await ann.do("PATCH", f"{FRIENDS}/{ben.id}", {"note": "from last night"}, status=200)
    room = await ann.talk_to(ben)
    async with (
        ann.live("/v1/social/live?channels="),
        ben.live("/v1/social/live?channels="),
        ann.live(f"{FRIENDS}/live") as anns,
        ben.live(f"{FRIENDS}/live") as bens,
    ):
        for socket in (anns, bens):
            while not (await socket.receive_json())["counts"]["online"]:
                pass
        await ann.say(room)
        await _flush(world)
        for socket in (anns, bens):
            with pytest.raises(trio.TooSlowError):
                await socket.receive_json(patience_seconds=QUIET_SECONDS)
        await ben.say(room)
        await _flush(world)
        for socket in (anns, bens):
            while (await socket.receive_json())["friends"][0]["flameStreak"] is None:
                pass


async def test_the_day_on_which_members_of_a_party_become_friends_counts(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = await ann.do("POST", "/v1/social/party/invites", {"targetId": ben.id})
    await ben.do("POST", f"/v1/social/party/invites/{made['party']['id']}/accept")
    for service in world.services:
        service.of(DAYS_TOGETHER).look()  # the last that a day says of a party by itself
    await _flush(world)
    await make_friends(ann, ben)
    await _flush(world)

    async def has_begun() -> bool:  # the node's own job may be writing it at this moment
        return (await entry_of(ann, ben))["flameStreak"] is not None

    await wait_until(has_begun)
    assert (await entry_of(ben, ann))["flameStreak"]["days"] == 1


async def _flush(world: World) -> None:
    """Have the node that has the conversation write that they have written, whichever it is."""
    for service in world.services:
        await service.of(STREAKS).flush()
