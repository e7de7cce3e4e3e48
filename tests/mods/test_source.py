"""What a catalogue's answers mean, and where its key goes."""

from pathlib import Path

import pytest

from actors.mods.kept import Body, Failure, Reason
from routes.edge.outgoing_http import Upstream
from routes.mods.curseforge_requests import project_request
from routes.mods.modrinth_requests import ModrinthQuery, modrinth_request
from routes.mods.reading import as_it_is
from routes.mods.requests import Unreadable
from routes.mods.source import MAX_BYTES, Source, retry_seconds
from scripts.upstreams.curseforge import CurseForgeSite
from scripts.upstreams.modrinth import ModrinthSite
from tests.edge.redirecting import HOST, redirecting
from tests.mods.play import CANARY, RunClock, sites
from tests.support.waiting import PATIENCE_SECONDS

NOW_MS = 1_795_500_000_000  # 2026-11-24T06:00:00Z
JSON = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, 10),
        ("7", 7),
        (" 7 ", 7),
        ("0", 1),
        ("300", 300),
        ("301", 300),
        ("999999999", 300),
        ("9" * 5_000, 10),
        ("1.5", 10),
        ("-1", 10),
        ("７", 10),
        ("soon", 10),
        ("", 10),
        ("7, 9", 10),
        ("Tue, 24 Nov 2026 06:00:30 GMT", 30),
        ("Tue, 24 Nov 2026 06:00:30", 30),
        ("Tue, 24 Nov 2026 05:00:00 GMT", 1),
        ("Tue, 24 Nov 2027 06:00:00 GMT", 300),
        ("Tue, 99 Nov 2026 06:00:00 GMT", 10),
        ("Tue, 24 Nov 99999999999999999999 06:00:00 GMT", 10),
        ("Tue, 24 Nov 2026 06:00:00 +99999999999999999", 10),
    ],
)
def test_when_to_come_again(text: str | None, seconds: int) -> None:
    assert retry_seconds(text, NOW_MS) == seconds


@pytest.mark.parametrize("body", [b"{}", b"[]", b' \n{"a":[1,"\xc3\xbc",null]}'])
def test_json_is_kept_as_it_is(body: bytes) -> None:
    assert as_it_is(body) is body


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"null", b"1", b'"text"', b"<html>", b"{", b"[1,]", b"{} {}", b'{"a":NaN}', b'{"a":"\xff"}',
        b"\xef\xbb\xbf{}", b"\x1f\x8b\x08\x00", b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":"\x00"}',
    ],
)  # fmt: skip
def test_what_is_not_json_is_not_kept(body: bytes) -> None:
    with pytest.raises(Unreadable):
        as_it_is(body)


@pytest.mark.parametrize(
    ("status", "reason", "seconds"),
    [
        (400, Reason.REFUSED, 60),
        (401, Reason.AWAY, 7),
        (403, Reason.AWAY, 7),
        (404, Reason.NOT_FOUND, 60),
        (410, Reason.AWAY, 7),
        (429, Reason.AWAY, 7),
        (500, Reason.AWAY, 7),
        (503, Reason.AWAY, 7),
    ],
)
async def test_each_failure_is_remembered_for_its_time(status: int, reason: Reason, seconds: int) -> None:
    modrinth, curseforge = ModrinthSite(), CurseForgeSite()
    modrinth.retry_after = "7"
    modrinth.faults.add(str(status))
    async with (
        sites(modrinth, curseforge),
        Upstream(modrinth.api_url, seconds=PATIENCE_SECONDS, max_bytes=MAX_BYTES) as upstream,
    ):
        clock = RunClock()
        began_ms = clock.now_ms()
        said = await Source("modrinth", upstream, {}, clock).ask(
            modrinth_request("project/lanterns", ModrinthQuery())
        )
        assert isinstance(said, Failure)
        assert (said.reason, said.upstream_status) == (reason, status)
        assert began_ms + seconds * 1000 <= said.until_ms <= clock.now_ms() + seconds * 1000


async def test_the_key_goes_to_the_catalogue_and_not_where_it_redirects_to(tmp_path: Path) -> None:
    base, target = {"/mods/238222": f"https://{HOST}/x"}, {"/x": JSON}
    async with redirecting(tmp_path, base, target) as (api, elsewhere, upstream):
        said = await Source("curseforge", upstream, {"x-api-key": CANARY}, RunClock()).ask(
            project_request("238222")
        )
    assert isinstance(said, Body)
    assert said.content == b"{}"
    assert CANARY in api.asked[0]
    assert [CANARY in request for request in elsewhere.asked] == [False]


async def test_it_is_told_who_asks_and_nothing_else() -> None:
    modrinth = ModrinthSite()
    async with (
        sites(modrinth, CurseForgeSite()),
        Upstream(modrinth.api_url, seconds=PATIENCE_SECONDS, max_bytes=MAX_BYTES) as upstream,
    ):
        await Source("modrinth", upstream, {}, RunClock()).ask(modrinth_request("search", ModrinthQuery()))
    (request,) = modrinth.asked
    headers = dict(request.headers)
    assert headers.pop("host").startswith("127.0.0.1")
    assert headers.pop("user-agent").startswith("Partyline/")
    assert headers == {"accept": "application/json", "accept-encoding": "identity"}
