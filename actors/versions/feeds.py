"""What existing updaters read: the channel files of electron-updater, and the appcast of Sparkle.

electron-updater's generic provider (6.8) asks for a file named after its channel and platform, and takes the files
that it lists from the same folder. The file is YAML; what is written is JSON in ASCII, which readers of YAML take as it
is, whatever the notes of a release hold. Sparkle 2 reads an RSS feed with elements of its own.

Pure: what is current is told by `Edition`s.
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import quote

from actors import xml
from actors.time import iso

DEFAULT_CHANNEL = "stable"

_SPARKLE = "http://www.andymatuschak.org/xml-namespaces/sparkle"

# electron-updater's name for the channel of all who have chosen none.
_ALIASES = {"latest": DEFAULT_CHANNEL}


class Audience(NamedTuple):
    """Whose files a channel file lists.

    Args:
        platform: of the artifacts, beside those for `any`.
        arches: of the artifacts; None for all, where the updater chooses by name.
    """

    platform: str
    arches: frozenset[str] | None = None


_ENDINGS: Mapping[str, Audience | None] = {
    "-linux-arm64.yml": Audience("linux", frozenset({"arm64", "any"})),
    "-linux.yml": Audience("linux", frozenset({"x64", "any"})),
    "-mac.yml": Audience("macos"),
    ".yml": Audience("windows"),
    ".xml": None,
}
"""{how a feed's name ends: whose it is, None for an appcast}; the longest ending comes first."""


class FeedName(NamedTuple):
    """What the name of a feed says.

    Args:
        channel: of the pointer.
        audience: of a channel file; None for an appcast.
    """

    channel: str
    audience: Audience | None


@dataclass(frozen=True, slots=True)
class FeedFile:
    """An artifact as feeds list it; a whole one, no delta.

    Args:
        name: under which the feed's folder has it.
        size_bytes: of it.
        platform, arch: `any` for all.
        sha256, sha512: of its bytes, where they are known.
        signature: Ed25519 over its bytes, or None.
    """

    name: str
    size_bytes: int
    platform: str
    arch: str
    sha256: bytes | None
    sha512: bytes | None
    signature: bytes | None


@dataclass(frozen=True, slots=True)
class Edition:
    """A release as feeds show it.

    Args:
        version: of it.
        notes: plain text or Markdown.
        published_at_ms: epoch milliseconds.
        mandatory: every client has to install it.
        min_version: clients below it have to install it; None for none.
        percentage: of the clients that it is meant for, 0 to 100.
        files: in the order of the release.
    """

    version: str
    notes: str
    published_at_ms: int
    mandatory: bool
    min_version: str | None
    percentage: int
    files: Sequence[FeedFile]


def feed_name(file_name: str) -> FeedName | None:
    """What a file's name asks for as the name of a feed; None when it is none."""
    for ending, audience in _ENDINGS.items():
        channel = file_name.removesuffix(ending)
        if channel and channel != file_name:
            return FeedName(_ALIASES.get(channel, channel), audience)
    return None


def channel_file(edition: Edition, audience: Audience) -> bytes:
    """electron-updater's `<channel>.yml`. Files without a hash are left out, because the updater refuses all for one.

    Args:
        edition: the release that the channel points to.
        audience: whose file it is.
    """
    files = [
        _listed(file)
        for file in edition.files
        if file.platform in {audience.platform, "any"}
        and (audience.arches is None or file.arch in audience.arches)
        and (file.sha512 is not None or file.sha256 is not None)
    ]
    document: dict[str, object] = {"version": edition.version, "files": files}
    if files:
        # Before version 4 of the updater, a channel file named one file alone.
        document["path"] = files[0]["url"]
        document |= {name: files[0][name] for name in ("sha512", "sha2") if name in files[0]}
    document["releaseDate"] = iso(edition.published_at_ms)
    if edition.notes:
        document["releaseNotes"] = edition.notes
    if edition.percentage < 100:
        document["stagingPercentage"] = edition.percentage
    # YAML has no place for some characters that JSON leaves as they are, such as U+007F and U+FFFE.
    return json.dumps(document, ensure_ascii=True, separators=(", ", ": ")).encode("ascii") + b"\n"


def appcast(edition: Edition | None, *, title: str, channel: str, folder_url: str) -> bytes:
    """Sparkle's appcast of one channel: an item for each signed file of macOS.

    Sparkle has no roll-outs by percentage that a server could decide, so the edition has to be one for everybody.

    Args:
        edition: the release for everybody; None for none, and then the appcast is empty.
        title: of the feed.
        channel: of the pointer; Sparkle's default channel has no name.
        folder_url: absolute, without a slash at its end; below it lie the files.
    """
    signed = () if edition is None else tuple(file for file in edition.files if _for_sparkle(file))
    items = [_item(edition, file, channel, folder_url) for file in signed] if edition is not None else []
    head = (_leaf("title", title), _leaf("link", folder_url), _leaf("description", f"{title}: {channel}"))
    root = xml.element(
        "rss",
        xml.element("channel", *head, *items),
        with_={"version": "2.0", "xmlns:sparkle": _SPARKLE},
    )
    return xml.document(root)


def _listed(file: FeedFile) -> dict[str, object]:
    entry: dict[str, object] = {"url": quote(file.name), "size": file.size_bytes}
    if file.sha512 is not None:
        entry["sha512"] = base64.b64encode(file.sha512).decode("ascii")
    if file.sha256 is not None:
        entry["sha2"] = file.sha256.hex()
    return entry


def _for_sparkle(file: FeedFile) -> bool:
    return file.platform in {"macos", "any"} and file.signature is not None


def _item(edition: Edition, file: FeedFile, channel: str, folder_url: str) -> xml.Markup:
    parts = [
        _leaf("title", f"Version {edition.version}"),
        _leaf("pubDate", formatdate(edition.published_at_ms / 1000, usegmt=True)),
        _leaf("sparkle:version", edition.version),
        _leaf("sparkle:shortVersionString", edition.version),
        *_urgency(edition),
    ]
    if channel != DEFAULT_CHANNEL:
        parts.append(_leaf("sparkle:channel", channel))
    if file.arch == "arm64":
        parts.append(_leaf("sparkle:hardwareRequirements", "arm64"))
    if edition.notes:
        plain = {"sparkle:format": "plain-text"}
        parts.append(xml.element("description", xml.text(edition.notes), with_=plain))
    enclosure = {
        "url": f"{folder_url}/{quote(file.name)}",
        "length": str(file.size_bytes),
        "type": "application/octet-stream",
        "sparkle:edSignature": base64.b64encode(file.signature or b"").decode("ascii"),
    }
    return xml.element("item", *parts, xml.element("enclosure", with_=enclosure))


def _urgency(edition: Edition) -> Iterable[xml.Markup]:
    if edition.mandatory:
        yield xml.element("sparkle:criticalUpdate")
    elif edition.min_version is not None:
        yield xml.element("sparkle:criticalUpdate", with_={"sparkle:version": edition.min_version})


def _leaf(name: str, content: str) -> xml.Markup:
    return xml.element(name, xml.text(content))
