"""What a handler returns becomes a response: objects with their tags, pages, and files with their ranges."""

from pathlib import Path

import pytest

from routes.edge.server.quart_app import EdgeApp
from tests.edge.asgi import Answered, request


async def test_struct_becomes_json(app: EdgeApp) -> None:
    answer = await request(app, "GET", "/v1/things?limit=1000&cursor=x", token="ann")
    assert answer.status == 200
    assert answer.json == {"items": [{"name": "a", "sizeBytes": 100}], "nextCursor": "x"}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_cacheable_answer_is_a_304_for_who_has_it(app: EdgeApp) -> None:
    first = await request(app, "GET", "/v1/open")
    assert first.headers["cache-control"] == "public, max-age=60"
    again = await request(app, "GET", "/v1/open", if_none_match=f'"other", W/{first.headers["etag"]}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert (await request(app, "GET", "/v1/open", if_none_match='"other"')).status == 200


async def test_head_has_the_head_of_get(app: EdgeApp) -> None:
    got, head = [await request(app, method, "/v1/open") for method in ("GET", "HEAD")]
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))
    assert (await request(app, "HEAD", "/v1/nowhere")).body == b""


async def test_a_page_has_its_policy_and_is_not_stored(app: EdgeApp) -> None:
    answer = await request(app, "GET", "/v1/page")
    assert answer.body == b"<p>hello"
    assert answer.headers["content-security-policy"] == "default-src 'self'"
    assert (answer.headers["x-frame-options"], answer.headers["cache-control"]) == ("DENY", "no-store")


@pytest.mark.parametrize("in_memory", [True, False])
async def test_files_are_attachments_with_ranges_and_an_etag(
    app: EdgeApp, tmp_path: Path, *, in_memory: bool
) -> None:
    stored = tmp_path / "blob"
    stored.write_bytes(b"0123456789")
    target = f"/v1/files/{'memory' if in_memory else str(stored).encode().hex()}"

    async def get(method: str = "GET", **headers: str) -> Answered:
        return await request(app, method, target, token="ann", **headers)

    whole = await get()
    assert (whole.status, whole.body, whole.headers["etag"]) == (200, b"0123456789", '"e7"')
    assert whole.headers["content-disposition"] == (
        "attachment; filename=\"na_me__ _.txt\"; filename*=UTF-8''na%22me%0D%0A%20%C3%BC.txt"
    )
    assert whole.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert whole.headers["x-content-type-options"] == "nosniff"
    for asked, status, body, told in [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=8-", 206, b"89", "bytes 8-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("Bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=1-2,4-5", 200, b"0123456789", None),
        ("bytes=4-2", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ]:
        part = await get(range=asked)
        assert (part.status, part.body, part.headers.get("content-range")) == (status, body, told), asked
    beyond = await get(range="bytes=10-")
    assert (beyond.status, beyond.code, beyond.headers["content-range"]) == (
        416,
        "RANGE_NOT_SATISFIABLE",
        "bytes */10",
    )
    assert (await get(range="bytes=0-0", if_range='"old"')).status == 200
    assert (await get(range="bytes=0-0", if_range='"e7"')).body == b"0"
    assert (await get(if_none_match='"e7"')).status == 304
    for asked in ({}, {"range": "bytes=2-4"}, {"range": "bytes=10-"}):
        head = await get("HEAD", **asked)
        assert (head.status, head.body, head.headers["content-length"]) == (200, b"", "10"), asked
