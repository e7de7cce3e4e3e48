"""Wire: what of a file is imported, and what is found in large catalogs."""

import json
from random import Random
from typing import Any

from actors.catalogs.finding import draw, search
from actors.catalogs.importing import CATALOGS_MAX, ITEMS_MAX, REFUSED_MAX, Imported
from tests.catalogs.play import ANIMALS, COW, COWBELL, FLAGS, HASH, PIRATES, SNOWMAN, lines, take_in
from tests.support.world import World


async def listed(world: World) -> dict[str, int]:
    return {one["slug"]: one["count"] for one in (await world.nobody().get("/v1/catalogs"))["items"]}


async def test_a_catalog_with_a_refused_line_stays_as_it_was(world: World) -> None:
    await take_in(world, *lines(ANIMALS, COW))
    bad = {"item": {"catalogSlug": "animals", "name": "", "texture": HASH}}
    reports = await take_in(
        world, b"", *lines(ANIMALS, COWBELL, COWBELL), bad, b"x" * 50_000, *lines(FLAGS, PIRATES)
    )
    (animals, flags) = reports
    assert (animals.slug, animals.items, flags) == ("animals", None, Imported("flags", 1))
    assert [(number, reason.partition(":")[0]) for number, reason in animals.refused] == [
        (4, "name"), (5, "name"), (6, "a line has at most 16 KiB"),
    ]  # fmt: skip
    assert await listed(world) == {"animals": 1, "flags": 1}
    assert (await world.nobody().get("/v1/head/search"))["entries"][0]["name"] == "Cow"

    (orphan, again) = await take_in(world, lines(ANIMALS, COW)[1], *lines(FLAGS))
    assert (orphan.slug, orphan.items, orphan.refused) == (None, None, ((1, "the first line is a catalog"),))
    assert again == Imported("flags", 0)
    assert await listed(world) == {"animals": 1, "flags": 0}


async def test_there_are_bounds(world: World) -> None:
    one = json.dumps({"item": {"catalogSlug": "animals", "name": "?", "texture": HASH}}).encode()
    many = [one.replace(b"?", b"%d" % number) for number in range(ITEMS_MAX + REFUSED_MAX + 1)]
    (report,) = await take_in(world, *lines(ANIMALS), *many)
    assert report.items is None
    assert [number for number, _ in report.refused] == list(range(ITEMS_MAX + 2, ITEMS_MAX + 2 + REFUSED_MAX))
    assert {reason for _, reason in report.refused} == {"a catalog has at most 100000 items"}

    catalogs = [{"catalog": {**FLAGS, "slug": f"flags-{number}"}} for number in range(CATALOGS_MAX + 1)]
    *stored, refused = await take_in(world, *catalogs)
    assert {report.items for report in stored} == {0}
    assert (refused.items, refused.refused) == (None, ((51, "there are 50 catalogs already"),))
    assert await take_in(world, catalogs[0]) == [Imported("flags-0", 0)]


def names(catalog: int) -> list[str]:
    """Names that share runs of all lengths, some in many of them."""
    random = Random(catalog)
    words = ["lantern", "lamp", "old golden lantern of the sea", "Pig", "pi", "\u00c9clair", "a_b%"]
    return [f"{' '.join(random.choices(words, k=3))} {number}" for number in range(250)]


async def test_searches_find_what_has_the_text_and_draws_are_fair(world: World) -> None:
    for catalog in range(2):
        head: dict[str, Any] = {"slug": f"heads-{catalog}", "name": "Heads", "kind": "head"}
        await take_in(world, *lines(head, *({"name": name, "texture": HASH} for name in names(catalog))))
    await take_in(world, *lines(ANIMALS, SNOWMAN), *lines(FLAGS, PIRATES))
    every = ["Snowman", *(name for catalog in range(2) for name in sorted(names(catalog), key=str.lower))]
    read = world.service.database.read

    random = Random(7)
    texts = [
        "",
        " ",
        "a",
        "\u00e9",
        "%",
        "_b",
        "pig pig",
        "sea 1",
        "an",
        "ant",
        "lantern",
        "old golden lantern",
    ]
    texts += [
        "old golden lantern of the sea old golden lantern of the sea",
        "no such",
        "\x1f",
        "pig\x1flamp",
        "nowman",
    ]
    for _ in range(60):
        name = random.choice(every)
        start = random.randrange(len(name))
        texts.append(name[start : start + random.randrange(1, 40)].upper())
    for text in texts:
        wanted = text.replace("\x1f", " ").strip().lower()
        matching = [name for name in every if wanted in name.lower()]
        limit, offset = random.randrange(1, 60), random.choice([0, 0, 3, 200, 10_000])
        found = await read(search, "head", text, limit, offset)
        assert found.total == len(matching), text
        assert [item.name for item in found.items] == matching[offset : offset + limit], text

    assert await read(draw, "head", None, 5, b"seed") == await read(draw, "head", None, 5, b"seed")
    drawn = [item for number in range(60) for item in await read(draw, "head", None, 50, b"%d" % number)]
    assert {item.name for item in drawn} == set(every)
    assert len(drawn) == 60 * 50
    for number in range(20):
        assert len({item.id for item in await read(draw, None, None, 50, b"%d" % number)}) == 50
