"""Wire: both catalogues in one list."""

from pathlib import Path
from typing import Any

import pytest
import trio

from scripts.upstreams.mods import SHOWN, many
from tests.mods.play import AWAY, SEARCH, Catalogues, arrived, open_catalogues
from tests.support.waiting import patience

BOTH = [{"source": "modrinth", "ok": True}, {"source": "curseforge", "ok": True}]


def names(page: Any) -> list[str]:
    """Of the hits: `m 100` for Example 100 at Modrinth."""
    return [f"{hit['source'][0]} {hit['name'].removeprefix('Example ')}" for hit in page["items"]]


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_they_take_turns(catalogues: Catalogues) -> None:
    page = await catalogues.get(SEARCH, limit=4)
    assert names(page) == ["m Lanterns", "c Lanterns", "m Swift Chunks", "c Swift Chunks"]
    assert (page["total"], page["limit"], page["offset"], page["sources"]) == (2 * len(SHOWN), 4, 0, BOTH)
    assert page["items"][1] == {
        "source": "curseforge", "projectId": "300001", "slug": "lanterns", "name": "Lanterns",
        "summary": "Light in the dark.", "iconUrl": "https://media.forgecdn.net/avatars/thumbnails/1.png",
        "downloads": 9_000_000, "loaders": ["fabric", "neoforge", "quilt"],
        "gameVersions": ["1.20.1", "1.21", "1.21.1"], "distributionAllowed": True,
    }  # fmt: skip
    assert await catalogues.get(SEARCH, limit=4) == page
    assert catalogues.asked == 2


@pytest.mark.parametrize(
    ("modrinth", "curseforge", "limit"), [(30, 30, 7), (3, 40, 10), (40, 3, 10), (25, 0, 9), (1, 1, 50)]
)
async def test_pages_are_one_list(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    modrinth: int,
    curseforge: int,
    limit: int,
) -> None:
    """Every mod of each catalogue once, in turns, and then alone."""
    async with open_catalogues(
        database_url, tmp_path, monkeypatch, modrinth=many(modrinth), curseforge=many(curseforge, first=500)
    ) as catalogues:
        found: list[str] = []
        total = modrinth + curseforge
        for offset in range(0, total + limit, limit):
            page = await catalogues.get(SEARCH, limit=limit, offset=offset)
            assert (page["total"], page["sources"]) == (total, BOTH)
            found += names(page)
        ranked = [(n, f"m {100 + n}") for n in range(modrinth)] + [
            (n, f"c {500 + n}") for n in range(curseforge)
        ]
        assert found == [name for _, name in sorted(ranked, key=lambda one: (one[0], one[1][0] == "c"))]


async def test_what_is_searched_for(catalogues: Catalogues) -> None:
    page = await catalogues.get(SEARCH, query="lant", loader="fabric", gameVersion="1.21")
    assert names(page) == ["m Lanterns", "c Lanterns"]
    ((_, one), (_, other)) = arrived(catalogues.modrinth.asked[0]), arrived(catalogues.curseforge.asked[0])
    facets = '[["categories:fabric"],["project_type:mod"],["versions:1.21"]]'
    assert one == {"query": "lant", "facets": facets, "index": "relevance", "offset": "0", "limit": "50"}
    assert other == {
        "gameId": "432", "classId": "6", "searchFilter": "lant", "gameVersion": "1.21", "modLoaderType": "4",
        "index": "0", "pageSize": "50",
    }  # fmt: skip


async def test_a_loader_alone(catalogues: Catalogues) -> None:
    """CurseForge cannot be asked for one, so what it has for others is left out here."""
    page = await catalogues.get(SEARCH, loader="forge", query="o")
    assert {hit["name"] for hit in page["items"]} == {"Map of All", "Own Files"}
    assert "modLoaderType" not in catalogues.curseforge.asked[0].query


@pytest.mark.parametrize("source", ["modrinth", "curseforge"])
async def test_one_of_them(catalogues: Catalogues, source: str) -> None:
    page = await catalogues.get(SEARCH, source=source, limit=3)
    assert [hit["source"] for hit in page["items"]] == [source] * 3
    assert page["sources"] == [{"source": source, "ok": True}]
    assert page["total"] == len(SHOWN)
    assert catalogues.asked == 1


@pytest.mark.parametrize("fault", ["403", "429", "500", "dropped", "endless", "html"])
@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_one_is_away(catalogues: Catalogues, fault: str) -> None:
    catalogues.curseforge.retry_after = "7"
    catalogues.curseforge.faults.add(fault)
    answer = await catalogues.ask(f"{SEARCH}?limit=3")
    page = answer.json()
    assert names(page) == ["m Lanterns", "m Swift Chunks", "m Map of All"]
    assert page["sources"] == [{"source": "modrinth", "ok": True}, {"source": "curseforge", "ok": False}]
    assert page["total"] == len(SHOWN)
    seconds = 7 if fault.isdigit() else 10
    assert answer.headers["cache-control"].startswith(f"public, max-age={seconds},")
    catalogues.seconds(seconds)
    assert (await catalogues.get(SEARCH, limit=3))["sources"] == BOTH
    assert len(catalogues.modrinth.asked) == 1


async def test_one_is_away_on_a_later_page(catalogues: Catalogues) -> None:
    """Pages are those of the other one then."""
    catalogues.curseforge.faults.add("500", times=9)
    pages = [await catalogues.get(SEARCH, limit=20, offset=offset) for offset in (0, 20, 40, 60, 80)]
    found = [name for page in pages for name in names(page)]
    assert len(found) == len(set(found)) == len(SHOWN)
    assert {page["total"] for page in pages} == {len(SHOWN)}


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_both_are_away(catalogues: Catalogues) -> None:
    catalogues.modrinth.retry_after = "9"
    for site in (catalogues.modrinth, catalogues.curseforge):
        site.faults.add("503")
    for _ in range(2):
        refused = await catalogues.ask(SEARCH)
        assert (refused.status_code, refused.json()["code"]) == AWAY
        assert (refused.headers["retry-after"], refused.json()["meta"]) == ("9", {"upstreamStatus": 503})
    assert catalogues.asked == 2


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_what_one_had_is_shown_while_it_is_away(catalogues: Catalogues) -> None:
    known = await catalogues.get(SEARCH, limit=3)
    catalogues.seconds(60)
    catalogues.modrinth.faults.add("503")
    old = await catalogues.ask(f"{SEARCH}?limit=3")
    assert old.json() == known
    assert (old.headers["age"], old.headers["cache-status"]) == ("60", "Partyline; fwd=miss")


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_an_age_is_that_of_the_older(catalogues: Catalogues) -> None:
    await catalogues.get(SEARCH, limit=3, source="modrinth")
    catalogues.seconds(20)
    both = await catalogues.ask(f"{SEARCH}?limit=3")
    assert (both.headers["age"], both.headers["cache-control"][:18]) == ("20", "public, max-age=60")
    same = await catalogues.ask(f"{SEARCH}?limit=3", if_none_match=both.headers["etag"])
    assert (same.status_code, same.headers["cache-status"]) == (304, "Partyline; hit; ttl=40")


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_many_who_search_are_one_request_to_each(catalogues: Catalogues) -> None:
    held = [site.faults.add("held") for site in (catalogues.modrinth, catalogues.curseforge)]
    pages: list[Any] = []

    async def search() -> None:
        pages.append(await catalogues.get(SEARCH, query="map"))

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(search)
            for one in held:
                await one.reached.wait()
            for _ in range(40):
                nursery.start_soon(search)
            for site in (catalogues.modrinth, catalogues.curseforge):
                site.faults.release()
    assert pages == [pages[0]] * 41
    assert catalogues.asked == 2


async def test_limits_are_moved_and_offsets_are_not(catalogues: Catalogues) -> None:
    assert (await catalogues.get(SEARCH, limit=101))["limit"] == 50
    assert len((await catalogues.get(SEARCH, limit=0))["items"]) == 1
    assert (await catalogues.get(SEARCH, offset=10_000))["items"] == []
    assert await catalogues.refused(f"{SEARCH}?offset=10001") == (400, "BAD_QUERY")
