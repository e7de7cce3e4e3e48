"""Wire: lists of articles and the feed: what is in them, page by page, and what one follows."""

import pytest

from persistence.news import listing
from tests.connect.play import claimed
from tests.news.play import FEED, FOLLOWS, GLOBAL, NEWS, PUBLIC, editor, follow, network, titles, write
from tests.support.world import World


async def test_articles_for_signed_in_readers_are_not_public(world: World) -> None:
    ed, nobody = await editor(world), world.nobody()
    made = await write(ed, visibility="authenticated")
    assert await titles(ed, NEWS) == ["Hello"]
    assert await titles(nobody, PUBLIC) == []
    assert await nobody.refused("GET", f"{PUBLIC}/{made['id']}") == (404, "NOT_FOUND")


@pytest.mark.parametrize("few", [0, listing.FEW])
async def test_lists_are_filtered_and_paged(world: World, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """By a tag that few have, and by one that many have."""
    monkeypatch.setattr(listing, "FEW", few)
    ed, ann = await editor(world), await world.player("Ann")
    scope = await network(ann)
    for number in range(5):
        world.advance(10)
        await write(ed, f"g{number}", category="a" if number % 2 else "b", tags=["x"], pinned=number == 1)
    await write(ann, "n", scope=scope, locale="de", pinned=True)
    everything = ["g1", "n", "g4", "g3", "g2", "g0"]
    for path in (NEWS, PUBLIC):
        assert await titles(ann, path) == everything
        assert await titles(ann, path, category="A") == ["g1", "g3"]
        assert await titles(ann, path, tag="X") == ["g1", "g4", "g3", "g2", "g0"]
        assert await titles(ann, path, tag="y") == []
        assert await titles(ann, path, tag="x", category="b", scopeType="global") == ["g4", "g2", "g0"]
        assert await titles(ann, path, locale="de") == ["n"]
        assert await titles(ann, path, scopeType="global") == ["g1", "g4", "g3", "g2", "g0"]
        assert await titles(ann, path, scopeType="network", scopeId=scope["id"]) == ["n"]
        assert await titles(ann, path, scopeType="network") == ["n"]
        assert await titles(ann, path, scopeType="server") == []
    await write(ed, "d", status="draft", tags=["x"])
    assert await titles(ed, NEWS, status="draft", tag="x") == ["d"]
    for path, query in ((NEWS, {}), (PUBLIC, {}), (NEWS, {"scopeType": "global"}), (FEED, {})):
        met, cursor = [], None
        while True:
            page = await ann.get(path, limit=2, **query, **({"cursor": cursor} if cursor else {}))
            met += [item["title"] for item in page["items"]]
            cursor = page["nextCursor"]
            if not page["hasMore"]:
                break
        assert met == [title for title in everything if (path != FEED and not query) or title != "n"]


@pytest.mark.parametrize(("body", "fitting"), [("&a;" * 10_000, 10), ("\u754c" * 10_900, 16)])
async def test_a_page_is_bounded_in_bytes(world: World, body: str, fitting: int) -> None:
    ed = await editor(world)
    for number in range(fitting + 2):
        await write(ed, f"{number}", body=body)
    for path in (PUBLIC, FEED):
        page = await ed.get(path, limit=100)
        assert (len(page["items"]), page["hasMore"]) == (fitting, True)
        rest = await ed.get(path, limit=100, cursor=page["nextCursor"])
        assert (len(rest["items"]), rest["hasMore"]) == (2, False)


async def test_the_feed_has_what_one_follows(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    ed, mine, server = await editor(world), await network(ann), await claimed(world, ann)
    of_server = {"type": "server", "id": server.id}
    for number, more in enumerate(
        (
            {"scope": GLOBAL},
            {"scope": mine},
            {"scope": of_server, "category": "c"},
            {"scope": mine, "category": "d"},
        )
    ):
        world.advance(10)
        await write(ann if number else ed, f"{number}", **more)
    assert await titles(ben, FEED) == ["0"]
    for follows, expected in (
        ([mine], ["3", "1", "0"]),
        ([of_server], ["2", "0"]),
        ([{"type": "category", "id": "D"}], ["3", "0"]),
        ([{"type": "category", "id": "d"}, mine, of_server, mine], ["3", "2", "1", "0"]),
    ):
        await follow(ben, *follows)
        assert await titles(ben, FEED) == expected
    assert (await ben.get(FOLLOWS))["items"] == [{"type": "category", "id": "d"}, mine, of_server]
    await follow(ben)
    assert await titles(ben, FEED) == ["0"]


@pytest.mark.parametrize("few", [0, listing.FEW])
async def test_the_feed_is_filtered_like_lists(
    world: World, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Within what one follows: a filter brings in nothing else."""
    monkeypatch.setattr(listing, "FEW", few)
    ed, ann, ben = await editor(world), await world.player("Ann"), await world.player("Ben")
    followed, other, server = await network(ann), await network(ann, "Other"), await claimed(world, ann)
    await write(ed, "global", category="a", tags=["x"])
    await write(ann, "followed", scope=followed, category="a", tags=["x"], locale="de", pinned=True)
    await write(ann, "other", scope=other, category="a", tags=["x"], locale="de")
    await write(ann, "server", scope={"type": "server", "id": server.id}, category="b", tags=["x", "y"])
    await follow(ben, followed, {"type": "category", "id": "b"})
    for query, expected in (
        ({}, {"global", "followed", "server"}),
        ({"category": "A"}, {"global", "followed"}),
        ({"tag": "X"}, {"global", "followed", "server"}),
        ({"tag": "y"}, {"server"}),
        ({"tag": "x", "category": "a", "scopeType": "network"}, {"followed"}),
        ({"tag": "none"}, set()),
        ({"locale": "de"}, {"followed"}),
        ({"scopeType": "global"}, {"global"}),
        ({"scopeType": "server"}, {"server"}),
        ({"scopeType": "network", "scopeId": followed["id"]}, {"followed"}),
        ({"scopeType": "network", "scopeId": other["id"]}, set()),
    ):
        assert set(await titles(ben, FEED, **query)) == expected, query
    page = await ben.get(FEED, tag="x", limit=2)
    rest = await ben.get(FEED, tag="x", limit=2, cursor=page["nextCursor"])
    met = [item["title"] for item in (*page["items"], *rest["items"])]
    assert (set(met), len(met), rest["hasMore"]) == ({"global", "followed", "server"}, 3, False)
    assert await ben.refused("GET", f"{FEED}?scopeType=planet") == (400, "BAD_QUERY")


async def test_follows_that_are_refused(world: World) -> None:
    ann = await world.player("Ann")
    for items, pointer, code in (
        ([{"type": "category", "id": f"c{number}"} for number in range(201)], "/items", "TOO_MANY"),
        ([{"type": "network", "id": ann.id}], "/items/0/id", "UNKNOWN"),
        ([{"type": "server", "id": "x"}], "/items/0/id", "UNKNOWN"),
        ([{"type": "category", "id": " "}], "/items/0/id", "REQUIRED"),
    ):
        answer = await ann.ask("PUT", FOLLOWS, {"items": items})
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["pointer"], error["code"]) == (422, pointer, code)
    assert (await ann.get(FOLLOWS))["items"] == []
