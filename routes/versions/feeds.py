"""Feeds of releases for existing updaters: electron-updater and Sparkle (contract §10)."""

from functools import partial
from urllib.parse import quote

import msgspec
import trio

from actors.errors import NotFound
from actors.versions.feeds import FeedName, Folder, feed_name, feed_of, folder_of
from actors.versions.resolving import ScopeState
from persistence.versions.releases import Scope, ScopeType
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import PUBLIC
from routes.edge.reply import Blob, Page, Redirect
from routes.versions.content import KEPT, file_of
from routes.versions.parts import ANSWERS, FOLDERS, RELEASES

_PATH = "/v1/public/versions/feeds"


@endpoint(
    "GET", _PATH + "/{scopeType}/{scopeId}/{fileName}", needs=PUBLIC, cacheable=KEPT, refusals=(NotFound,)
)
async def read_version_feed(
    call: Call, scope_type: str, scope_id: str, file_name: str
) -> Page | Redirect | Blob:
    """A folder of feeds, and of the files they list.

    For electron-updater's generic provider (6.8) `<channel>.yml` for Windows, `<channel>-mac.yml`,
    `<channel>-linux.yml` and `<channel>-linux-arm64.yml`, where `latest` is `stable`: YAML in the form of JSON, with
    the percentage of the roll-out, which the updater applies itself; a 404 where the channel's release has no files for
    that platform. For Sparkle 2 `<channel>.xml`: an appcast of the signed files for macOS, which during a roll-out
    shows the release before it. Every other name is that of a file of an active release, or of the one before it: its
    bytes, with Range and ETag, or a 302 to where they lie.
    """
    try:
        scope = Scope(msgspec.convert(scope_type, ScopeType), scope_id)
    except msgspec.ValidationError:
        raise NotFound("no such scope") from None
    state = await call.service.of(RELEASES).state_of(scope)
    if state is None:
        raise NotFound("no such scope")
    folder = await _folder(call, state)
    name = feed_name(file_name)
    is_feed = name is not None and name.channel in state.pointers
    if name is not None and is_feed and (feed := await _feed(call, state, folder, name)) is not None:
        return feed
    artifact = folder.artifacts.get(file_name)
    if artifact is None:
        raise NotFound(
            "the release of this channel has no files for this platform" if is_feed else "no such file"
        )
    return file_of(call.service, artifact)


async def _folder(call: Call, state: ScopeState) -> Folder:
    folders = call.service.of(FOLDERS)
    folder = folders.get(state)
    if folder is None:
        # A scope may have thousands of files.
        folder = await trio.to_thread.run_sync(folder_of, state)
        folders.keep(state, folder)
    return folder


async def _feed(call: Call, state: ScopeState, folder: Folder, name: FeedName) -> Page | None:
    scope, answers, key = state.scope, call.service.of(ANSWERS), ("feed", name)
    feed = answers.get(key, state)
    if feed is None:
        folder_url = f"{call.service.config.base_url}{_PATH}/{scope.type}/{quote(scope.id, safe='')}"
        # An appcast has the notes once for each of up to eight files: 20 ms.
        made = await trio.to_thread.run_sync(partial(feed_of, state, name, folder, folder_url=folder_url))
        feed = made or b""  # that there is none is kept as well
        answers.keep(key, state, feed)
    if not feed:
        return None
    media = "application/rss+xml" if name.audience is None else "text/yaml"
    return Page(feed, content_type=f"{media}; charset=utf-8")
