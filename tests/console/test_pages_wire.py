"""The addresses of the console over the wire: compression, caching, policies, and what is not there."""

import re
from base64 import b64encode
from hashlib import sha256

from routes.console.joining import CONSOLE
from routes.console.static_files import shipped_static_files
from tests.support.one_world import in_one_world
from tests.support.world import World


async def page_of(world: World, path: str = "/app") -> str:
    answer = await world.http.get(path)
    assert answer.status_code == 200
    return answer.text


def policy_of(header: str) -> dict[str, list[str]]:
    return {parts[0]: parts[1:] for parts in (part.split() for part in header.split("; "))}


async def test_every_address_below_app_is_one_document(world: World) -> None:
    document = await page_of(world)
    for path in (
        "/app/chat",
        "/app/chat/65f000000000000000000000",
        "/app/operate/actors",
        "/app/nowhere/at/all",
        "/setup",
    ):
        assert await page_of(world, path) == document


async def test_the_document_names_all_scripts_of_the_first_view_and_they_are_kept_for_ever(
    world: World,
) -> None:
    document = await page_of(world)
    addresses = re.findall(r'(?:href|src)="(/app/assets/[^"]+)"', document)
    named = {address.partition("/app/assets/")[2].partition("/")[2] for address in addresses}
    assert set(shipped_static_files().imported_by(CONSOLE)) <= named
    for address in sorted(set(addresses)):
        answer = await world.http.get(address, headers={"accept-encoding": "gzip"})
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_the_policy_lets_nothing_run_but_the_modules(world: World) -> None:
    answer = await world.http.get("/app")
    policy = policy_of(answer.headers["content-security-policy"])
    import_map = re.search(r'<script type="importmap">(.*?)</script>', answer.text)
    assert import_map is not None
    digest = b64encode(sha256(import_map[1].encode()).digest()).decode()
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == ["'self'", f"'sha256-{digest}'"]
    assert policy["style-src"] == ["'self'"]
    assert policy["connect-src"][0] == "'self'"
    assert policy["connect-src"][1].startswith("ws")
    for directive in ("base-uri", "form-action", "frame-ancestors", "trusted-types"):
        assert policy[directive] == ["'none'"]
    assert policy["require-trusted-types-for"] == ["'script'"]
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(re.findall(r"<script\b", answer.text)) == 2


async def test_the_document_is_asked_for_each_time_and_mostly_unchanged(world: World) -> None:
    answer = await world.http.get("/app")
    assert answer.headers["cache-control"] == "no-cache"
    again = await world.http.get("/app/friends", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@in_one_world(
    "path",
    [
        "/app/assets/0123456789abcdef/boot.js",
        "/app/assets/{digest}/nothing.js",
        "/app/assets/{digest}/page.html",
        "/app/assets/{digest}/vendor/preact.LICENSE",
        "/app/assets/{digest}/vendor/%2e%2e/boot.js",
        "/client/nothing.js",
        "/client/../boot.js",
    ],
)
async def test_what_is_not_served(world: World, path: str) -> None:
    address = path.format(digest=shipped_static_files().digest)
    answer = await world.http.get(address)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


async def test_the_client_keeps_its_address(world: World) -> None:
    answer = await world.http.get("/client/partyline.js")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    for name in re.findall(r'from "\./([\w.-]+)"', answer.text):
        assert (await world.http.get(f"/client/{name}")).status_code == 200
    types = await world.http.get("/client/partyline.d.ts")
    assert types.headers["content-type"] == "text/plain; charset=utf-8"


async def test_the_landing_page_needs_no_scripts_and_shows_texts_as_texts(world: World) -> None:
    answer = await world.http.get("/")
    assert answer.status_code == 200
    assert "<script" not in answer.text
    assert "No public servers yet" in answer.text
    assert policy_of(answer.headers["content-security-policy"])["default-src"] == ["'none'"]
    assert 'href="/app"' in answer.text
    assert 'href="/docs"' in answer.text


@in_one_world(
    ("accepted", "language"),
    [
        (None, "en"),
        ("de", "de"),
        ("de-AT, en;q=0.5", "de"),
        ("en;q=0.5,de;q=0.8", "de"),
        ("fr, de;q=0.3", "de"),
        ("de;q=0, en", "en"),
        ("fr", "en"),
        ("*", "en"),
        ("de;q=2, ;;,=", "en"),
        ("x, " * 30 + "de", "en"),
    ],
)
async def test_the_landing_page_speaks_the_language_that_is_asked_for(
    world: World, accepted: str | None, language: str
) -> None:
    answer = await world.http.get("/", headers={} if accepted is None else {"accept-language": accepted})
    assert f'<html lang="{language}">' in answer.text
    assert ("Öffentliche Server" in answer.text) is (language == "de")
    assert "Accept-Language" in answer.headers["vary"]
    known = {"if-none-match": answer.headers["etag"], "accept-language": language}
    again = await world.http.get("/", headers=known)
    assert (again.status_code, again.headers["vary"]) == (304, "Accept-Language")


async def test_what_a_browser_has_is_not_sent_again(world: World) -> None:
    document = await page_of(world)
    for path in ("/app", re.findall(r'src="(/app/assets/[^"]+)"', document)[0]):
        first = await world.http.get(path)
        again = await world.http.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
        head = await world.http.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == first.headers["content-length"]
        plain = await world.http.get(path, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == first.content
        assert plain.headers["etag"] != first.headers["etag"]


async def test_the_description_is_light(world: World) -> None:
    """`/docs` and all that it loads, over the wire."""
    weight = 0
    page = await world.http.get("/docs")
    addresses = [*re.findall(r'(?:src|href)="(/docs/[^"]+)"', page.text), "/openapi.json"]
    for address in addresses:
        weight += int((await world.http.get(address)).headers["content-length"])
    assert len(addresses) == 4
    assert weight <= 600 * 1024
    assert 'docExpansion: "none"' in (await world.http.get("/docs/start.js")).text
