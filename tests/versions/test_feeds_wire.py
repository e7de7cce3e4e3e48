"""Wire: the folder of feeds, as updaters ask for it."""

import base64
import hashlib
import json
from xml.etree import ElementTree

import pytest

from tests.support.world import World
from tests.versions.hosting_play import DATA, FEEDS, hosted
from tests.versions.play import FILE, a_publisher

SPARKLE = "{http://www.andymatuschak.org/xml-namespaces/sparkle}"
SIGNATURE = base64.b64encode(bytes(64)).decode()


@pytest.mark.both_edges
async def test_an_updater_reads_the_feed_and_gets_the_file(world: World) -> None:
    pia, nobody = await a_publisher(world), world.nobody()
    await hosted(pia, "1.0.0", b"old bytes", fileName="Setup 1.0.0.exe")
    await hosted(pia, "1.1.0", fileName="Setup 1.1.0.exe", notes="new", rollout={"percentage": 30})
    asked = {"x-user-staging-id": "00000000-0000-4000-8000-000000000000"}
    feed = await nobody.ask("GET", f"{FEEDS}/latest.yml?noCache=1a2b", headers=asked)
    assert feed.headers["content-type"] == "text/yaml; charset=utf-8"
    assert feed.headers["cache-control"] == "public, max-age=60"
    shown = json.loads(feed.content)
    assert (shown["version"], shown["stagingPercentage"], shown["releaseNotes"]) == ("1.1.0", 30, "new")
    (entry,) = shown["files"]
    assert base64.b64decode(entry["sha512"]) == hashlib.sha512(DATA).digest()
    file = await nobody.ask("GET", f"{FEEDS}/{entry['url']}")
    assert (file.status_code, file.content == DATA) == (200, True)
    part = await nobody.ask("GET", f"{FEEDS}/{entry['url']}", headers={"range": "bytes=5-9"})
    assert (part.status_code, part.content) == (206, DATA[5:10])
    before = await nobody.ask("GET", f"{FEEDS}/Setup%201.0.0.exe")
    assert (before.status_code, before.content) == (200, b"old bytes")
    same = await nobody.ask("GET", f"{FEEDS}/latest.yml", headers={"if-none-match": feed.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")


async def test_sparkle_sees_what_is_for_everybody(world: World) -> None:
    pia, nobody = await a_publisher(world), world.nobody()
    mac = {"platform": "macos", "signature": SIGNATURE, "keyId": "k"}
    await hosted(pia, "1.0.0", b"old bytes", fileName="App-1.0.0.zip", **mac)
    new = await hosted(pia, "1.1.0", fileName="App-1.1.0.zip", rollout={"percentage": 50}, **mac)

    async def seen() -> list[str | None]:
        feed = await nobody.ask("GET", f"{FEEDS}/stable.xml")
        assert feed.headers["content-type"] == "application/rss+xml; charset=utf-8"
        found = ElementTree.fromstring(feed.content)
        for enclosure in found.iter("enclosure"):
            file = await nobody.ask(
                "GET", enclosure.attrib["url"].removeprefix(world.service.config.base_url)
            )
            assert str(len(file.content)) == enclosure.attrib["length"]
        return [version.text for version in found.iter(f"{SPARKLE}version")]

    assert await seen() == ["1.0.0"]
    await pia.changed(new, rollout={"percentage": 100})
    assert await seen() == ["1.1.0"]


async def test_a_file_elsewhere_is_a_redirect(world: World) -> None:
    pia = await a_publisher(world)
    await pia.published()
    found = await world.nobody().ask("GET", f"{FEEDS}/setup.exe")
    assert (found.status_code, found.headers["location"]) == (302, FILE["url"])


@pytest.mark.parametrize(
    "path",
    [
        f"{FEEDS}/beta.yml",
        f"{FEEDS}/beta.xml",
        f"{FEEDS}/other.exe",
        f"{FEEDS}/..%2fsetup.exe",
        f"{FEEDS}/latest.yaml",
        f"{FEEDS.replace('launcher/main', 'launcher/other')}/latest.yml",
        f"{FEEDS.replace('launcher/main', 'planet/main')}/latest.yml",
    ],
)
async def test_what_is_not_on_offer_is_not_there(world: World, path: str) -> None:
    pia = await a_publisher(world)
    await pia.published()
    assert (await world.nobody().refused("GET", path))[0] == 404


async def test_drafts_and_yanked_releases_are_not_there(world: World) -> None:
    pia, nobody = await a_publisher(world), world.nobody()
    old = await hosted(pia, "1.0.0", b"old bytes", fileName="old.exe")
    await hosted(pia, "1.1.0", fileName="new.exe")
    await pia.release("1.2.0", artifacts=[{**FILE, "fileName": "draft.exe"}])
    assert (await nobody.refused("GET", f"{FEEDS}/draft.exe"))[0] == 404
    assert (await nobody.ask("GET", f"{FEEDS}/old.exe")).status_code == 200
    await pia.changed(old, status="yanked")
    assert (await nobody.refused("GET", f"{FEEDS}/old.exe"))[0] == 404


async def test_a_release_without_files_for_a_platform_is_not_announced_to_it(world: World) -> None:
    pia, nobody = await a_publisher(world), world.nobody()
    await hosted(pia, "1.0.0", fileName="setup.exe")
    for _ in range(2):  # the second one from memory
        for name in ("latest-mac.yml", "stable-linux.yml", "latest-linux-arm64.yml"):
            answer = await nobody.ask("GET", f"{FEEDS}/{name}")
            assert answer.status_code == 404
            assert "no files for this platform" in answer.json()["detail"]
        assert (await nobody.ask("GET", f"{FEEDS}/latest.yml")).status_code == 200
    await hosted(pia, "1.1.0", b"for all", fileName="app.zip", platform="any", arch="any")
    assert json.loads((await nobody.ask("GET", f"{FEEDS}/latest-mac.yml")).content)["version"] == "1.1.0"
