"""Feeds for updaters of others: what their readers make of them."""

import base64
import json
from email.utils import parsedate_to_datetime
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.versions.feeds import Audience, FeedName, channel_file, feed_name, feed_of, folder_of
from actors.versions.resolving import ScopeState
from persistence.versions.pointers import Pointer
from persistence.versions.releases import Artifact, Release, Scope

SPARKLE = "{http://www.andymatuschak.org/xml-namespaces/sparkle}"
WINDOWS, MAC, LINUX = Audience("windows"), Audience("macos"), Audience("linux", frozenset({"x64", "any"}))
SIGNATURE = base64.b64encode(bytes(range(64))).decode()
SCOPE = Scope("launcher", "pl")
FOLDER = "https://play.example/v1/public/versions/feeds/launcher/pl"


def file(name: str, platform: str = "windows", arch: str = "x64", **fields: Any) -> Artifact:
    known: dict[str, Any] = {"sha256": "01" * 32, "sha512": "02" * 64, "signature": SIGNATURE, "key_id": "k"}
    known |= {"kind": "full", "from_version": None, "url": None, "size_bytes": 5, "hosted": True}
    id = f"{sum(name.encode()):024x}"
    return Artifact(**(known | {"id": id, "platform": platform, "arch": arch, "file_name": name} | fields))


def release(*files: Artifact, **fields: Any) -> Release:
    known: dict[str, Any] = {"id": "a" * 24, "scope": SCOPE, "version": "1.2.0", "update_policy": "optional"}
    known |= {"min_version": None, "notes": "", "status": "published", "percentage": 100, "salt": "0" * 32}
    known |= {"created_by": None, "created_at_ms": 0, "published_at_ms": 1_700_000_000_123}
    return Release(**(known | {"artifacts": files} | fields))


def state(**channels: tuple[Release, Release | None]) -> ScopeState:
    """A scope whose channels point to (active, previous)."""
    pointers = {
        channel: Pointer(
            scope=SCOPE,
            channel=channel,
            release_id=active.id,
            previous_release_id=None if previous is None else previous.id,
            revision=1,
            went_back=False,
            activated_by=None,
            activated_at_ms=0,
        )
        for channel, (active, previous) in channels.items()
    }
    releases = {one.id: one for pair in channels.values() for one in pair if one is not None}
    return ScopeState(SCOPE, pointers, releases, frozenset(), ())


def shown(audience: Audience, *files: Artifact, percentage: int = 100, **fields: Any) -> Any:
    one = release(*files, **fields)
    return json.loads(
        channel_file(one, audience, folder_of(state(stable=(one, None))), percentage=percentage)
    )


def feed(scope: ScopeState, channel: str, audience: Audience | None) -> bytes | None:
    return feed_of(scope, FeedName(channel, audience), folder_of(scope), folder_url=FOLDER)


def cast(scope: ScopeState, channel: str = "stable") -> list[ElementTree.Element]:
    document = feed(scope, channel, None)
    assert document is not None
    found = ElementTree.fromstring(document).find("channel")
    assert found is not None
    return found.findall("item")


def texts(item: ElementTree.Element) -> dict[str, str | None]:
    return {child.tag.replace(SPARKLE, "sparkle:"): child.text for child in item}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("latest.yml", FeedName("stable", WINDOWS)),
        ("stable.yml", FeedName("stable", WINDOWS)),
        ("latest-mac.yml", FeedName("stable", MAC)),
        ("beta-mac.yml", FeedName("beta", MAC)),
        ("latest-linux.yml", FeedName("stable", LINUX)),
        ("alpha-linux-arm64.yml", FeedName("alpha", Audience("linux", frozenset({"arm64", "any"})))),
        ("beta.xml", FeedName("beta", None)),
        ("latest.xml", FeedName("stable", None)),
        (".yml", None),
        ("-mac.yml", FeedName("-mac", WINDOWS)),
        ("latest.yaml", None),
        ("setup.exe", None),
    ],
)
def test_a_feeds_name_tells_channel_and_audience(name: str, expected: FeedName | None) -> None:
    assert feed_name(name) == expected


def test_a_channel_file_lists_what_its_platform_can_use() -> None:
    files = (
        file("a b.exe"),
        file("arm.exe", arch="arm64"),
        file("all.zip", "any", "any", sha512=None),
        file("unchecked.exe", sha256=None, sha512=None),
        file("change.exe", kind="delta", from_version="1.0.0"),
        file("mac.zip", "macos"),
        file("linux.AppImage", "linux"),
        file("arm.AppImage", "linux", "arm64"),
    )
    named = {
        audience.platform: [one["url"] for one in shown(audience, *files)["files"]]
        for audience in (WINDOWS, MAC, LINUX)
    }
    assert named == {
        "windows": ["a%20b.exe", "arm.exe", "all.zip"],
        "macos": ["all.zip", "mac.zip"],
        "linux": ["all.zip", "linux.AppImage"],
    }


def test_a_channel_file() -> None:
    sha512 = base64.b64encode(b"\x02" * 64).decode()
    assert shown(WINDOWS, file("a.exe"), notes="new", percentage=20) == {
        "version": "1.2.0",
        "files": [{"url": "a.exe", "size": 5, "sha512": sha512, "sha2": "01" * 32}],
        "path": "a.exe",
        "sha512": sha512,
        "sha2": "01" * 32,
        "releaseDate": "2023-11-14T22:13:20.123Z",
        "releaseNotes": "new",
        "stagingPercentage": 20,
    }
    assert "stagingPercentage" not in shown(WINDOWS, file("a.exe"))


@pytest.mark.parametrize("audience", [WINDOWS, MAC, LINUX])
def test_a_version_that_its_audience_cannot_download_is_not_announced(audience: Audience) -> None:
    others = {"windows": "macos", "macos": "linux", "linux": "windows"}
    here = {"platform": audience.platform, "sha256": None, "sha512": None}
    one = release(file("there", others[audience.platform]), file("unchecked", **here))
    assert feed(state(stable=(one, None)), "stable", audience) is None
    assert shown(audience, file("here", audience.platform))["version"] == "1.2.0"


@given(notes=st.text(min_size=1))
def test_notes_break_out_of_neither(notes: str) -> None:
    scope = state(stable=(release(file("a.zip", "macos"), notes=notes), None))
    listed = feed(scope, "stable", MAC)
    assert listed is not None
    assert json.loads(listed)["releaseNotes"] == notes
    assert all(0x20 <= byte < 0x7F for byte in listed[:-1])
    (item,) = cast(scope)
    assert [child.tag for child in item][-1] == "enclosure"
    assert set(item.findtext("description") or "") <= set(notes)


def test_an_appcast_lists_the_file_for_everybody_signed() -> None:
    one = release(file("a b.zip", "macos", "any"), file("x.exe"), notes="<b>&new")
    (item,) = cast(state(stable=(one, None)))
    assert texts(item) == {
        "title": "Version 1.2.0",
        "pubDate": "Tue, 14 Nov 2023 22:13:20 GMT",
        "sparkle:version": "1.2.0",
        "sparkle:shortVersionString": "1.2.0",
        "description": "<b>&new",
        "enclosure": None,
    }
    assert parsedate_to_datetime(item.findtext("pubDate") or "").timestamp() == 1_700_000_000
    enclosure = item.find("enclosure")
    assert enclosure is not None
    assert enclosure.attrib == {
        "url": f"{FOLDER}/a%20b.zip",
        "length": "5",
        "type": "application/octet-stream",
        f"{SPARKLE}edSignature": SIGNATURE,
    }


def test_an_appcast_names_what_is_signed_for_each_mac() -> None:
    one = release(
        file("x64.zip", "macos"), file("arm.zip", "macos", "arm64"), file("no.zip", "macos", signature=None)
    )
    items = cast(state(beta=(one, None)), "beta")
    assert [texts(item).get("sparkle:hardwareRequirements") for item in items] == [None, "arm64"]
    assert {texts(item)["sparkle:channel"] for item in items} == {"beta"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"update_policy": "mandatory", "min_version": "1.0.0"}, {}),
        ({"min_version": "1.0.0"}, {f"{SPARKLE}version": "1.0.0"}),
    ],
)
def test_what_is_critical(fields: dict[str, str], expected: dict[str, str] | None) -> None:
    (item,) = cast(state(stable=(release(file("a.zip", "macos"), **fields), None)))
    critical = item.find(f"{SPARKLE}criticalUpdate")
    assert (None if critical is None else critical.attrib) == expected


@pytest.mark.parametrize(
    ("percentage", "went_back", "previous", "versions", "staging"),
    [
        (100, False, "published", ["1.2.0"], None),
        (30, False, "published", ["1.1.0"], 30),
        (0, False, "published", ["1.1.0"], 0),
        (30, False, "yanked", [], 30),
        (30, False, None, [], 30),
        (30, True, "published", ["1.2.0"], None),
    ],
)
def test_a_roll_out(
    percentage: int, went_back: bool, previous: str | None, versions: list[str], staging: int | None
) -> None:
    """electron-updater decides by itself; Sparkle is shown what is for everybody."""
    mac = file("a.zip", "macos")
    before = None if previous is None else release(mac, id="b" * 24, version="1.1.0", status=previous)
    scope = state(stable=(release(file("b.zip", "macos"), percentage=percentage), before))
    pointer = msgspec.structs.replace(scope.pointers["stable"], went_back=went_back)
    scope = msgspec.structs.replace(scope, pointers={"stable": pointer})
    assert [texts(item)["sparkle:version"] for item in cast(scope)] == versions
    listed = feed(scope, "stable", MAC)
    assert listed is not None
    assert json.loads(listed).get("stagingPercentage") == staging
    assert json.loads(listed)["version"] == "1.2.0"


def test_a_channel_that_points_to_nothing_has_no_feed() -> None:
    assert feed(state(), "stable", MAC) is None
    assert feed(state(), "stable", None) is None


def test_every_name_that_a_feed_has_is_that_of_its_file() -> None:
    """Also where releases call their files the same, and where one of them was yanked."""
    old, new, beta, gone = (
        release(file("setup.exe", id=digit * 24, size_bytes=size), id=digit * 24, version=f"1.{size}.0")
        for size, digit in enumerate("abcd", 1)
    )
    gone = msgspec.structs.replace(gone, status="yanked")
    scope = state(stable=(new, old), beta=(beta, gone))
    folder = folder_of(scope).artifacts
    assert {name: one.id[0] for name, one in folder.items()} == {
        "setup.exe": "b",
        f"{'c' * 24}-setup.exe": "c",
        f"{'a' * 24}-setup.exe": "a",
    }
    for channel, active in (("stable", new), ("beta", beta)):
        listed = feed(scope, channel, WINDOWS)
        assert listed is not None
        (entry,) = json.loads(listed)["files"]
        assert folder[entry["url"]].id == active.id
        assert entry["size"] == active.artifacts[0].size_bytes
