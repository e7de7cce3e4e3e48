"""Wire: catalogs that were imported are listed, searched and drawn from."""

from io import BytesIO
from typing import Any

from PIL import Image

from actors.banners.designs import DYES
from actors.catalogs.importing import Imported
from tests.catalogs.play import ANIMALS, COW, COWBELL, FLAGS, HASH, PIRATES, SNOWMAN, lines, take_in
from tests.support.world import Player, World


async def found(player: Player, query: str, **more: Any) -> list[str]:
    page = await player.get("/v1/head/search", query=query, **more)
    return [entry["name"] for entry in page["entries"]]


async def test_what_was_imported_is_listed_found_and_drawn(world: World) -> None:
    nobody = world.nobody()
    assert await nobody.get("/v1/catalogs") == {"items": []}
    assert (await nobody.get("/v1/head/search"))["total"] == 0
    for path in ("/v1/head/random", "/v1/banner/random", "/v1/public/catalogs/animals/random"):
        assert await nobody.refused("GET", path) == (404, "NOT_FOUND")

    reports = await take_in(world, *lines(ANIMALS, SNOWMAN, COWBELL, COW), *lines(FLAGS, PIRATES))
    assert reports == [Imported("animals", 3), Imported("flags", 1)]
    listed = await nobody.ask("GET", "/v1/catalogs")
    assert listed.json()["items"] == [
        {"slug": "animals", "name": "Animals", "kind": "head", "count": 3},
        {"slug": "flags", "name": "Flags", "kind": "banner", "count": 1},
    ]
    assert listed.headers["cache-control"] == "public, no-cache"
    known = {"if-none-match": listed.headers["etag"]}
    assert (await nobody.ask("GET", "/v1/catalogs", headers=known)).status_code == 304

    assert await found(nobody, "") == ["Cow", "Cowbell", "Snowman"]
    assert await found(nobody, "COW") == ["Cow", "Cowbell"]
    assert await found(nobody, "ow") == ["Cow", "Cowbell", "Snowman"]
    assert await found(nobody, "cowb") == await found(nobody, "music") == ["Cowbell"]
    assert (
        await found(nobody, "cowx")
        == await found(nobody, "pirates")
        == await found(nobody, "animalsfarm")
        == []
    )
    page = await nobody.get("/v1/head/search", query="o", limit=1, offset=1)
    assert (page["total"], page["limit"], page["offset"]) == (3, 1, 1)
    (cowbell,) = page["entries"]
    assert cowbell["textureUrl"] == "https://textures.minecraft.net/texture/" + "f" * 64
    assert await nobody.get(f"/v1/head/{cowbell['id']}") == cowbell
    assert await nobody.refused("GET", f"/v1/banner/{cowbell['id']}") == (404, "NOT_FOUND")
    assert await nobody.refused("GET", f"/v1/head/{'0' * 24}") == (404, "NOT_FOUND")

    for path, count in (
        ("/v1/head/random", 3),
        ("/v1/public/catalogs/animals/random", 3),
        ("/v1/banner/random", 1),
    ):
        drawn = await nobody.ask("GET", f"{path}?count=50")
        assert drawn.headers["cache-control"] == "no-store"
        assert "etag" not in drawn.headers
        assert len({item["id"] for item in drawn.json()["items"]}) == len(drawn.json()["items"]) == count
    assert len((await nobody.get("/v1/head/random"))["items"]) == 1


async def test_a_banner_of_a_catalog_has_its_design_and_picture(world: World) -> None:
    nobody, ann = world.nobody(), await world.player("Ann")
    await take_in(world, *lines(FLAGS, PIRATES))
    (pirates,) = (await nobody.get("/v1/banner/search", query="sea"))["entries"]
    assert pirates["patterns"] == [{"pattern": "skull", "color": "white"}]
    assert (pirates["baseColor"], pirates["catalogSlug"], pirates["textureUrl"]) == ("black", "flags", None)
    assert await nobody.get(f"/v1/banner/{pirates['id']}") == pirates
    path = pirates["imageUrl"].removeprefix(world.service.config.base_url)
    shown = await nobody.ask("GET", path)
    assert shown.headers["cache-control"] == "public, max-age=3600"
    image = Image.open(BytesIO(shown.content)).convert("RGB")
    assert {image.getpixel((x, y)) for x in range(200) for y in range(400)} == {DYES["black"], DYES["white"]}
    known = {"if-none-match": shown.headers["etag"]}
    assert (await nobody.ask("GET", path, headers=known)).status_code == 304

    own = await ann.do("POST", "/v1/profile/build-moe/banners", {"name": "Mine", "baseColor": "red"})
    entry = await nobody.get(f"/v1/banner/{own['id']}")
    assert (entry["name"], entry["imageUrl"], entry["catalogSlug"]) == ("Mine", own["imageUrl"], None)
    assert (await nobody.get("/v1/banner/search"))["total"] == 1


async def test_an_import_replaces_a_catalog_and_keeps_the_ids_of_names(world: World) -> None:
    nobody = world.nobody()
    await take_in(world, *lines(ANIMALS, COW, COWBELL))
    first = (await nobody.get("/v1/head/search", query="cow"))["entries"]
    assert await take_in(
        world, *lines({**ANIMALS, "name": "Beasts"}, SNOWMAN, {**COW, "texture": "b" * 64})
    ) == [Imported("animals", 2)]
    assert await found(nobody, "") == ["Cow", "Snowman"]
    (cow,) = (await nobody.get("/v1/head/search", query="cow"))["entries"]
    assert (cow["id"], cow["textureUrl"][-64:]) == (first[0]["id"], "b" * 64)
    assert first[0]["textureUrl"].endswith(HASH)
    assert await nobody.refused("GET", f"/v1/head/{first[1]['id']}") == (404, "NOT_FOUND")
    assert [one["name"] for one in (await nobody.get("/v1/catalogs"))["items"]] == ["Beasts"]
