"""Wire: whatever a stranger writes into the path or the query, only what is listed arrives at a catalogue."""

import re

import pytest
import trio

from tests.mods.hostile import PATHS
from tests.mods.play import CURSEFORGE, MODRINTH, Catalogues, arrived

LISTED = re.compile(
    r"/v2/(search|tag/(category|loader|game_version|project_type)|projects|versions"
    r"|project/[A-Za-z0-9._-]{3,64}(/(version|dependencies|members))?|version/[A-Za-z0-9]{8}"
    r"|version_file/([0-9a-f]{40}|[0-9a-f]{128}))",
    re.ASCII,
)


async def said(catalogues: Catalogues, target: str) -> tuple[int, str]:
    """Status and head of the answer to a request line, byte by byte as it is written here."""
    host, port = catalogues.world.url.removeprefix("http://").split(":")
    async with await trio.open_tcp_stream(host, int(port)) as stream:
        line = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        await stream.send_all(line.encode("utf-8"))
        answer = b"".join([piece async for piece in stream])
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[0].decode("latin-1").lower()


def test_there_are_enough() -> None:
    assert len(PATHS) >= 200


@pytest.mark.both_edges
async def test_only_listed_paths_arrive(catalogues: Catalogues) -> None:
    for path in PATHS:
        status, head = await said(catalogues, f"{MODRINTH}/{path}")
        arrivals = catalogues.modrinth.asked
        assert all(LISTED.fullmatch(arrived(request)[0]) for request in arrivals), path
        # A path that says `search` in another way may find it; all else is refused before anything is asked.
        assert status in {200, 400, 404} if arrivals else status in {400, 404, 414}, (path, status)
        assert "evil" not in head
        catalogues.modrinth.asked.clear()
    assert catalogues.curseforge.asked == []


async def test_none_of_them_is_an_id_of_curseforge(catalogues: Catalogues) -> None:
    for path in PATHS:
        for below in ("projects/", "projects/1/files/"):
            status, _ = await said(catalogues, f"{CURSEFORGE}/{below}{path}")
            assert status in {400, 404, 414}, path
    assert catalogues.asked == 0


QUERIES = (
    "query=%0d%0aHost:%20evil", "query=a%00", "facets=[[%22a:b%22]]%26x=1", "index=relevance%26facets=x",
    "offset=0%0d%0a", "limit=1;2", "ids=%00", "url=http://127.0.0.1", "host=evil", "x-api-key=1", "query=%ff",
    "limit=1%23", "algorithm=md5",
)  # fmt: skip


async def test_only_listed_names_with_checked_values_arrive(catalogues: Catalogues) -> None:
    for query in QUERIES:
        status, _ = await said(catalogues, f"{MODRINTH}/search?{query}&query=map")
        assert status in {200, 400}, query
        for request in catalogues.modrinth.asked:
            path, sent = arrived(request)
            assert path == "/v2/search"
            assert sent == {"query": "map", "index": "relevance", "offset": "0", "limit": "10"}
        catalogues.modrinth.asked.clear()


async def test_a_text_with_a_meaning_in_addresses_is_a_text(catalogues: Catalogues) -> None:
    await catalogues.get(f"{MODRINTH}/search?query=%26limit%3D1%23%3F/..%2f%2B%20ü")
    _, sent = arrived(catalogues.modrinth.asked[0])
    assert sent == {"query": "&limit=1#?/../+ ü", "index": "relevance", "offset": "0", "limit": "10"}
