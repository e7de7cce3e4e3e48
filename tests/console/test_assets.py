"""The console's page and files: what they weigh, how long they are kept, and what a browser is told to refuse."""

import gzip
import re
from importlib.resources import files

import pytest

from routes.console.assets import PAGE, Assets, read_folder
from routes.edge.config.table import read_config
from tests.support.world import World

FIRST_LOAD_MAX_BYTES = 60 * 1024
CONTENTS = read_folder(files("routes.console").joinpath("static"))
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|\beval\b|Function\(|style=\"|\bon\w+=\"|localStorage|sessionStorage"
)

pytestmark = pytest.mark.both_edges


def _named(page: str) -> list[str]:
    return re.findall(r'(?:src|href)="(/app/assets/[^"]+)"', page)


async def test_the_page_and_all_that_it_names(world: World) -> None:
    taken, weight = {"accept-encoding": "gzip"}, 0
    for path in ("/app", "/app/sign-in"):
        response = await world.http.get(path, headers=taken)
        assert (response.status_code, response.headers["cache-control"]) == (200, "no-cache")
        assert {response.headers["content-encoding"], response.headers["vary"]} == {"gzip", "Accept-Encoding"}
    weight += int(response.headers["content-length"])
    named = _named(response.text)
    assert named
    for address in named:
        asset = await world.http.get(address, headers=taken)
        assert asset.status_code == 200
        assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
        weight += int(asset.headers["content-length"])
        assert gzip.decompress(gzip.compress(asset.content)) in CONTENTS.values()
    assert weight <= FIRST_LOAD_MAX_BYTES


async def test_what_was_kept_is_not_sent_again(world: World) -> None:
    page = await world.http.get("/app")
    for path in ("/app", _named(page.text)[0]):
        first = await world.http.get(path)
        again = await world.http.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
        head = await world.http.head(path)
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", first.headers["etag"])
        assert head.headers["content-length"] == first.headers["content-length"]
        plain = await world.http.get(path, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == first.content
        assert plain.headers["etag"] != first.headers["etag"]


async def test_what_a_browser_is_told_to_refuse(world: World) -> None:
    page = (await world.http.get("/app")).headers
    policy = dict(part.strip().partition(" ")[::2] for part in page["content-security-policy"].split(";"))
    socket = world.service.config.dashboard_url.replace("http", "ws", 1)
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' blob:",
        "font-src": "'self'",
        "connect-src": f"'self' {socket}",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert page["cross-origin-opener-policy"] == "same-origin"
    assert page["permissions-policy"].startswith("clipboard-write=(self), camera=()")
    asset = (await world.http.get(_named((await world.http.get("/app")).text)[0])).headers
    assert "script-src" not in asset["content-security-policy"]
    for headers in (page, asset):
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["../page.html", "nothing.js", PAGE, "api.js/", "%2e%2e/api.js", "a/b/c"])
async def test_no_other_files(world: World, path: str) -> None:
    address = _named((await world.http.get("/app")).text)[0].rpartition("/")[0]
    assert (await world.http.get(f"{address}/{path}")).status_code == 404
    assert (await world.http.get("/app/assets/0000000000000000/api.js")).status_code == 404


def test_one_changed_file_changes_every_address() -> None:
    config = read_config({})
    before, after = Assets(CONTENTS, config), Assets({**CONTENTS, "page.css": b"x"}, config)
    assert before.digest != after.digest
    assert before.digest == Assets(dict(reversed(CONTENTS.items())), config).digest
    assert after.find(before.digest, "page.css") is None
    assert after.find(after.digest, "page.css") is not None


def test_nothing_in_it_makes_code_of_text_or_keeps_credentials() -> None:
    found = [path for path, content in CONTENTS.items() if FORBIDDEN.search(content.decode())]
    assert found == []


async def test_the_description_is_light(world: World) -> None:
    """`/docs` and all that it loads, over the wire."""
    taken, weight = {"accept-encoding": "gzip"}, 0
    page = await world.http.get("/docs", headers=taken)
    addresses = [*re.findall(r'(?:src|href)="(/docs/[^"]+)"', page.text), "/openapi.json"]
    for address in addresses:
        weight += int((await world.http.get(address, headers=taken)).headers["content-length"])
    assert len(addresses) == 4
    assert weight <= 600 * 1024
    assert 'docExpansion: "none"' in (await world.http.get("/docs/start.js")).text
