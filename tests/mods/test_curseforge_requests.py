"""What is passed on to CurseForge: Minecraft's mods, and nothing else."""

from typing import Any

import pytest

from actors.errors import NotFound
from routes.edge.errors import BadQuery
from routes.mods.curseforge_requests import file_request, files_request, project_request, search_request

PLAIN: dict[str, Any] = {"version": None, "loader": None, "sort": "relevance", "limit": 20, "offset": 0}
MINECRAFT = [("gameId", "432"), ("classId", "6")]


@pytest.mark.parametrize(
    ("query", "given", "sent"),
    [
        (None, {}, [("index", "0"), ("pageSize", "20")]),
        (" map ", {"limit": 50}, [("searchFilter", "map"), ("index", "0"), ("pageSize", "50")]),
        (
            "a",
            {"version": "1.21", "loader": "neoforge"},
            [
                ("searchFilter", "a"),
                ("gameVersion", "1.21"),
                ("modLoaderType", "6"),
                ("index", "0"),
                ("pageSize", "20"),
            ],
        ),
        (
            "",
            {"sort": "downloads"},
            [("sortField", "6"), ("sortOrder", "desc"), ("index", "0"), ("pageSize", "20")],
        ),
        (
            "",
            {"sort": "name"},
            [("sortField", "4"), ("sortOrder", "asc"), ("index", "0"), ("pageSize", "20")],
        ),
        (None, {"offset": 9_990, "limit": 50}, [("index", "9990"), ("pageSize", "10")]),
    ],
)
def test_a_search_becomes_one_query_with_its_defaults_written_out(
    query: str | None, given: dict[str, Any], sent: list[tuple[str, str]]
) -> None:
    made = search_request(query, **(PLAIN | given))
    assert (made.path, made.fresh_seconds) == (("mods", "search"), 60)
    assert list(made.query) == [*MINECRAFT, *sent]


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("a" * 257, {}),
        ("a\0", {}),
        (None, {"loader": "fabric"}),
        (None, {"version": "1.21&gameId=1\n"}),
        (None, {"version": ""}),
        (None, {"offset": 10_000}),
        (None, {"offset": 10_001}),
        (None, {"offset": -1}),
    ],
)
def test_a_search_that_is_not_valid(query: str | None, given: dict[str, Any]) -> None:
    with pytest.raises(BadQuery):
        search_request(query, **(PLAIN | given))


def test_a_mod_and_its_files() -> None:
    assert project_request("238222").path == ("mods", "238222")
    assert file_request("238222", "5").path == ("mods", "238222", "files", "5")
    made = files_request("238222", version="1.21", loader="fabric", limit=1, offset=2)
    assert (made.path, made.fresh_seconds) == (("mods", "238222", "files"), 300)
    assert dict(made.query) == {"gameVersion": "1.21", "modLoaderType": "4", "index": "2", "pageSize": "1"}


@pytest.mark.parametrize(
    "id", ["", "0", "01", "-1", "1.0", "1e3", "x", "search", "featured", "１", "9" * 11, "1\n", "1/files"]
)
def test_an_id_is_a_number(id: str) -> None:
    for make in (lambda: project_request(id), lambda: file_request("1", id), lambda: file_request(id, "1")):
        with pytest.raises(NotFound):
            make()
