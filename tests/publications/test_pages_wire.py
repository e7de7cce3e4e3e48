"""Wire: the public page of a network, by its slug."""

import pytest

from tests.networks.play import network
from tests.publications.play import PUBLIC, flush, publish, push
from tests.support.world import World

PAGES = "/v1/public/connect/slugs"
SHARES = "/v1/profile/shares"


async def test_a_page_shows_what_the_network_does(world: World) -> None:
    ann, nobody = await world.player("Ann"), world.nobody()
    net = await network(ann)
    code = (await ann.do("POST", SHARES, {"name": "Pack", "manifest": {}}, status=201))["code"]
    shown = {
        "slug": "sky-1",
        "publicSummary": "Above",
        "publicProfileMode": "share_code",
        "publicProfileShareCode": code.lower(),
    }
    await ann.do("PATCH", net.path, shown, status=200)
    page = {
        "slug": "sky-1",
        "targetType": "network",
        "targetId": net.id,
        "publicSummary": "Above",
        "publication": None,
        "profileShareCode": code.lower(),
    }
    answer = await nobody.ask("GET", f"{PAGES}/sky-1")
    assert answer.json() == page
    assert answer.headers["cache-control"] == "public, max-age=5"
    etag = {"if-none-match": answer.headers["etag"]}
    assert (await nobody.ask("GET", f"{PAGES}/sky-1", headers=etag)).status_code == 304

    server = await net.server()
    made = await publish(ann, net)
    await push(server, 7)
    await flush(world)
    page["publication"] = await nobody.get(f"{PUBLIC}/{made['id']}")
    assert page["publication"]["playerCount"] == 7
    assert await nobody.get(f"{PAGES}/sky-1") == page
    await publish(ann, net, hidden=True)
    await ann.do("DELETE", f"{SHARES}/{code}", status=204)
    assert await nobody.get(f"{PAGES}/sky-1") == {**page, "publication": None, "profileShareCode": None}


async def test_a_code_that_is_not_to_be_shown_is_not(world: World) -> None:
    ann = await world.player("Ann")
    net = await network(ann)
    code = (await ann.do("POST", SHARES, {"name": "Pack", "manifest": {}}, status=201))["code"]
    shown = {"slug": "sky", "publicProfileMode": "none", "publicProfileShareCode": code}
    await ann.do("PATCH", net.path, shown, status=200)
    assert (await world.nobody().get(f"{PAGES}/sky"))["profileShareCode"] is None


@pytest.mark.parametrize("slug", ["sea", "Sky", "sk", "s" * 33, "sk%20y", "%00%00%00", "sky%0a"])
async def test_there_is_nothing_else(world: World, slug: str) -> None:
    ann = await world.player("Ann")
    await ann.do("PATCH", (await network(ann)).path, {"slug": "sky"}, status=200)
    assert await world.nobody().refused("GET", f"{PAGES}/{slug}") == (404, "NOT_FOUND")


async def test_a_slug_given_up_is_free_at_once(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    sky, sea = await network(ann), await network(ben)
    await ann.do("PATCH", sky.path, {"slug": "sky"}, status=200)
    await ann.do("PATCH", sky.path, {"slug": None}, status=200)
    assert await world.nobody().refused("GET", f"{PAGES}/sky") == (404, "NOT_FOUND")
    await ben.do("PATCH", sea.path, {"slug": "sky"}, status=200)
    assert (await world.nobody().get(f"{PAGES}/sky"))["targetId"] == sea.id
