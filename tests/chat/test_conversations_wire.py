"""Wire: making conversations, listing them, their members, titles and muting."""

import secrets

import trio

from actors.ids import new_uuid
from routes.chat.parts import CHAT_KINDS
from routes.users.parts import PRESENCE
from tests.support.one_world import in_one_world
from tests.support.waiting import patience
from tests.support.world import CONVERSATIONS, Player, World


async def test_a_direct_conversation_is_made_once(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    first = await ann.do("POST", CONVERSATIONS, {"kind": "direct", "participantIds": [ben.id]}, status=201)
    again = await ben.do("POST", CONVERSATIONS, {"kind": "direct", "participantIds": [ann.id]}, status=200)
    assert again["id"] == first["id"]
    assert first["kind"] == "direct"
    assert sorted(one["name"] for one in first["participants"]) == ["Ann", "Ben"]
    assert (first["title"], first["ownerId"], first["participantCount"]) == (None, None, 2)
    assert (first["lastMessagePreview"], first["lastEvent"], first["unreadCount"]) == (None, None, 0)


async def test_two_who_make_it_at_once_get_the_same_one(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    found: list[str] = []

    async def make(one: Player, other: Player) -> None:
        found.append((await one.talk_to(other)).id)

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(make, ann, ben)
            nursery.start_soon(make, ben, ann)
    assert len(set(found)) == 1


async def test_a_group_is_found_by_the_set_that_it_is_now(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    pair = await ann.talk_to(ben, kind="group")
    three = await ann.talk_to(ben, cid)
    assert pair.id != three.id
    # Repeated ids and the caller's own are passed over; the order does not matter.
    body = {"kind": "group", "participantIds": [cid.id, ben.id.upper(), ben.id, ann.id]}
    assert (await ann.do("POST", CONVERSATIONS, body, status=200))["id"] == three.id
    # A group and a direct conversation of the same two are two things.
    assert (await ann.talk_to(ben)).id not in {pair.id, three.id}
    # Where two groups come to the same set, the older one is found.
    await ann.do("DELETE", f"{three.path}/participants/{cid.id}", status=204)
    assert (await ben.talk_to(ann, kind="group")).id == pair.id


@in_one_world(
    ("body", "pointer"),
    [
        ({"kind": "direct", "participantIds": []}, "/participantIds"),
        ({"kind": "direct", "participantIds": ["ME"]}, "/participantIds"),
        ({"kind": "direct", "participantIds": ["BEN", "CID"]}, "/participantIds"),
        ({"kind": "group", "participantIds": []}, "/participantIds"),
        ({"kind": "group", "participantIds": ["BEN", "NOBODY"]}, "/participantIds/1"),
        ({"kind": "group", "participantIds": ["BEN", "not-a-uuid"]}, "/participantIds/1"),
        ({"kind": "both", "participantIds": ["BEN"]}, "/kind"),
        ({"participantIds": ["BEN"]}, "/kind"),
        ({"kind": "direct"}, "/participantIds"),
        ({"kind": "direct", "participantIds": "BEN"}, "/participantIds"),
        ({"kind": "direct", "participantIds": [5]}, "/participantIds/0"),
    ],
    ids=str,
)
async def test_conversations_that_cannot_be(world: World, body: dict[str, object], pointer: str) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    known = {"ME": ann.id, "BEN": ben.id, "CID": cid.id, "NOBODY": new_uuid(secrets.token_bytes)}
    ids = body.get("participantIds")
    if isinstance(ids, list):
        body = {**body, "participantIds": [known.get(id, id) if isinstance(id, str) else id for id in ids]}
    response = await ann.ask("POST", CONVERSATIONS, body)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "VALIDATION_FAILED")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


async def test_the_list_is_paged_without_gap_or_repetition(world: World) -> None:
    ann, *others = await world.players("Ann", *"BCDEFGH")
    rooms = [(await ann.talk_to(other)) for other in others]
    await others[2].say(rooms[2], "newest")
    expected = [rooms[2].id, *(room.id for room in reversed(rooms) if room is not rooms[2])]
    seen: list[str] = []
    cursor = ""
    while True:
        part = await ann.get(CONVERSATIONS, limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [item["id"] for item in part["items"]]
        assert part["hasMore"] is (part["nextCursor"] is not None)
        if not part["hasMore"]:
            break
        cursor = part["nextCursor"]
    assert seen == expected
    first = (await ann.get(CONVERSATIONS))["items"][0]
    assert (first["unreadCount"], first["lastMessagePreview"]) == (1, "newest")


@in_one_world(
    ("limit", "shown"), [("0", 1), ("-1", 1), ("1", 1), ("200", 3), ("201", 3), ("1000000000000000000", 3)]
)
async def test_the_lists_limit_is_clamped(world: World, limit: str, shown: int) -> None:
    ann, *others = await world.players("Ann", "B", "C", "D")
    for other in others:
        await ann.talk_to(other)
    assert len((await ann.get(CONVERSATIONS, limit=limit))["items"]) == shown


@in_one_world("query", ["limit=abc", "limit=1.5", "limit=", "cursor=x", "cursor=~", "cursor=%00"])
async def test_a_bad_query_is_a_400(world: World, query: str) -> None:
    ann = await world.player("Ann")
    assert await ann.refused("GET", f"{CONVERSATIONS}?{query}") == (400, "BAD_QUERY")


async def test_titles_and_muting(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben, kind="group")
    named = await ann.do("PATCH", room.path, {"title": " Crew "}, status=200)
    assert (named["title"], named["ownerId"]) == ("Crew", ann.id)
    assert await ben.refused("PATCH", room.path, {"title": "Mine"}) == (403, "FORBIDDEN")
    assert (await ben.do("PATCH", room.path, {"muted": True}))["muted"] is True
    assert (await ann.get(room.path))["muted"] is False
    assert (await ben.get(room.path))["title"] == "Crew"
    assert (await ben.get(CONVERSATIONS))["items"][0]["muted"] is True
    assert (await ann.do("PATCH", room.path, {"title": None}))["title"] is None
    assert await ann.refused("PATCH", room.path, {"title": "x" * 101}) == (422, "VALIDATION_FAILED")
    assert await ann.refused("PATCH", room.path, {"muted": "yes"}) == (422, "VALIDATION_FAILED")
    direct = await ann.talk_to(ben)
    assert await ann.refused("PATCH", direct.path, {"title": "Us"}) == (409, "INVALID_STATE")


async def test_members_come_and_go(world: World) -> None:
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    room = await ann.talk_to(ben, cid)
    people = f"{room.path}/participants"
    assert await ben.refused("POST", people, {"userIds": [dan.id]}) == (403, "FORBIDDEN")
    grown = await ann.do("POST", people, {"userIds": [dan.id.upper(), dan.id, ben.id]}, status=200)
    assert grown["participantCount"] == 4
    assert await dan.get(room.path)
    names = [one["name"] for one in (await dan.get(people))["items"]]
    # The owner, then the longest-standing; who came at once stands in no order that anybody could rely on.
    assert (names[0], sorted(names[1:3]), names[3]) == ("Ann", ["Ben", "Cid"], "Dan")
    assert await ben.refused("DELETE", f"{people}/{cid.id}") == (403, "FORBIDDEN")
    await ann.do("DELETE", f"{people}/{cid.id}", status=204)
    assert await cid.refused("GET", room.path) == (404, "CONVERSATION_NOT_FOUND")
    assert await ann.refused("DELETE", f"{people}/{cid.id}") == (404, "NOT_FOUND")
    await ben.do("DELETE", f"{people}/{ben.id}", status=204)
    await ann.do("DELETE", f"{people}/{ann.id}", status=204)
    assert (await dan.get(room.path))["ownerId"] == dan.id
    assert await ann.refused("POST", people, {"userIds": [ann.id]}) == (404, "CONVERSATION_NOT_FOUND")
    assert await dan.refused("POST", people, {"userIds": []}) == (422, "VALIDATION_FAILED")
    assert await dan.refused("POST", people, {"userIds": ["nobody"]}) == (422, "VALIDATION_FAILED")


async def test_a_direct_conversation_keeps_its_two(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben)
    people = f"{room.path}/participants"
    assert await ann.refused("POST", people, {"userIds": [cid.id]}) == (409, "INVALID_STATE")
    assert await ann.refused("DELETE", f"{people}/{ann.id}") == (409, "INVALID_STATE")


async def test_members_are_paged_owner_first(world: World) -> None:
    people = await world.players("Zoe", *(f"P{number}" for number in range(8)))
    room = await people[0].talk_to(*people[1:])
    seen: list[str] = []
    cursor = ""
    while True:
        more = {"cursor": cursor} if cursor else {}
        part = await people[3].get(f"{room.path}/participants", limit=4, **more)
        seen += [one["id"] for one in part["items"]]
        cursor = part["nextCursor"]
        if not part["hasMore"]:
            break
    assert seen[0] == people[0].id
    assert len(seen) == len(set(seen)) == 9


async def test_presence_shows_in_participants(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with ben.live() as socket:
        await socket.receive_until(type="hello")
        await ben.say(room)
        online = {one["name"]: one["online"] for one in (await ann.get(room.path))["participants"]}
        assert online == {"Ann": False, "Ben": True}

    # Ten seconds of grace after the socket is gone (contract §5).
    await world.everywhere(lambda service: service.of(PRESENCE).statistics() == 0)
    world.clock.advance(11_000)
    assert not any(one["online"] for one in (await ann.get(room.path))["participants"])


async def test_the_list_from_an_open_inbox_is_the_one_from_rows(world: World) -> None:
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    rooms = [await ann.talk_to(other) for other in (ben, cid, dan)]
    for room in rooms:
        await ben.say(room) if room is rooms[0] else await ann.say(room)
    async with ann.live("/v1/social/live?channels=inbox") as socket:
        await socket.receive_until(type="snapshot")
        service = world.service
        assert service.system.peek_view(service.of(CHAT_KINDS).inbox, ann.id) is not None
        open_ = [await ann.get(CONVERSATIONS, limit=limit) for limit in (1, 2, 50)]
        rest = await ann.get(CONVERSATIONS, limit=2, cursor=open_[0]["nextCursor"])
        # What was acknowledged shows, whether the view has framed it yet or not.
        await ann.say(rooms[0], "newest")
        assert (await ann.get(CONVERSATIONS, limit=1))["items"][0]["lastMessagePreview"] == "newest"
        after = await ann.get(CONVERSATIONS)
        assert (await ann.refused("GET", f"{CONVERSATIONS}?cursor=nonsense"))[0] == 400
    with patience():
        while service.system.peek_view(service.of(CHAT_KINDS).inbox, ann.id) is not None:  # noqa: ASYNC110
            await trio.sleep(0.01)
    assert [len(page["items"]) for page in open_] == [1, 2, 3]
    assert [page["hasMore"] for page in open_] == [True, True, False]
    assert rest["items"] == open_[2]["items"][1:]
    assert await ann.get(CONVERSATIONS) == after
