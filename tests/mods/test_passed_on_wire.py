"""Wire: both catalogues passed on, kept as long as they hold, and shown with their age."""

import pytest

from scripts.upstreams.mods import SHOWN
from tests.connect.play import claimed
from tests.mods.play import AWAY, CANARY, CURSEFORGE, MODRINTH, SEARCH, Catalogues, arrived
from tests.support.world import World

LANTERNS = SHOWN[0]
PROJECT = f"{MODRINTH}/project/lanterns"
FILE = next(LANTERNS.files())
FILES = f"{CURSEFORGE}/projects/300001/files"


@pytest.mark.both_edges
@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_an_answer_with_its_age(catalogues: Catalogues) -> None:
    first = await catalogues.ask(PROJECT)
    assert first.json()["id"] == LANTERNS.base62_id
    assert first.headers["cache-control"] == "public, max-age=300, stale-if-error=86400"
    assert (first.headers["age"], first.headers["cache-status"]) == ("0", "Partyline; fwd=miss")
    catalogues.seconds(299)
    again = await catalogues.ask(PROJECT)
    assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
    assert (again.headers["age"], again.headers["cache-status"]) == ("299", "Partyline; hit; ttl=1")
    assert catalogues.asked == 1
    same = await catalogues.ask(PROJECT, if_none_match=first.headers["etag"])
    assert (same.status_code, same.content, same.headers["age"]) == (304, b"", "299")
    assert (await catalogues.ask(PROJECT, if_none_match='"other"')).status_code == 200
    head = await catalogues.world.http.head(PROJECT)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", first.headers["etag"])
    catalogues.seconds(1)
    assert (await catalogues.ask(PROJECT)).headers["age"] == "0"
    assert catalogues.asked == 2


@pytest.mark.parametrize(
    ("path", "sent", "seconds"),
    [
        ("modrinth/search?query=map&x-api-key=1&limit=101", "/v2/search", 60),
        ("modrinth/tag/loader", "/v2/tag/loader", 86_400),
        ("modrinth/project/lanterns/version?loaders=[%22fabric%22]", "/v2/project/lanterns/version", 300),
        ("modrinth/project/lanterns/dependencies", "/v2/project/lanterns/dependencies", 300),
        ("modrinth/project%2Flanterns%2Fmembers", "/v2/project/lanterns/members", 300),
        ('modrinth/projects?ids=["MOD00001","lanterns"]', "/v2/projects", 300),
        (f"modrinth/version/{FILE.version_id}", f"/v2/version/{FILE.version_id}", 300),
        (f'modrinth/versions?ids=["{FILE.version_id}"]', "/v2/versions", 300),
        (f"modrinth/version_file/{FILE.digest('sha1')}", f"/v2/version_file/{FILE.digest('sha1')}", 300),
        (f"modrinth/version_file/{FILE.digest('sha512')}", f"/v2/version_file/{FILE.digest('sha512')}", 300),
        ("curseforge/search?query=map&gameVersion=1.21&loader=fabric&sort=name", "/v1/mods/search", 60),
        ("curseforge/projects/300001", "/v1/mods/300001", 300),
        ("curseforge/projects/300001/files?limit=1&offset=1", "/v1/mods/300001/files", 300),
        (f"curseforge/projects/300001/files/{FILE.file_id}", f"/v1/mods/300001/files/{FILE.file_id}", 300),
    ],
)
@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_all_that_is_passed_on(catalogues: Catalogues, path: str, sent: str, seconds: int) -> None:
    answer = await catalogues.ask(f"/v1/public/{path}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"].startswith(f"public, max-age={seconds},")
    (request,) = (*catalogues.modrinth.asked, *catalogues.curseforge.asked)
    assert arrived(request)[0] == sent
    assert "x-api-key" not in request.query
    assert (await catalogues.ask(f"/v1/public/{path}")).content == answer.content
    assert catalogues.asked == 1


async def test_nothing_of_the_caller_goes_up_and_nothing_of_theirs_comes_down(catalogues: Catalogues) -> None:
    ann = await catalogues.world.player("Ann")
    given = {
        "cookie": "a=b",
        "x-api-key": "mine",
        "x-fault": "500",
        "referer": "https://x",
        "user-agent": "launcher",
    }
    answer = await ann.ask("GET", PROJECT, headers=given)
    assert answer.status_code == 200
    (request,) = catalogues.modrinth.asked
    assert set(request.headers) == {"host", "user-agent", "accept", "accept-encoding"}
    assert request.headers["user-agent"].startswith("Partyline/")
    assert not {name for name in answer.headers if name.startswith("x-ratelimit")}


async def credentials(world: World) -> list[dict[str, str]]:
    """Of all sorts of callers, and of none."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    ranked = [await world.ranked("Root", role) for role in ("moderator", "admin", "super-admin")]
    expired = world.token(ann.id, "Ann", ttl_seconds=-60)
    tokens = (ann.token, expired, "x.y.z", "x", f"{ann.token}x", "a b", CANARY, "0" * 4_000)
    return [
        {},
        *({"authorization": f"Bearer {token}"} for token in tokens),
        {"authorization": "Basic QW5uOkFubg=="},
        {"authorization": "Bearer"},
        {"x-api-key": CANARY},
        {"x-server-id": "0123456789abcdef01234567"},
        dict(server.headers),
        {**server.headers, "authorization": f"Bearer {ann.token}"},
        *(dict(one.headers) for one in ranked),
    ]


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_anybody_may_read(catalogues: Catalogues) -> None:
    """And nobody is told apart."""
    world = catalogues.world
    callers = await credentials(world)
    assert len(callers) >= 18
    for path in (
        PROJECT,
        f"{CURSEFORGE}/search",
        f"{CURSEFORGE}/projects/300001",
        FILES,
        f"{FILES}/{FILE.file_id}",
        SEARCH,
    ):
        answers = [await world.http.get(path, headers=headers) for headers in callers]
        assert {answer.status_code for answer in answers} == {200}, path
        assert len({answer.content for answer in answers}) == 1
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            refused = await world.http.request(method, path, headers=callers[-1])
            assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert catalogues.asked == 7


async def test_a_file_that_may_not_be_given_away(catalogues: Catalogues) -> None:
    own = next(mod for mod in SHOWN if mod.distribution is False)
    files = await catalogues.get(f"{CURSEFORGE}/projects/{own.project_id}/files")
    assert {one["downloadUrl"] for one in files["data"]} == {None}


async def test_ids_that_are_no_numbers(catalogues: Catalogues) -> None:
    for path in (
        "projects/x",
        "projects/0",
        "projects/1/files/x",
        "projects/1%2f..",
        "projects/search",
        "mods/1",
    ):
        assert (await catalogues.refused(f"{CURSEFORGE}/{path}"))[0] == 404, path
    assert catalogues.asked == 0


async def test_queries_that_are_not_valid(catalogues: Catalogues) -> None:
    for path in (
        f"{MODRINTH}/search?offset=10001",
        f"{MODRINTH}/search?facets=x",
        f"{MODRINTH}/projects",
        f"{CURSEFORGE}/search?offset=10000",
        f"{CURSEFORGE}/search?loader=fabric",
        f"{CURSEFORGE}/search?sort=x",
        f"{CURSEFORGE}/projects/300001/files?offset=-1",
        f"{SEARCH}?offset=10001",
        f"{SEARCH}?loader=forge2",
        f"{SEARCH}?source=x",
        f"{SEARCH}?gameVersion=1.21%22]]",
        f"{SEARCH}?query=%00",
    ):
        assert await catalogues.refused(path) == (400, "BAD_QUERY"), path
    assert catalogues.asked == 0


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_what_there_is_not_is_remembered(catalogues: Catalogues) -> None:
    for _ in range(2):
        assert await catalogues.refused(f"{MODRINTH}/project/nothing") == (404, "NOT_FOUND")
        assert await catalogues.refused(f"{CURSEFORGE}/projects/9") == (404, "NOT_FOUND")
    assert catalogues.asked == 2
    catalogues.seconds(60)
    await catalogues.refused(f"{MODRINTH}/project/nothing")
    assert catalogues.asked == 3


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_a_query_that_the_catalogue_does_not_take(catalogues: Catalogues) -> None:
    for _ in range(2):
        assert await catalogues.refused(f'{MODRINTH}/search?facets=[["color:1"]]') == (400, "BAD_QUERY")
    assert catalogues.asked == 1


@pytest.mark.one_node(because="each node keeps the answers of catalogues itself")
async def test_what_can_be_seen_of_it(catalogues: Catalogues) -> None:
    await catalogues.get(PROJECT)
    await catalogues.get(PROJECT)
    catalogues.modrinth.faults.add("500")
    assert await catalogues.refused(f"{MODRINTH}/project/quilted") == AWAY
    shown = dict(
        line.rsplit(" ", 1)
        for line in (await catalogues.ask("/metrics")).text.splitlines()
        if line.startswith("partyline_mods_")
    )
    assert float(shown["partyline_mods_kept_bytes"]) > 1_000
    assert shown["partyline_mods_kept_entries"] == "2.0"
    assert shown['partyline_mods_answers_total{origin="memory"}'] == "1.0"
    assert shown['partyline_mods_answers_total{origin="upstream"}'] == "1.0"
    assert shown['partyline_mods_answers_total{origin="failure"}'] == "1.0"
    assert shown['partyline_mods_upstream_requests_total{source="modrinth"}'] == "2.0"
