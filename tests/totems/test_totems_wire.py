"""Totems over the wire, at both addresses, on both servers."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.totems.documents import MAX_BYTES
from routes.totems.parts import TOTEM_CHECKS
from tests.support.one_world import in_one_world
from tests.support.server import Edge
from tests.support.waiting import patience
from tests.support.world import Player, World, open_world
from tests.totems.models import BLOCKBENCH, blockbench, body, item_model
from tests.totems.play import OLD, OWN, carry, upload

NOWHERE = "0" * 24

BOTH = (OWN, OLD)

both = pytest.mark.parametrize("path", BOTH)
both_in_one_world = in_one_world("path", BOTH)


@pytest.fixture
async def closed(served_by: Edge, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service whose gallery is switched off."""
    async with open_world(database_url, tmp_path, edge=served_by, totem_gallery="off") as world:
        yield world


async def reads(player: Player, totem: Any, path: str = OWN) -> int:
    """The status of reading a totem's model."""
    return (await player.ask("GET", f"{path}/model/{totem['itemModelId']}")).status_code


@both
async def test_nobody_carries_one_at_first(world: World, path: str):
    ann = await world.player("Ann")
    nothing = await ann.get(path)
    assert nothing == await ann.get(path, includeModel="true")
    assert nothing["itemModelId"] is None
    assert set(nothing.values()) == {None}
    assert await ann.get(f"{path}/history") == {"items": [], "total": 0}
    assert await ann.get(f"{path}/gallery") == {"items": [], "total": 0}


@pytest.mark.both_edges
@both
async def test_what_is_uploaded_is_carried(world: World, path: str):
    ann = await world.player("Ann")
    made = await upload(ann, path, fileName="../My totem.json")
    author = {"id": ann.id, "name": "Ann", "description": None}
    assert made["itemModelUrl"] == f"/v1/public/totems/{made['itemModelId']}"
    assert made["author"] == made["itemModelAuthor"] == author
    assert made["rating"] == made["itemModelRating"] == {"content": "sfw", "age": 0}
    assert (made["fileName"], made["format"], made["selectedCount"]) == (
        "My totem.json",
        "minecraft-item-model",
        1,
    )
    assert made["createdAt"] == made["lastUsedAt"]
    assert "itemModel" not in made
    assert await ann.get(path) == made
    inlined = await ann.get(path, includeModel="true")
    assert inlined == {**made, "itemModelUrl": None, "itemModel": item_model()}
    read = await ann.get(f"{path}/model/{made['itemModelId']}")
    assert read == {**made, "itemModel": item_model()}
    listed = {name: value for name, value in made.items() if value is not None}
    listed["author"] = listed["itemModelAuthor"] = {"id": ann.id, "name": "Ann"}
    for where in ("history", "gallery"):
        assert await ann.get(f"{path}/{where}") == {"items": [listed], "total": 1}


async def test_what_is_empty_is_left_out_of_lists(world: World):
    ann = await world.player("Ann")
    bare = await upload(ann, fileName="")
    assert (bare["fileName"], bare["author"]["description"]) == ("", None)
    await upload(ann, fileName="a.json", author={"description": "drawn by hand"})
    for where in ("history", "gallery?sort=created"):
        items = (await ann.get(f"{OWN}/{where}"))["items"]
        assert [item.get("fileName", "absent") for item in items] == ["a.json", "absent"]
        credits = [item["author"].get("description", "absent") for item in items]
        assert credits == ["drawn by hand", "absent"]
        assert all(item["author"] == item["itemModelAuthor"] for item in items)


async def test_both_addresses_are_one(world: World):
    ann, bob = await world.players("Ann", "Bob")
    made = await upload(ann, OLD)
    assert await ann.get(OWN) == await ann.get(OLD) == made
    carried = await carry(bob, made, OWN)
    assert carried["selectedCount"] == 2
    for where in ("", "/history", "/gallery", f"/model/{made['itemModelId']}"):
        assert await bob.get(OWN + where) == await bob.get(OLD + where)


@pytest.mark.both_edges
async def test_anybody_reads_the_model(world: World):
    ann = await world.player("Ann")
    made = await upload(ann, model=blockbench(), format=BLOCKBENCH)
    nobody = world.nobody()
    answer = await nobody.ask("GET", made["itemModelUrl"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["cache-control"] == "public, max-age=3600"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()["meta"]["format_version"] == "4.10"
    assert b"Users" not in answer.content
    again = await nobody.ask("GET", made["itemModelUrl"], headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for id in (NOWHERE, "nonsense"):
        assert await nobody.refused("GET", f"/v1/public/totems/{id}") == (404, "NOT_FOUND")


@both_in_one_world
async def test_one_of_the_two(world: World, path: str):
    ann = await world.player("Ann")
    made = await upload(ann)
    for wrong in ({}, {"data": None}, body(itemModelId=made["itemModelId"]), {"fileName": "x"}):
        assert await ann.refused("POST", path, wrong) == (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", path, {"itemModelId": NOWHERE}) == (404, "NOT_FOUND")
    assert await ann.refused("POST", path, {"itemModelId": "x"}) == (422, "VALIDATION_FAILED")
    assert (await ann.get(f"{path}/history"))["total"] == 1


RATINGS: list[tuple[dict[str, Any], int]] = [
    ({"content": "sfw", "age": 0}, 201),
    ({"content": "sfw", "age": 21}, 201),
    ({"content": "nsfw", "age": 16}, 201),
    ({"content": "nsfl", "age": 18}, 201),
    ({"age": 16}, 201),
    ({"content": "nsfw", "age": 0}, 422),
    ({"content": "nsfl", "age": 0}, 422),
    ({"content": "nsfw"}, 422),
    ({"content": "sfw", "age": 1}, 422),
    ({"content": "nsfw", "age": 17}, 422),
    ({"content": "nsfw", "age": "16"}, 422),
    ({"content": "NSFW", "age": 16}, 422),
    ({"content": "nsfw", "age": None}, 422),
]


@in_one_world("path, rating, status", [(path, *row) for path in BOTH for row in RATINGS])
async def test_a_rating_is_completed_or_refused(world: World, path: str, rating: dict[str, Any], status: int):
    ann = await world.player("Ann")
    answer = await ann.ask("POST", path, body(rating=rating))
    assert answer.status_code == status, answer.text
    if status == 201:
        assert answer.json()["rating"] == {"content": "sfw", "age": 0} | rating


@both_in_one_world
async def test_nobody_poses_as_another(world: World, path: str):
    ann, bob = await world.players("Ann", "Bob")
    made = await upload(
        ann, path, author={"id": ann.id.upper(), "name": "Ann of Kent", "description": "made by me\n"}
    )
    assert made["author"] == {"id": ann.id, "name": "Ann of Kent", "description": "made by me"}
    for author in (
        {"id": bob.id},
        {"id": bob.id, "name": "Ann"},
        {"id": "system"},
        {"id": ""},
        {"name": "Bob"},
        {"name": "bOB "},
        {"name": "B\u200do\u200eb"},
        {"name": "x" * 65},
        {"name": "An\u202en"},
        {"name": "A\nB"},
        {"name": "A\0"},
        {"description": "x" * 501},
    ):
        assert await ann.refused("POST", path, body(author=author)) == (422, "VALIDATION_FAILED"), author
    stolen = body(
        owner_id=bob.id, ownerId=bob.id, itemModelAuthor={"id": bob.id}, selectedCount=99, createdAt="x"
    )
    made = await ann.do("POST", path, stolen, status=201)
    assert (made["author"]["id"], made["selectedCount"]) == (ann.id, 1)


@both_in_one_world
async def test_an_author_may_have_their_own_name_though_another_is_called_so(world: World, path: str):
    ann, other, bob = await world.players("Ann", "Ann", "Bob")
    for player in (ann, other):
        author = {"id": player.id, "name": "Ann", "description": "made by me"}
        assert (await upload(player, path, author=author))["author"] == author
    assert await bob.refused("POST", path, body(author={"name": "Ann"})) == (422, "VALIDATION_FAILED")


async def test_carrying_changes_nothing_of_anothers(world: World):
    ann, bob = await world.players("Ann", "Bob")
    made = await upload(ann)
    change = {"rating": {"content": "nsfl", "age": 21}, "author": {"name": "Bobby"}, "fileName": "mine"}
    carried = await bob.do("POST", OWN, {"itemModelId": made["itemModelId"].upper(), **change}, status=200)
    world.clock.advance(1000)
    assert carried == {**made, "selectedCount": 2, "lastUsedAt": carried["lastUsedAt"]}
    assert await bob.get(f"{OWN}/history") == {"items": [], "total": 0}


async def test_the_author_has_the_name_of_today(world: World):
    ann = await world.player("Ann")
    await upload(ann)
    renamed = Player(world, ann.id, "Anna", world.token(ann.id, "Anna"))
    assert (await renamed.get(OWN))["author"]["name"] == "Anna"


async def test_a_totem_counts_each_user_who_carries_it_once(world: World):
    ann, bob, cid = await world.players("Ann", "Bob", "Cid")
    first, second = await upload(ann), await upload(bob)
    for player, totem in ((cid, first), (cid, first), (ann, second), (bob, first), (bob, first)):
        await carry(player, totem)
    items = (await ann.get(f"{OWN}/gallery"))["items"]
    assert [(item["itemModelId"], item["selectedCount"]) for item in items] == [
        (first["itemModelId"], 2),
        (second["itemModelId"], 1),
    ]


@both
async def test_the_gallery_s_orders(world: World, path: str):
    ann, bob, cid, dan, eve, fay = await world.players("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")
    made = {}
    for player, name in ((ann, "a"), (cid, "C"), (bob, "b")):
        made[name] = await upload(player, fileName=name)
        world.clock.advance(1000)
    for player, name in ((dan, "b"), (eve, "b"), (fay, "a"), (cid, "C")):
        await carry(player, made[name])
        world.clock.advance(1000)
    for query, names in (
        ({}, "baC"),
        ({"sort": "selected"}, "baC"),
        ({"sort": "selected", "order": "asc"}, "Cab"),
        ({"sort": "created"}, "bCa"),
        ({"sort": "created", "order": "asc"}, "aCb"),
        ({"sort": "last_used", "order": "desc"}, "Cab"),
        ({"sort": "last_used", "order": "asc"}, "baC"),
        ({"sort": "name"}, "abC"),
        ({"sort": "name", "order": "desc"}, "Cba"),
        ({"sort": "name", "limit": 2}, "ab"),
        ({"sort": "name", "limit": 2, "offset": 2}, "C"),
        ({"sort": "name", "offset": 3}, ""),
        ({"sort": "name", "limit": 0}, "a"),
        ({"sort": "name", "limit": -5}, "a"),
        ({"sort": "name", "limit": 10**18, "offset": -1}, "abC"),
    ):
        found = await dan.get(f"{path}/gallery", **query)
        assert found["total"] == 3
        assert "".join(item["fileName"] for item in found["items"]) == names, query


@in_one_world(
    "path, query",
    [
        (path, query)
        for path in BOTH
        for query in ("limit=x", "limit=1.5", "sort=size", "order=up", "offset=x", "sort=")
    ],
)
async def test_queries_that_make_no_sense(world: World, path: str, query: str):
    ann = await world.player("Ann")
    assert await ann.refused("GET", f"{path}/gallery?{query}") == (400, "BAD_QUERY")


@both_in_one_world
async def test_history_is_one_s_own(world: World, path: str):
    ann, bob = await world.players("Ann", "Bob")
    made = []
    for number in range(12):
        made.append(await upload(ann, fileName=f"{number}.json"))
        world.clock.advance(1000)
    await upload(bob)
    found = await ann.get(f"{path}/history")
    assert [item["fileName"] for item in found["items"]] == [f"{number}.json" for number in range(11, 1, -1)]
    assert found["total"] == 12
    assert len((await ann.get(f"{path}/history", limit=10_000))["items"]) == 12
    assert [item["fileName"] for item in (await ann.get(f"{path}/history", offset=11))["items"]] == ["0.json"]


@both
async def test_with_the_gallery_closed(closed: World, path: str):
    ann, bob = await closed.players("Ann", "Bob")
    first, second = await upload(ann, path), await upload(ann, path)
    assert await bob.get(f"{path}/gallery") == {"items": [], "total": 0}
    nobody = closed.nobody()
    # The second is carried, and so everybody may see it; the first is the owner's alone.
    assert (await reads(ann, first, path), await reads(ann, second, path)) == (200, 200)
    assert (await reads(bob, first, path), await reads(bob, second, path)) == (404, 200)
    assert (await nobody.ask("GET", second["itemModelUrl"])).status_code == 200
    assert await nobody.refused("GET", first["itemModelUrl"]) == (404, "NOT_FOUND")
    assert await bob.refused("POST", path, {"itemModelId": first["itemModelId"]}) == (404, "NOT_FOUND")
    await carry(bob, second, path)
    await carry(ann, first, path)
    assert await reads(bob, second, path) == 200
    await carry(bob, first, path)
    assert await bob.refused("POST", path, {"itemModelId": second["itemModelId"]}) == (404, "NOT_FOUND")
    assert (await ann.get(f"{path}/history"))["total"] == 2


@pytest.mark.both_edges
@both_in_one_world
async def test_a_model_above_the_bound_is_refused(world: World, path: str):
    ann = await world.player("Ann")
    model = item_model(credit="x" * MAX_BYTES)
    assert await ann.refused("POST", path, body(model)) == (413, "PAYLOAD_TOO_LARGE")
    whole = body(item_model(credit="x" * (MAX_BYTES - 2000)))
    assert (await ann.ask("POST", path, whole)).status_code == 201


async def test_what_is_declared_too_large_is_refused_unread(database_url: str, tmp_path: Path):
    """On our own server, which goes on reading until the client has the answer; the stock one cuts it off."""
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        huge = b'{"data":{"format":"blockbench","data":"' + b"A" * 1_000_000 + b'"}}'
        for path in BOTH:
            assert await ann.refused("POST", path, content=huge) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.both_edges
@both_in_one_world
async def test_a_body_that_holds_no_model_is_refused(world: World, path: str):
    ann = await world.player("Ann")
    for wrong in (
        {"data": {"format": "obj", "data": "e30="}},
        {"data": {"format": "blockbench"}},
        {"data": "e30="},
        {"data": {"format": "blockbench", "data": "e30="}},
        body(fileName="x" * 256),
        body(fileName=1),
    ):
        assert await ann.refused("POST", path, wrong) == (422, "VALIDATION_FAILED")


@both
async def test_totem_nodes_are_wanted_once_the_catalog_has_them(world: World, path: str):
    """Both nodes grant while they are absent from the catalog; then they must be held (contract §2 Gate)."""
    ann, bob = await world.players("Ann", "Bob")
    made = await upload(ann)
    below = ("", "/history", "/gallery", f"/model/{made['itemModelId']}")
    assert [(await bob.ask("GET", path + end)).status_code for end in below] == [200] * 4
    await world.grant(ann, "totem:read")
    await world.grant(ann, "totem:write")
    for end in below:
        assert await bob.refused("GET", path + end) == (403, "FORBIDDEN")
        assert await world.nobody().refused("GET", path + end) == (401, "UNAUTHENTICATED")
        await ann.get(path + end)
    assert await bob.refused("POST", path, {"nonsense": True}) == (403, "FORBIDDEN")
    assert await world.nobody().refused("POST", path, {}) == (401, "UNAUTHENTICATED")
    await carry(ann, made, path)
    await world.grant(ann, "totem:write", negated=True)
    assert await ann.refused("POST", path, {}) == (403, "FORBIDDEN")


@both_in_one_world
async def test_repeats_under_a_key(world: World, path: str):
    ann = await world.player("Ann")
    key = {"idempotency-key": "once"}
    first = await ann.ask("POST", path, body(), headers=key)
    again = await ann.ask("POST", path, body(), headers=key)
    assert (first.status_code, again.status_code, again.headers["idempotent-replayed"]) == (201, 201, "true")
    assert again.json() == first.json()
    assert (await ann.get(f"{path}/history"))["total"] == 1
    choice = {"itemModelId": first.json()["itemModelId"]}
    for _ in range(2):
        answer = await ann.ask("POST", path, choice, headers={"idempotency-key": "twice"})
        assert answer.status_code == 200


@pytest.mark.both_edges
async def test_uploads_are_looked_at_a_few_at_once(world: World):
    """More of them wait, and nobody else waits for them."""
    ann, ben = await world.players("Ann", "Ben")
    limiters = [service.of(TOTEM_CHECKS).places for service in world.services]
    held = [(limiter, object()) for limiter in limiters for _ in range(int(limiter.total_tokens))]
    for limiter, holder in held:
        await limiter.acquire_on_behalf_of(holder)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(upload, ann)
        with patience():
            while not any(limiter.statistics().tasks_waiting for limiter in limiters):
                await ben.get(OWN)
        assert (await ann.get(OWN))["itemModelId"] is None
        for limiter, holder in held:
            limiter.release_on_behalf_of(holder)
    assert (await ann.get(OWN))["itemModelId"] is not None
