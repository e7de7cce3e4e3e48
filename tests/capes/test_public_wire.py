"""Wire: the catalog, pictures, and what users wear: approved capes for everybody, others for those concerned."""

from io import BytesIO

import pytest
from PIL import Image

from routes.capes.textures import CAPE_WORKSHOP
from tests.capes.stage import ADMIN, OWN, PUBLIC, SELECTION, STATES, cape_in, moderator, texture, upload
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

NOBODY = "00000000-0000-4000-8000-000000000000"
NO_SELECTION = {"source": None, "capeId": None, "updatedAt": None}


async def found(world: World, **query: object) -> list[str]:
    page = await world.nobody().get(PUBLIC, **query)
    assert page["total"] == len(page["entries"])
    return [one["name"] for one in page["entries"]]


async def test_an_entry_has_the_texts_and_addresses_of_its_cape(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    made = await cape_in("approved", ann, mod)
    entry = await world.nobody().get(f"{PUBLIC}/{made['id'].upper()}")
    assert set(entry) == {
        "id", "source", "name", "description", "creator", "status", "previewTextureUrl", "textureUrl", "mine",
        "selected", "downloads",
    }  # fmt: skip
    place = f"{world.service.config.base_url}{PUBLIC}/{made['id']}"
    assert entry["textureUrl"].startswith(f"{place}/texture.png?v=")
    assert entry["previewTextureUrl"].startswith(f"{place}/preview.png?v=")
    assert {**entry, "textureUrl": 0, "previewTextureUrl": 0} == {
        "id": made["id"], "source": "native", "name": "Phoenix", "description": "burns brightly", "creator": "Ann",
        "status": "approved", "previewTextureUrl": 0, "textureUrl": 0, "mine": False, "selected": False,
        "downloads": 0,
    }  # fmt: skip


async def test_the_catalog_has_approved_capes_only(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    for state in STATES:
        await cape_in(state, ann, mod, name=state)
    assert await found(world) == ["approved"]
    assert await found(world, query="a") == ["approved"]
    for name in ("draft", "pending", "private", "blocked"):
        assert await found(world, query=name) == []


async def test_search_is_by_substring(world: World):
    ann, bob, mod = await world.player("Annabel"), await world.player("Bob"), await moderator(world)
    await cape_in("approved", ann, mod, name="Red Phoenix", description="burns\nbrightly")
    await cape_in("approved", bob, mod, name="100% blue_sky", description="ÄRGER, 🔥🔥🔥 and \\backslash")
    red, blue = "Red Phoenix", "100% blue_sky"
    for query, names in {
        "phoenix": [red], "HOEN": [red], "d%20P": [red], "x": [red], "re": [red], "brightly": [red],
        "annabel": [red], "nna": [red], "%25": [blue], "_": [blue], "0%25%20b": [blue], "%C3%A4rger": [blue],
        "%F0%9F%94%A5%F0%9F%94%A5": [blue], "%5Cback": [blue], "bob": [blue], "e": [blue, red], "": [blue, red],
        "b": [blue, red], "%20": [blue, red], "phoenixburns": [], "brightlyannabel": [], "phoenix%1Fburns": [],
        "%27%20OR%20true": [], "lightly": [], "xyz": [], "q": [],
    }.items():  # fmt: skip
        assert await found(world, query=query, source="native") == names, query
    nobody = world.nobody()
    for bad in ("query=" + "x" * 101, "source=external", "limit=x", "query=%00"):
        assert await nobody.refused("GET", f"{PUBLIC}?{bad}") == (400, "BAD_QUERY")


async def test_what_is_known_is_not_sent_again(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    made = await cape_in("approved", ann, mod)
    await ann.do("PUT", SELECTION, {"source": "native", "capeId": made["id"]})
    paths = [PUBLIC, f"{PUBLIC}/{made['id']}", f"{PUBLIC}/selected/{ann.id}"]
    tags = [(await world.nobody().ask("GET", path)).headers["etag"] for path in paths]

    async def ask_again() -> list[int]:
        known = [{"if-none-match": tag} for tag in tags]
        return [
            (await world.nobody().ask("GET", path, headers=headers)).status_code
            for path, headers in zip(paths, known, strict=True)
        ]

    assert await ask_again() == [304] * 3
    await mod.do("PATCH", f"{ADMIN}/{made['id']}", {"status": "blocked"})
    assert await ask_again() == [200, 404, 200]


async def test_search_follows_names(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    made = await cape_in("approved", ann, mod)
    world.clock.advance(60_000)
    ann = Player(world, ann.id, "Zoë", world.token(ann.id, "Zoë"))
    await ann.get("/v1/auth/verify")
    assert await found(world, query="zoë") == ["Phoenix"]
    assert await found(world, query="ann") == []
    assert (await world.nobody().get(f"{PUBLIC}/{made['id']}"))["creator"] == "Zoë"
    await mod.do("PATCH", f"{ADMIN}/{made['id']}", {"name": "Ash"})
    assert await found(world, query="phoenix") == []
    assert await found(world, query="ash") == ["Ash"]


async def test_pages_are_newest_first_and_their_bounds_are_clamped(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    for number in range(5):
        await cape_in("approved", ann, mod, name=f"cape {number}")
        world.clock.advance(1_000)
    nobody = world.nobody()
    for more in ({}, {"query": "cape"}):
        pages = [await nobody.get(PUBLIC, limit=2, offset=offset, **more) for offset in (0, 2, 4, 6)]
        names = [[entry["name"] for entry in page["entries"]] for page in pages]
        assert names == [["cape 4", "cape 3"], ["cape 2", "cape 1"], ["cape 0"], []]
        assert [(page["total"], page["limit"], page["offset"]) for page in pages] == [
            (5, 2, offset) for offset in (0, 2, 4, 6)
        ]
    clamped = await nobody.get(PUBLIC, limit=999, offset=-3)
    assert (clamped["limit"], clamped["offset"]) == (200, 0)
    assert (await nobody.get(PUBLIC))["limit"] == 50


@pytest.mark.parametrize("kind", ["texture", "preview"])
async def test_pictures(world: World, kind: str):
    ann, ben, mod = await world.player("Ann"), await world.player("Ben"), await moderator(world)
    for state in STATES:
        made = await cape_in(state, ann, mod)
        path = f"{PUBLIC}/{made['id']}/{kind}.png"
        bad = {"authorization": "Bearer nonsense"}
        answers = [
            await ann.ask("GET", path), await mod.ask("GET", path), await ben.ask("GET", path),
            await world.nobody().ask("GET", path), await world.nobody().ask("GET", path, headers=bad),
        ]  # fmt: skip
        if state == "approved":
            assert [one.status_code for one in answers] == [200] * 5
            assert {one.headers["cache-control"] for one in answers} == {"public, max-age=60"}
            tag = answers[0].headers["etag"]
            again = await world.nobody().ask("GET", path, headers={"if-none-match": tag})
            assert (again.status_code, again.content) == (304, b"")
        else:
            assert [one.status_code for one in answers] == [200, 200, 404, 404, 404]
            assert {one.headers["cache-control"] for one in answers} == {"no-store"}
        assert answers[0].headers["content-type"] == "image/png"
        assert answers[0].headers["x-content-type-options"] == "nosniff"
        with Image.open(BytesIO(answers[0].content)) as image:
            assert image.size == ((64, 32) if kind == "texture" else (80, 128))


@pytest.mark.parametrize("field", ["textureUrl", "previewTextureUrl"])
async def test_no_cache_keeps_a_blocked_texture_for_a_year(world: World, field: str):
    """Unasked for a day by the address of an entry, and not at all once a moderator has blocked it."""
    ann, mod = await world.player("Ann"), await moderator(world)
    made = await cape_in("approved", ann, mod)
    path = made[field].removeprefix(world.service.config.base_url)
    for address, kept in (
        (path, "public, max-age=86400, immutable"),
        (path.split("?")[0], "public, max-age=60"),
        (path[:-1], "public, max-age=60"),
    ):
        answer = await world.nobody().ask("GET", address)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, kept)
    blocked = {"status": "blocked", "reason": "no"}
    await mod.do("PATCH", f"/v1/admin/capes/{made['id']}", blocked, status=200)
    tag = {"if-none-match": answer.headers["etag"]}
    assert (await world.nobody().ask("GET", path, headers=tag)).status_code == 404
    assert (await ann.ask("GET", path)).headers["cache-control"] == "no-store"


async def test_another_texture_has_another_address(world: World):
    ann = await world.player("Ann")
    made = await upload(ann)
    changed = await ann.do("PATCH", f"{OWN}/{made['id']}", {"texture": texture(1)})
    assert changed["textureUrl"] != made["textureUrl"]
    same = await ann.do("PATCH", f"{OWN}/{made['id']}", {"texture": texture(200), "name": "Other"})
    assert same["textureUrl"] == made["textureUrl"]


@pytest.mark.one_node(because="each node counts downloads by itself until it writes them")
async def test_downloads_are_counted(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    made, draft = await cape_in("approved", ann, mod), await upload(ann)
    path = f"{PUBLIC}/{made['id']}"
    for _ in range(3):
        tag = (await world.nobody().ask("GET", f"{path}/texture.png")).headers["etag"]
    await world.nobody().ask("GET", f"{path}/texture.png", headers={"if-none-match": tag})
    await world.nobody().ask("HEAD", f"{path}/texture.png")
    await world.nobody().ask("GET", f"{path}/preview.png")
    await ann.ask("GET", f"{PUBLIC}/{draft['id']}/texture.png")
    await world.service.of(CAPE_WORKSHOP).downloads.flush()
    assert (await world.nobody().get(path))["downloads"] == 3
    assert (await ann.get(f"{OWN}/{draft['id']}"))["downloads"] == 0


@in_one_world("state", STATES)
async def test_who_may_wear_what_and_who_sees_it(world: World, state: str):
    ann, ben, mod = await world.player("Ann"), await world.player("Ben"), await moderator(world)
    made = await cape_in(state, ann, mod)
    choice = {"source": "native", "capeId": made["id"]}
    if state == "approved":
        assert (await ben.do("PUT", SELECTION, choice))["capeId"] == made["id"]
    else:
        assert await ben.refused("PUT", SELECTION, choice) == (404, "NOT_FOUND")
        assert await ben.get(SELECTION) == NO_SELECTION
    chosen = await ann.do("PUT", SELECTION, choice)
    assert {**chosen, "updatedAt": 0} == {**choice, "updatedAt": 0}
    assert await ann.get(SELECTION) == chosen
    assert (await ann.get(f"{OWN}/{made['id']}"))["selected"]
    seen = await world.nobody().get(f"{PUBLIC}/selected/{ann.id}")
    if state == "approved":
        assert (seen["selection"], seen["entry"]["id"], seen["entry"]["selected"]) == (
            chosen,
            made["id"],
            True,
        )
    else:
        assert seen == {"selection": NO_SELECTION, "entry": None}
    await ann.do("DELETE", f"{OWN}/{made['id']}")
    for player in (ann, ben):
        assert await player.get(SELECTION) == NO_SELECTION


async def test_a_cape_that_is_blocked_is_no_longer_seen(world: World):
    ann, ben, mod = await world.player("Ann"), await world.player("Ben"), await moderator(world)
    made = await cape_in("approved", ann, mod)
    await ben.do("PUT", SELECTION, {"source": "native", "capeId": made["id"]})
    await mod.do("PATCH", f"{ADMIN}/{made['id']}", {"status": "blocked"})
    nothing = {"selection": NO_SELECTION, "entry": None}
    assert await world.nobody().get(f"{PUBLIC}/selected/{ben.id}") == nothing
    assert await found(world) == []


async def test_an_external_cape_is_its_owners_choice_and_in_no_public_entry(world: World):
    ann = await world.player("Ann")
    chosen = await ann.do("PUT", SELECTION, {"source": "external", "capeId": NOBODY})
    assert await ann.get(SELECTION) == chosen
    nothing = {"selection": NO_SELECTION, "entry": None}
    assert await world.nobody().get(f"{PUBLIC}/selected/{ann.id}") == nothing
    assert await ann.do("PUT", SELECTION, {"source": None}) == NO_SELECTION
    assert await ann.get(SELECTION) == NO_SELECTION
    for body in (
        {"source": "native"},
        {"source": "external", "capeId": "x"},
        {"source": "odd", "capeId": NOBODY},
        {},
    ):
        assert await ann.refused("PUT", SELECTION, body) == (422, "VALIDATION_FAILED")
    assert await ann.refused("PUT", SELECTION, {"source": "native", "capeId": NOBODY}) == (404, "NOT_FOUND")
    for path in (
        f"{PUBLIC}/{NOBODY}",
        f"{PUBLIC}/{NOBODY}/texture.png",
        f"{PUBLIC}/odd",
        f"{PUBLIC}/selected/odd",
    ):
        assert await ann.refused("GET", path) == (404, "NOT_FOUND")
    assert await world.nobody().get(f"{PUBLIC}/selected/{NOBODY}") == nothing
