"""CurseForge's mods of Minecraft, passed on; the key of its API is the service's (contract §10)."""

from typing import Annotated

from actors.errors import NotFound
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.errors import BadQuery, UpstreamUnavailable
from routes.edge.principal import PUBLIC
from routes.edge.stored import Stored
from routes.edge.wire import Wire
from routes.mods.curseforge_requests import (
    LIMIT_MAX,
    Loader,
    Sort,
    file_request,
    files_request,
    project_request,
    search_request,
)
from routes.mods.showing import KEPT, JsonDocument, passed_on


class CurseForgeFiles(Wire, frozen=True):
    """Which files of a mod.

    Args:
        game_version: such as `1.21`.
        loader: only with `gameVersion`.
        offset: files before the first; at most 10,000 can be had.
    """

    game_version: str | None = None
    loader: Loader | None = None
    limit: Annotated[int, Clamp(1, LIMIT_MAX)] = 50
    offset: int = 0


class CurseForgeSearch(CurseForgeFiles, frozen=True):
    """Which mods.

    Args:
        query: the text to search for, at most 256 characters.
        game_version: such as `1.21`.
        loader: only with `gameVersion`.
        sort: `relevance` leaves the order to CurseForge.
        offset: mods before the first; at most 10,000 can be had.
    """

    query: str | None = None
    sort: Sort = "relevance"


@endpoint(
    "GET",
    "/v1/public/curseforge/search",
    needs=PUBLIC,
    cacheable=KEPT,
    refusals=(BadQuery, NotFound, UpstreamUnavailable),
)
async def search_curseforge(call: Call, query: CurseForgeSearch) -> Stored[JsonDocument]:
    """Minecraft's mods of CurseForge (Core API v1, `mods/search`), as it answers.

    Kept for 60 seconds. Where no key of CurseForge's API is configured, every answer is a 503.
    """
    request = search_request(
        query.query,
        version=query.game_version,
        loader=query.loader,
        sort=query.sort,
        limit=query.limit,
        offset=query.offset,
    )
    return await passed_on(call, request)


@endpoint(
    "GET",
    "/v1/public/curseforge/projects/{projectId}",
    needs=PUBLIC,
    cacheable=KEPT,
    refusals=(NotFound, BadQuery, UpstreamUnavailable),
)
async def read_curseforge_project(call: Call, project_id: str) -> Stored[JsonDocument]:
    """One mod, as CurseForge answers. Kept for 300 seconds."""
    return await passed_on(call, project_request(project_id))


@endpoint(
    "GET",
    "/v1/public/curseforge/projects/{projectId}/files",
    needs=PUBLIC,
    cacheable=KEPT,
    refusals=(NotFound, BadQuery, UpstreamUnavailable),
)
async def list_curseforge_files(call: Call, project_id: str, query: CurseForgeFiles) -> Stored[JsonDocument]:
    """A page of a mod's files, as CurseForge answers.

    Kept for 300 seconds. Where an author does not let others give files away, their `downloadUrl` is null.
    """
    request = files_request(
        project_id,
        version=query.game_version,
        loader=query.loader,
        limit=query.limit,
        offset=query.offset,
    )
    return await passed_on(call, request)


@endpoint(
    "GET",
    "/v1/public/curseforge/projects/{projectId}/files/{fileId}",
    needs=PUBLIC,
    cacheable=KEPT,
    refusals=(NotFound, BadQuery, UpstreamUnavailable),
)
async def read_curseforge_file(call: Call, project_id: str, file_id: str) -> Stored[JsonDocument]:
    """One file, as CurseForge answers. Kept for 300 seconds.

    `downloadUrl` is passed on as it is. CurseForge's file servers want a key of their own, which clients have to bring.
    """
    return await passed_on(call, file_request(project_id, file_id))
