"""What is passed on to Modrinth, in one form for all that ask the same, and what is not."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import NotFound
from routes.edge.declare.query import QueryPlan
from routes.edge.errors import BadQuery
from routes.mods.modrinth_requests import ModrinthQuery, modrinth_request
from routes.mods.requests import ModRequest

SHA1, SHA512 = "0123456789abcdef0123456789abcdef01234567", "0f" * 64
SEARCHED = [("index", "relevance"), ("offset", "0"), ("limit", "10")]

PLAN = QueryPlan.of(ModrinthQuery)


def request(path: str, pairs: list[tuple[str, str]]) -> ModRequest:
    query = PLAN.decode(urlencode(pairs).encode())
    assert isinstance(query, ModrinthQuery)
    return modrinth_request(path, query)


@pytest.mark.parametrize(
    ("path", "given_", "sent", "seconds"),
    [
        ("search", {}, SEARCHED, 60),
        ("search", {"query": "  map ü "}, [("query", "map ü"), *SEARCHED], 60),
        (
            "search",
            {"limit": "101", "offset": "10000"},
            [*SEARCHED[:1], ("offset", "10000"), ("limit", "100")],
            60,
        ),
        (
            "search",
            {"limit": "0", "index": "newest"},
            [("index", "newest"), ("offset", "0"), ("limit", "1")],
            60,
        ),
        (
            "search",
            {"facets": '[["versions:1.21"], ["categories:quilt","categories:fabric","categories:quilt"]]'},
            [("facets", '[["categories:fabric","categories:quilt"],["versions:1.21"]]'), *SEARCHED],
            60,
        ),
        ("tag/category", {"query": "x"}, [], 86_400),
        ("tag/game_version", {}, [], 86_400),
        ("project/AANobbMI", {"ids": "x", "unknown": "y"}, [], 300),
        ("project/fabric-api", {}, [], 300),
        ("project/fabric-api/dependencies", {}, [], 300),
        ("project/fabric-api/members", {}, [], 300),
        (
            "project/P7dR8mSH/version",
            {"loaders": '["quilt","fabric"]', "game_versions": '["1.21"]', "featured": "TRUE"},
            [("loaders", '["fabric","quilt"]'), ("game_versions", '["1.21"]'), ("featured", "true")],
            300,
        ),
        ("project/P7dR8mSH/version", {"include_changelog": "0"}, [("include_changelog", "false")], 300),
        ("project/P7dR8mSH/version", {"include_changelog": "1"}, [], 300),
        ("projects", {"ids": '["b-slug","AANobbMI","b-slug"]'}, [("ids", '["AANobbMI","b-slug"]')], 300),
        ("version/AANobbMI", {}, [], 300),
        ("versions", {"ids": '["AANobbMI"]'}, [("ids", '["AANobbMI"]')], 300),
        (f"version_file/{SHA1.upper()}", {}, [("algorithm", "sha1")], 300),
        (f"version_file/{SHA512}", {"algorithm": "sha1"}, [("algorithm", "sha512")], 300),
    ],
)
def test_what_is_passed_on(
    path: str, given_: dict[str, str], sent: list[tuple[str, str]], seconds: int
) -> None:
    made = request(path, list(given_.items()))
    assert (list(made.query), made.fresh_seconds) == (sent, seconds)
    assert "/".join(made.path) == (path.lower() if path.startswith("version_file") else path)


@pytest.mark.parametrize(
    "path",
    [
        "", "searches", "search/x", "Search", "tag", "tag/donation_platform", "tag/category/x", "project", "project/ab",
        "project/...", "project/a b c", "project/P7dR8mSH/versions", "project/P7dR8mSH/version/1.0", "../search",
        "project/P7dR8mSH/follow", "project/P7dR8mSH/check", "version/abc", "version/AANobbMI9", "version/AANobbM-",
        "version_file/abc", f"version_file/{SHA1}0", f"version_file/{SHA1}/update", "version_files", "users", "user",
        "user/me", "auth/init", "statistics", "search/", "/search", "project/P7dR8mSH\n", "project/@evil", "v2/search",
        "project/a%2fb", "project/" + "a" * 65, "version/AANobbMＩ", f"version_file/{SHA1[:-1]}é", "reports",
    ],
)  # fmt: skip
def test_no_other_path_is(path: str) -> None:
    with pytest.raises(NotFound):
        request(path, [("ids", '["AANobbMI"]')])


@pytest.mark.parametrize(
    ("path", "name", "text"),
    [
        ("search", "offset", "10001"),
        ("search", "offset", "-1"),
        ("search", "offset", "x"),
        ("search", "limit", "x"),
        ("search", "index", "random"),
        ("search", "query", "a" * 257),
        ("search", "query", "a\x07b"),
        ("search", "query", "a\r\nb"),
        ("search", "facets", "x"),
        ("search", "facets", "[]"),
        ("search", "facets", "[[]]"),
        ("search", "facets", '["categories:fabric"]'),
        ("search", "facets", '[["categories"]]'),
        ("search", "facets", '[["categories:"]]'),
        ("search", "facets", '[["categories:a\\"b"]]'),
        ("search", "facets", '[["Categories:a"]]'),
        ("search", "facets", '[[["categories:a"]]]'),
        ("search", "facets", '[["categories:a",1]]'),
        ("search", "facets", '{"categories":"a"}'),
        ("search", "facets", json.dumps([["categories:" + "a" * 100]])),
        ("search", "facets", json.dumps([["a:b"]] * 17)),
        ("search", "facets", json.dumps([["a:b"] * 33])),
        ("search", "facets", "[" * 8_000),
        ("search", "facets", '[["a:b"]]' + " " * 8_192),
        ("search", "facets", '[["a:\\ud800"]]'),
        ("projects", "ids", ""),
        ("projects", "ids", "[]"),
        ("projects", "ids", '["a/b"]'),
        ("projects", "ids", '"AANobbMI"'),
        ("projects", "ids", json.dumps(["AANobbMI"] * 101)),
        ("versions", "ids", '["slug-of-it"]'),
        ("versions", "limit", "5"),
        ("project/P7dR8mSH/version", "loaders", '["a\\nb"]'),
        ("project/P7dR8mSH/version", "game_versions", '[""]'),
        ("project/P7dR8mSH/version", "featured", "maybe"),
        ("project/P7dR8mSH/version", "include_changelog", "2"),
    ],
)
def test_what_is_not_valid(path: str, name: str, text: str) -> None:
    with pytest.raises(BadQuery):
        request(path, [(name, text)])


@pytest.mark.parametrize(
    "facet",
    ["categories:fabric", "versions:24w14a", "versions:1.21 Pre-Release 1", "downloads>=1000", "follows > 3"],
)  # fmt: skip
def test_facets_of_all_forms(facet: str) -> None:
    assert dict(request("search", [("facets", json.dumps([[facet]]))]).query)["facets"] == json.dumps(
        [[facet]]
    )


facets = st.lists(
    st.lists(
        st.sampled_from(["categories:fabric", "categories:quilt", "versions:1.21"]), min_size=1, max_size=3
    ),
    min_size=1,
    max_size=3,
)
asked = st.fixed_dictionaries(
    {},
    optional={
        "query": st.sampled_from(["map", "Map", "ma", "map of", "ü"]),
        "facets": facets,
        "index": st.sampled_from(["relevance", "downloads"]),
        "offset": st.integers(0, 3),
        "limit": st.sampled_from([1, 10, 100, 101]),
    },
)


def meaning(given_: dict[str, Any]) -> Any:
    """What is asked for, by the words of Modrinth's documentation."""
    groups = frozenset(map(frozenset, given_.get("facets", [])))
    return (
        given_.get("query", ""),
        groups,
        given_.get("index", "relevance"),
        given_.get("offset", 0),
        min(given_.get("limit", 10), 100),
    )


def pairs_of(given_: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, json.dumps(value) if name == "facets" else str(value)) for name, value in given_.items()]


@given(asked, asked, st.randoms(), st.sampled_from(["", "fbclid", "x-api-key", "path"]))
def test_equal_queries_share_an_answer_and_others_never_do(
    one: dict[str, Any], other: dict[str, Any], random: Any, stranger: str
) -> None:
    first = request("search", pairs_of(one))
    written = pairs_of(one)
    random.shuffle(written)
    if stranger:
        written.insert(random.randrange(len(written) + 1), (stranger, "1"))
    again = request("search", written)
    assert (again, hash(again)) == (first, hash(first))
    assert (request("search", pairs_of(other)) == first) == (meaning(one) == meaning(other))


@given(
    st.sampled_from(["projects", "versions"]),
    st.lists(st.sampled_from(["AANobbMI", "P7dR8mSH", "aanobbmi"]), min_size=1),
)
def test_ids_share_an_answer_in_any_order(path: str, ids: list[str]) -> None:
    made = request(path, [("ids", json.dumps(ids))])
    assert made == request(path, [("ids", json.dumps(sorted(set(ids), reverse=True)))])
    assert json.loads(dict(made.query)["ids"]) == sorted(set(ids))
