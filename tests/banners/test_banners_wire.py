"""Wire: users design banners, look at them, and take them away."""

from io import BytesIO
from typing import Any

from PIL import Image

from actors.banners.designs import DYES
from tests.support.world import World

PATH = "/v1/profile/build-moe/banners"

DESIGN: dict[str, Any] = {
    "name": " Sunrise ",
    "baseColor": "black",
    "patterns": [
        {"pattern": "minecraft:stripe_top", "color": "red"},
        {"pattern": "bs", "color": "light_blue"},
    ],
}


async def test_a_banner_is_drawn_and_listed_until_it_is_deleted(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = await ann.do("POST", PATH, DESIGN, status=201)
    assert made["name"] == "Sunrise"
    assert made["patterns"] == [
        {"pattern": "stripe_top", "color": "red"},
        {"pattern": "stripe_bottom", "color": "light_blue"},
    ]
    assert (await ann.get(PATH))["items"] == [made]
    assert (await ben.get(PATH))["items"] == []

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

    again = await ben.do("POST", PATH, {**DESIGN, "name": "Mine"}, status=201)
    copy = await ben.ask("GET", again["imageUrl"].removeprefix(world.service.config.base_url))
    assert (copy.content, copy.headers["etag"]) == (shown.content, shown.headers["etag"])

    assert await ben.refused("DELETE", f"{PATH}/{made['id']}") == (404, "NOT_FOUND")
    await ann.do("DELETE", f"{PATH}/{made['id']}", status=204)
    assert (await ann.get(PATH))["items"] == []
    assert await ann.refused("GET", path) == (404, "NOT_FOUND")
