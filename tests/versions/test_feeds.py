"""Feeds for updaters of others: what their readers make of them."""

import base64
import json
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.versions.feeds import (
    Audience,
    Edition,
    FeedFile,
    FeedName,
    appcast,
    channel_file,
    feed_name,
)

SPARKLE = "{http://www.andymatuschak.org/xml-namespaces/sparkle}"
WINDOWS, MAC, LINUX = Audience("windows"), Audience("macos"), Audience("linux", frozenset({"x64", "any"}))
SIGNATURE = bytes(range(64))
FOLDER = "https://play.example/v1/public/versions/feeds/launcher/pl"


def file(name: str, platform: str = "windows", arch: str = "x64", **fields: object) -> FeedFile:
    known: dict[str, object] = {"sha256": b"\x01" * 32, "sha512": b"\x02" * 64, "signature": SIGNATURE}
    return FeedFile(name, 5, platform, arch, **(known | fields))  # type: ignore[arg-type]


def edition(*files: FeedFile, notes: str = "", percentage: int = 100, **fields: object) -> Edition:
    known: dict[str, object] = {"mandatory": False, "min_version": None}
    return Edition("1.2.0", notes, 1_700_000_000_123, percentage=percentage, files=files, **(known | fields))  # type: ignore[arg-type]


def cast(edition_: Edition | None, channel: str = "stable") -> ElementTree.Element:
    document = appcast(edition_, title="launcher pl", channel=channel, folder_url=FOLDER)
    found = ElementTree.fromstring(document).find("channel")
    assert found is not None
    return found


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
def test_names(name: str, expected: FeedName | None) -> None:
    assert feed_name(name) == expected


def test_a_channel_file_lists_what_its_platform_can_use() -> None:
    files = (
        file("a b.exe"),
        file("arm.exe", arch="arm64"),
        file("all.zip", "any", "any", sha512=None),
        file("unchecked.exe", sha256=None, sha512=None),
        file("mac.zip", "macos"),
        file("linux.AppImage", "linux"),
        file("arm.AppImage", "linux", "arm64"),
    )
    named = {
        ending: [one["url"] for one in json.loads(channel_file(edition(*files), audience))["files"]]
        for ending, audience in (("", WINDOWS), ("-mac", MAC), ("-linux", LINUX))
    }
    assert named == {
        "": ["a%20b.exe", "arm.exe", "all.zip"],
        "-mac": ["all.zip", "mac.zip"],
        "-linux": ["all.zip", "linux.AppImage"],
    }


def test_a_channel_file() -> None:
    shown = json.loads(channel_file(edition(file("a.exe"), notes="new", percentage=20), WINDOWS))
    sha512 = base64.b64encode(b"\x02" * 64).decode()
    assert shown == {
        "version": "1.2.0",
        "files": [{"url": "a.exe", "size": 5, "sha512": sha512, "sha2": "01" * 32}],
        "path": "a.exe",
        "sha512": sha512,
        "sha2": "01" * 32,
        "releaseDate": "2023-11-14T22:13:20.123Z",
        "releaseNotes": "new",
        "stagingPercentage": 20,
    }
    assert "stagingPercentage" not in json.loads(channel_file(edition(), WINDOWS))


@given(notes=st.text(min_size=1))
def test_notes_break_out_of_neither(notes: str) -> None:
    shown = channel_file(edition(file("a.zip", "macos"), notes=notes), MAC)
    assert json.loads(shown)["releaseNotes"] == notes
    assert all(0x20 <= byte < 0x7F for byte in shown[:-1])
    (item,) = cast(edition(file("a.zip", "macos"), notes=notes)).findall("item")
    assert [child.tag for child in item][-1] == "enclosure"
    assert set((item.findtext("description") or "").replace("\n", "\r")) <= set(notes.replace("\n", "\r"))


def test_an_appcast() -> None:
    shown = edition(file("a b.zip", "macos", "any"), file("x.exe"), notes="<b>&new")
    (item,) = cast(shown).findall("item")
    assert texts(item) | {"enclosure": None} == {
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
        f"{SPARKLE}edSignature": base64.b64encode(SIGNATURE).decode(),
    }


def test_an_appcast_names_what_is_signed_for_each_mac() -> None:
    shown = edition(
        file("x64.zip", "macos"), file("arm.zip", "macos", "arm64"), file("no.zip", "macos", signature=None)
    )
    items = cast(shown, "beta").findall("item")
    assert [texts(item).get("sparkle:hardwareRequirements") for item in items] == [None, "arm64"]
    assert {texts(item)["sparkle:channel"] for item in items} == {"beta"}


def test_an_appcast_of_nothing_is_one() -> None:
    assert cast(None).findall("item") == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"mandatory": True, "min_version": "1.0.0"}, {}),
        ({"min_version": "1.0.0"}, {f"{SPARKLE}version": "1.0.0"}),
    ],
)
def test_what_is_critical(fields: dict[str, object], expected: dict[str, str] | None) -> None:
    (item,) = cast(edition(file("a.zip", "macos"), **fields)).findall("item")
    critical = item.find(f"{SPARKLE}criticalUpdate")
    assert (None if critical is None else critical.attrib) == expected
