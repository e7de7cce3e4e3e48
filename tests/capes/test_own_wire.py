"""Wire: uploads, terms and bounds; and that verdicts, edits and counts hold under a crowd."""

import pytest
import trio

from actors.capes.units_own import CAPES_MAX
from tests.capes.images import cape, data_url, hostile, of_bytes
from tests.capes.stage import ADMIN, OWN, PUBLIC, TERMS, cape_in, moderator, texture, upload
from tests.support.one_world import in_one_world
from tests.support.world import World


async def test_drafting_needs_no_terms_and_submitting_does(world: World):
    ann = await world.player("Ann")
    made = await upload(ann)
    terms = await ann.get(TERMS)
    assert terms == {
        "revision": 1, "accepted": False, "acceptedAt": None, "acceptedRevision": None,
        "url": f"{world.service.config.base_url}/terms/capes",
    }  # fmt: skip
    page = await world.nobody().ask("GET", terms["url"].removeprefix(world.service.config.base_url))
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert f"<p>Revision {terms['revision']}</p>" in page.text
    path = f"{OWN}/{made['id']}/submit"
    assert await ann.refused("POST", path) == (403, "TERMS_NOT_ACCEPTED")
    assert await ann.refused("POST", f"{TERMS}/accept", {"revision": 2}) == (409, "INVALID_STATE")
    accepted = await ann.do("POST", f"{TERMS}/accept", {"revision": 1}, status=200)
    assert (accepted["accepted"], accepted["acceptedRevision"]) == (True, 1)
    world.clock.advance(5_000)
    assert await ann.do("POST", f"{TERMS}/accept") == accepted == await ann.get(TERMS)
    assert (await ann.do("POST", path))["status"] == "pending"


async def test_older_terms_do_not_count(world: World, monkeypatch: pytest.MonkeyPatch):
    ann = await world.player("Ann")
    await ann.do("POST", f"{TERMS}/accept")
    for module in ("actors.capes.terms", "routes.capes.terms"):
        monkeypatch.setattr(f"{module}.TERMS_REVISION", 2)
    terms = await ann.get(TERMS)
    assert (terms["revision"], terms["accepted"], terms["acceptedRevision"]) == (2, False, 1)
    made = await upload(ann)
    assert await ann.refused("POST", f"{OWN}/{made['id']}/submit") == (403, "TERMS_NOT_ACCEPTED")


@pytest.mark.both_edges
async def test_an_uploaded_cape_is_a_draft_of_its_owner(world: World):
    ann = await world.player("Ann")
    made = await upload(ann, name="  Phoenix  ", description=" burns\nbrightly ")
    assert (made["name"], made["description"]) == ("Phoenix", "burns\nbrightly")
    assert (made["status"], made["mine"], made["selected"], made["moderation"]) == (
        "draft",
        True,
        False,
        None,
    )
    assert (await ann.get(OWN)) == {"entries": [made], "total": 1, "limit": 50, "offset": 0}
    assert (await ann.get(OWN, offset=7)) == {"entries": [], "total": 1, "limit": 50, "offset": 7}
    bare = await ann.do("POST", OWN, {"name": "Bare", "texture": texture()}, status=201)
    assert bare["description"] == ""


@pytest.mark.both_edges
@in_one_world(
    ("change", "pointer"),
    [
        ({"name": " "}, "/name"), ({"name": "a\u202eb"}, "/name"), ({"name": "a\nb"}, "/name"),
        ({"name": "x" * 65}, "/name"), ({"description": "x" * 501}, "/description"),
        ({"description": "a\u0007b"}, "/description"), ({"texture": None}, "/texture"),
        ({"texture": {}}, "/texture/dataUrl"), ({"texture": {"dataUrl": "x"}}, "/texture/dataUrl"),
        ({"texture": {"dataUrl": data_url(cape(63, 32))}}, "/texture/dataUrl"),
        ({"texture": {"dataUrl": data_url(hostile()["zTXt bomb"])}}, "/texture/dataUrl"),
    ],
)  # fmt: skip
async def test_uploads_that_are_refused(world: World, change: dict[str, object], pointer: str):
    ann = await world.player("Ann")
    body = {"name": "Phoenix", "description": "", "texture": texture(), **change}
    response = await ann.ask("POST", OWN, body)
    assert (response.status_code, [error["pointer"] for error in response.json()["errors"]]) == (
        422,
        [pointer],
    )
    if change != {"texture": None}:
        made = await upload(ann)
        assert (await ann.ask("PATCH", f"{OWN}/{made['id']}", change)).status_code == 422
        assert await ann.get(f"{OWN}/{made['id']}") == made


@pytest.mark.both_edges
async def test_too_many_bytes(world: World):
    ann = await world.player("Ann")
    for extra in (512 * 1024, 2 << 20):
        large = {"name": "x", "texture": {"dataUrl": data_url(cape() + bytes(extra))}}
        assert await ann.refused("POST", OWN, large) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.both_edges
@in_one_world(("over", "status"), [(0, 201), (1, 413), (2, 413), (3, 413)])
async def test_the_last_byte_that_fits(world: World, over: int, status: int):
    ann = await world.player("Ann")
    body = {"name": "x", "texture": {"dataUrl": data_url(of_bytes(512 * 1024 + over))}}
    assert (await ann.ask("POST", OWN, body)).status_code == status


async def test_a_repeat_makes_no_second_cape(world: World):
    ann = await world.player("Ann")
    body = {"name": "Phoenix", "texture": texture()}
    key = {"idempotency-key": "once"}
    first, second = [await ann.ask("POST", OWN, body, headers=key) for _ in range(2)]
    assert first.json() == second.json()
    assert (await ann.get(OWN))["total"] == 1


@in_one_world("state", ["draft", "pending", "approved"])
async def test_a_cape_is_changed_by_its_owner_alone(world: World, state: str):
    ann, eve, mod = await world.player("Ann"), await world.player("Eve"), await moderator(world)
    path = f"{OWN}/{(await cape_in(state, ann, mod))['id']}"
    kept = await ann.get(path)
    await eve.do("POST", f"{TERMS}/accept")
    for stranger in (eve, mod):
        for method, where, body in (
            ("GET", path, None),
            ("PATCH", path, {"name": "Mine"}),
            ("POST", f"{path}/submit", None),
            ("POST", f"{path}/withdraw", None),
            ("DELETE", path, None),
        ):
            assert await stranger.refused(method, where, body) == (404, "NOT_FOUND"), (
                stranger.name,
                method,
                where,
            )
    assert await ann.get(path) == kept


async def test_another_texture_is_another_picture(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    wanted = await cape_in("approved", ann, mod, texture=texture(100))
    made = await upload(ann)
    path = f"{OWN}/{made['id']}"
    await ann.do("PATCH", path, {"texture": texture(100)})
    await ann.do("POST", f"{path}/submit")
    await mod.do("PATCH", f"{ADMIN}/{made['id']}", {"status": "approved"})
    for field in ("textureUrl", "previewTextureUrl"):
        shown = [(await ann.get(f"{OWN}/{one['id']}"))[field] for one in (wanted, made)]
        paths = [url.removeprefix(world.service.config.base_url) for url in shown]
        first, second = [await world.nobody().ask("GET", path) for path in paths]
        assert (second.status_code, second.content) == (200, first.content)


async def test_one_user_has_a_bounded_number(world: World):
    ann = await world.player("Ann")
    made = await upload(ann)
    await world.service.database.transact(_copies, made["id"], CAPES_MAX - 3)
    statuses: list[int] = []

    async def one() -> None:
        body = {"name": "Phoenix", "texture": texture()}
        statuses.append((await ann.ask("POST", OWN, body)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(one)
    assert sorted(statuses) == [201, 201] + [422] * 6
    assert (await ann.get(OWN, limit=1))["total"] == CAPES_MAX


async def test_an_edit_and_a_verdict_never_cross(world: World):
    """Whatever comes first: what is approved is what the moderator saw, and the counts are those of the rows."""
    ann, mod = await world.player("Ann"), await moderator(world)
    for _ in range(5):
        made = await cape_in("pending", ann, mod)
        path = f"{OWN}/{made['id']}"
        version = (await mod.get(ADMIN, status="pending"))["entries"][0]["textureVersion"]

        async def switch(path: str = path) -> None:
            await ann.ask("POST", f"{path}/withdraw")
            await ann.ask("PATCH", path, {"texture": texture(7)})
            await ann.ask("POST", f"{path}/submit")

        async def approve(id: str = made["id"], version: str = version) -> None:
            await mod.ask("PATCH", f"{ADMIN}/{id}", {"status": "approved", "textureVersion": version})

        async with trio.open_nursery() as nursery:
            nursery.start_soon(switch)
            nursery.start_soon(approve)
        after = await ann.get(path)
        assert after["status"] != "approved" or after["textureUrl"] == made["textureUrl"]
        await ann.do("DELETE", path)
    assert (await world.nobody().get(PUBLIC))["total"] == (await mod.get(ADMIN))["total"] == 0


async def test_counts_and_users_that_go(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    for state in ("approved", "approved", "blocked"):
        await cape_in(state, ann, mod)
    assert (await mod.get(ADMIN))["total"] == 3
    await world.service.database.transact(_forget, ann.id)
    assert (await world.nobody().get(PUBLIC))["total"] == (await mod.get(ADMIN))["total"] == 0


async def _copies(conn, id: str, number: int) -> None:
    await conn.execute(
        "INSERT INTO capes (id, owner_id, creator, name, description, status, texture_sha256, created_at_ms,"
        " updated_at_ms, words, creator_lower) SELECT lpad(n::text, 36, '0'), owner_id, creator, name, description,"
        " status, texture_sha256, created_at_ms, updated_at_ms, words, creator_lower"
        " FROM capes, generate_series(1, $2::int) AS n WHERE id = $1",
        id,
        number,
    )


async def _forget(conn, user_id: str) -> None:
    await conn.execute("DELETE FROM users WHERE id = $1", user_id)
