"""What both catalogues say of a mod, in one form."""

import json
from typing import Any

import pytest

from routes.mods.hits import Hit, curseforge_hits, kept_page, modrinth_hits, without_repeats
from routes.mods.requests import Unreadable

MODRINTH: dict[str, Any] = {
    "project_id": "AANobbMI", "slug": "sodium", "title": "Sodium", "description": "Fast.", "downloads": 12,
    "categories": ["optimization", "quilt", "fabric", "paper"], "versions": ["1.20", "1.21", "1.20"],
    "icon_url": "https://cdn.modrinth.com/i.png",
}  # fmt: skip
CURSEFORGE: dict[str, Any] = {
    "id": 394468, "slug": "sodium", "name": "Sodium", "summary": "Fast.", "downloadCount": 1.2e1,
    "logo": {"thumbnailUrl": "https://media.forgecdn.net/i.png"},
    "latestFilesIndexes": [
        {"gameVersion": "1.21", "modLoader": 4}, {"gameVersion": "1.20", "modLoader": 5},
        {"gameVersion": "1.21", "modLoader": 3}, {"gameVersion": "1.19"},
    ],
}  # fmt: skip


def of_modrinth(**changed: Any) -> Hit:
    body = {"hits": [MODRINTH | changed], "total_hits": 7}
    page = kept_page(modrinth_hits(json.dumps(body).encode()))
    assert page.total == 7
    return page.hits[0]


def of_curseforge(**changed: Any) -> Hit:
    body = {"data": [CURSEFORGE | changed], "pagination": {"totalCount": 7}}
    page = kept_page(curseforge_hits(json.dumps(body).encode()))
    assert page.total == 7
    return page.hits[0]


def test_a_mod_of_each() -> None:
    assert of_modrinth() == Hit(
        source="modrinth",
        project_id="AANobbMI",
        slug="sodium",
        name="Sodium",
        summary="Fast.",
        icon_url="https://cdn.modrinth.com/i.png",
        downloads=12,
        loaders=["fabric", "quilt"],
        game_versions=["1.20", "1.21"],
        distribution_allowed=True,
    )
    assert of_curseforge() == Hit(
        source="curseforge",
        project_id="394468",
        slug="sodium",
        name="Sodium",
        summary="Fast.",
        icon_url="https://media.forgecdn.net/i.png",
        downloads=12,
        loaders=["fabric", "quilt"],
        game_versions=["1.21", "1.20", "1.19"],
        distribution_allowed=True,
    )


@pytest.mark.parametrize(("said", "allowed"), [(False, False), (True, True), (None, True)])
def test_whether_others_may_give_its_files_away(said: bool | None, allowed: bool) -> None:
    assert of_curseforge(allowModDistribution=said).distribution_allowed is allowed


@pytest.mark.parametrize(
    "icon",
    [
        None,
        "",
        "http://cdn.modrinth.com/i.png",
        "javascript:alert(1)",
        "https://[",
        "https://x/" + "a" * 2048,
    ],
)
def test_an_icon_that_is_not_passed_on(icon: str | None) -> None:
    assert of_modrinth(icon_url=icon).icon_url is None
    assert of_curseforge(logo=None if icon is None else {"thumbnailUrl": icon}).icon_url is None


def test_what_a_mod_need_not_have() -> None:
    bare = of_modrinth(slug=None)
    assert bare.slug == "AANobbMI"
    assert of_curseforge(latestFilesIndexes=[], summary="", logo=None).loaders == []


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{}", b"<html>", b'{"hits":[{}],"total_hits":1}', b'{"hits":[],"total_hits":-1}', b"[" * 100_000,
        b'{"hits":null,"total_hits":1}', b'{"data":[{"id":"x"}],"pagination":{"totalCount":1}}',
        b'{"data":[],"pagination":{}}',
    ],
)  # fmt: skip
def test_what_is_no_search(body: bytes) -> None:
    for read in (modrinth_hits, curseforge_hits):
        with pytest.raises(Unreadable):
            read(body)


def test_each_mod_of_each_catalogue_once() -> None:
    first, second = of_modrinth(), of_curseforge()
    assert without_repeats([first, second, first, second]) == [first, second]
