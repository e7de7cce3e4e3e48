"""Wire: users design banners, look at them, and take them away."""

from io import BytesIO

import trio
from PIL import Image

from actors.banners.designs import DYES
from tests.banners.play import BANNERS, DESIGN
from tests.support.world import World


async def test_a_banner_is_drawn_and_listed_until_it_is_deleted(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = await ann.do("POST", BANNERS, DESIGN, status=201)
    assert made["name"] == "Sunrise"
    assert made["patterns"] == [
        {"pattern": "stripe_top", "color": "red"},
        {"pattern": "stripe_bottom", "color": "light_blue"},
    ]
    assert (await ann.get(BANNERS))["items"] == [made]
    assert (await ben.get(BANNERS))["items"] == []

    path = made["imageUrl"].removeprefix(world.service.config.base_url)
    shown = await world.nobody().ask("GET", path)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert shown.headers["cache-control"] == "public, max-age=86400, immutable"
    image = Image.open(BytesIO(shown.content)).convert("RGB")
    assert image.size == (200, 400)
    dyes = [DYES["red"], DYES["black"], DYES["light_blue"]]
    assert [image.getpixel((100, y)) for y in (0, 200, 399)] == dyes
    known = {"if-none-match": shown.headers["etag"]}
    assert (await world.nobody().ask("GET", path, headers=known)).status_code == 304

    again = await ben.do("POST", BANNERS, {**DESIGN, "name": "Mine"}, status=201)
    copy = await ben.ask("GET", again["imageUrl"].removeprefix(world.service.config.base_url))
    assert (copy.content, copy.headers["etag"]) == (shown.content, shown.headers["etag"])

    assert await ben.refused("DELETE", f"{BANNERS}/{made['id']}") == (404, "NOT_FOUND")
    await ann.do("DELETE", f"{BANNERS}/{made['id']}", status=204)
    assert (await ann.get(BANNERS))["items"] == []
    assert await ann.refused("GET", path) == (404, "NOT_FOUND")


async def test_there_are_no_more_than_the_quota_allows(world: World) -> None:
    ann = await world.player("Ann")
    await world.grant(ann, "profile:banners.max", value=3)
    statuses: list[int] = []

    async def design() -> None:
        answer = await ann.ask("POST", BANNERS, DESIGN)
        statuses.append(answer.status_code)
        if answer.status_code == 422:
            assert (answer.json()["code"], answer.json()["meta"]) == ("QUOTA_EXCEEDED", {"max": 3})

    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(design)
    assert sorted(statuses) == [201] * 3 + [422] * 3
    first = await ann.get(BANNERS, limit=2)
    rest = await ann.get(BANNERS, limit=2, cursor=first["nextCursor"])
    assert (len(first["items"]), first["hasMore"], rest["hasMore"]) == (2, True, False)
    assert len({banner["id"] for banner in first["items"] + rest["items"]}) == 3
    await ann.do("DELETE", f"{BANNERS}/{first['items'][0]['id']}", status=204)
    await ann.do("POST", BANNERS, DESIGN, status=201)
