"""What existing updaters read: the channel files of electron-updater, and the appcast of Sparkle.

electron-updater's generic provider (6.8) asks for a file named after its channel and platform, and takes the files
that it lists from the same folder. The file is YAML; what is written is JSON in ASCII, which readers of YAML take as it
is, whatever the notes of a release hold. Sparkle 2 reads an RSS feed with elements of its own.

Pure: the caller knows which releases the channels offer.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import quote

from actors import xml
from actors.time import iso
from actors.versions.resolving import ScopeState
from persistence.versions.releases import Artifact, Release

DEFAULT_CHANNEL = "stable"

_SPARKLE = "http://www.andymatuschak.org/xml-namespaces/sparkle"

# electron-updater's name for the channel of all who have chosen none.
_ALIASES = {"latest": DEFAULT_CHANNEL}


class Audience(NamedTuple):
    """The clients whose files a channel file lists.

    Args:
        platform: the platform of the artifacts; those for `any` platform are listed, too.
        arches: the architectures of the artifacts; None for all, where the updater chooses by file name.
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
"""{ending of a feed's name: the audience of that channel file, None for an appcast}; longer endings come first."""


class FeedName(NamedTuple):
    """The channel and the audience that the name of a feed stands for.

    Args:
        channel: the channel whose release is offered.
        audience: the audience of a channel file; None for an appcast.
    """

    channel: str
    audience: Audience | None


def feed_name(file_name: str) -> FeedName | None:
    """Parse a file's name as the name of a feed; None when it is none."""
    for ending, audience in _ENDINGS.items():
        channel = file_name.removesuffix(ending)
        if channel and channel != file_name:
            return FeedName(_ALIASES.get(channel, channel), audience)
    return None


class Folder(NamedTuple):
    """The folder of a scope's feeds.

    Args:
        artifacts: {name: artifact}.
        names: {id of an artifact: its name}.
    """

    artifacts: Mapping[str, Artifact]
    names: Mapping[str, str]


def folder_of(state: ScopeState) -> Folder:
    """The files of each release that a channel of a scope points to, or has pointed to before.

    The active releases come first, those of the default channel before the others. A name that is taken gets the
    artifact's id in front, so that what a feed names is what one gets. What was yanked is not there. It takes 1 µs for
    each artifact.
    """
    channels = sorted(state.pointers, key=lambda channel: (channel != DEFAULT_CHANNEL, channel))
    ids = [state.pointers[channel].release_id for channel in channels]
    ids += [state.pointers[channel].previous_release_id or "" for channel in channels]
    artifacts: dict[str, Artifact] = {}
    for id in dict.fromkeys(ids):
        release = state.releases.get(id)
        if release is None or release.status != "published":
            continue
        for artifact in release.artifacts:
            taken = artifact.file_name in artifacts
            artifacts.setdefault(
                f"{artifact.id}-{artifact.file_name}" if taken else artifact.file_name, artifact
            )
    return Folder(artifacts, {artifact.id: name for name, artifact in artifacts.items()})


def feed_of(state: ScopeState, name: FeedName, folder: Folder, *, folder_url: str) -> bytes | None:
    """A feed as it is now; None when its channel points to nothing, or its release has no file for the audience.

    Args:
        state: the state of the scope.
        name: the name of the feed.
        folder: the folder of this state.
        folder_url: the absolute address below which the files lie, without a slash at its end.
    """
    pointer = state.pointers.get(name.channel)
    if pointer is None:
        return None
    active = state.releases[pointer.release_id]
    percentage = 100 if pointer.went_back else active.percentage
    if name.audience is not None:
        return channel_file(active, name.audience, folder, percentage=percentage)
    shown = active if percentage >= 100 else state.releases.get(pointer.previous_release_id or "")
    if shown is not None and shown.status != "published":
        shown = None
    title = f"{state.scope.type} {state.scope.id}"
    return appcast(shown, folder, title=title, channel=name.channel, folder_url=folder_url)


def channel_file(release: Release, audience: Audience, folder: Folder, *, percentage: int) -> bytes | None:
    """electron-updater's `<channel>.yml`; None without a file, because the updater would announce the version first and
    fail then. Files without a hash are left out: for one of them, it would refuse them all.

    Args:
        release: the release that the channel offers.
        audience: the clients for whom the file is.
        folder: the folder, which has the names of the artifacts.
        percentage: to how many of all clients the release is offered, 0 to 100 percent.
    """
    files = [
        _listed(name, artifact)
        for name, artifact in _whole(release, folder)
        if artifact.platform in {audience.platform, "any"}
        and (audience.arches is None or artifact.arch in audience.arches)
        and (artifact.sha512 is not None or artifact.sha256 is not None)
    ]
    if not files:
        return None
    # Before version 4 of the updater, a channel file named one file alone.
    document: dict[str, object] = {
        "version": release.version,
        "files": files,
        "path": files[0]["url"],
        **{name: files[0][name] for name in ("sha512", "sha2") if name in files[0]},
        "releaseDate": iso(_published_ms(release)),
    }
    if release.notes:
        document["releaseNotes"] = release.notes
    if percentage < 100:
        document["stagingPercentage"] = percentage
    # YAML has no place for some characters that JSON leaves as they are, such as U+007F and U+FFFE.
    return json.dumps(document, ensure_ascii=True, separators=(", ", ": ")).encode("ascii") + b"\n"


def appcast(release: Release | None, folder: Folder, *, title: str, channel: str, folder_url: str) -> bytes:
    """Sparkle's appcast of one channel: an item for each signed file of macOS.

    Sparkle leaves no roll-out by percentage to the server, so the release has to be one for everybody.

    Args:
        release: the release for everybody; None for none, and then the appcast is empty.
        folder: the folder, which has the names of the artifacts.
        title: the title of the feed.
        channel: the channel that offers the release; Sparkle's default channel has no name.
        folder_url: the absolute address below which the files lie, without a slash at its end.
    """
    items = [
        _item(release, artifact, channel, f"{folder_url}/{quote(name)}")
        for name, artifact in (_whole(release, folder) if release is not None else ())
        if release is not None and artifact.platform in {"macos", "any"} and artifact.signature is not None
    ]
    head = (_leaf("title", title), _leaf("link", folder_url), _leaf("description", f"{title}: {channel}"))
    root = xml.element(
        "rss",
        xml.element("channel", *head, *items),
        with_={"version": "2.0", "xmlns:sparkle": _SPARKLE},
    )
    return xml.document(root)


def _whole(release: Release, folder: Folder) -> list[tuple[str, Artifact]]:
    """The artifacts of the release that are no deltas, with their names in the folder."""
    named = ((folder.names.get(artifact.id), artifact) for artifact in release.artifacts)
    return [(name, artifact) for name, artifact in named if name is not None and artifact.kind == "full"]


def _listed(name: str, artifact: Artifact) -> dict[str, object]:
    entry: dict[str, object] = {"url": quote(name), "size": artifact.size_bytes}
    if artifact.sha512 is not None:
        entry["sha512"] = base64.b64encode(bytes.fromhex(artifact.sha512)).decode("ascii")
    if artifact.sha256 is not None:
        entry["sha2"] = artifact.sha256
    return entry


def _item(release: Release, artifact: Artifact, channel: str, url: str) -> xml.Markup:
    parts = [
        _leaf("title", f"Version {release.version}"),
        _leaf("pubDate", formatdate(_published_ms(release) / 1000, usegmt=True)),
        _leaf("sparkle:version", release.version),
        _leaf("sparkle:shortVersionString", release.version),
        *_urgency(release),
    ]
    if channel != DEFAULT_CHANNEL:
        parts.append(_leaf("sparkle:channel", channel))
    if artifact.arch == "arm64":
        parts.append(_leaf("sparkle:hardwareRequirements", "arm64"))
    if release.notes:
        plain = {"sparkle:format": "plain-text"}
        parts.append(xml.element("description", xml.text(release.notes), with_=plain))
    enclosure = {
        "url": url,
        "length": str(artifact.size_bytes),
        "type": "application/octet-stream",
        "sparkle:edSignature": artifact.signature or "",
    }
    return xml.element("item", *parts, xml.element("enclosure", with_=enclosure))


def _urgency(release: Release) -> Iterable[xml.Markup]:
    if release.update_policy == "mandatory":
        yield xml.element("sparkle:criticalUpdate")
    elif release.min_version is not None:
        yield xml.element("sparkle:criticalUpdate", with_={"sparkle:version": release.min_version})


def _published_ms(release: Release) -> int:
    return release.created_at_ms if release.published_at_ms is None else release.published_at_ms


def _leaf(name: str, content: str) -> xml.Markup:
    return xml.element(name, xml.text(content))
