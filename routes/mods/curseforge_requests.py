"""The requests that are passed on to CurseForge (Core API v1): of Minecraft's mods alone."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from actors.errors import NotFound
from routes.edge.errors import bad_parameter
from routes.mods.reading import as_it_is
from routes.mods.requests import (
    FIVE_MINUTES,
    MINUTE,
    OFFSET_MAX,
    ModRequest,
    Reading,
    game_version,
    offset_of,
    searched,
)

LIMIT_MAX = 50

Loader: TypeAlias = Literal["fabric", "forge", "neoforge", "quilt"]

Sort: TypeAlias = Literal["relevance", "popularity", "downloads", "updated", "newest", "name", "rating"]

LOADERS: dict[Loader, int] = {"forge": 1, "fabric": 4, "quilt": 5, "neoforge": 6}
"""CurseForge's numbers of the loaders."""

_MINECRAFT = (("gameId", "432"), ("classId", "6"))
_SORTS: dict[Sort, int] = {
    "popularity": 2,
    "updated": 3,
    "name": 4,
    "downloads": 6,
    "newest": 11,
    "rating": 12,
}
_ID = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)


def search_request(
    query: str | None,
    *,
    version: str | None,
    loader: Loader | None,
    sort: Sort,
    limit: int,
    offset: int,
    reading: Reading = as_it_is,
) -> ModRequest:
    """The request for a page of mods.

    Args:
        query: the text to search for, or None.
        version: the game's version, or None.
        loader: the mod loader, or None; only with a version.
        sort: `relevance` leaves the order to CurseForge.
        limit: how many mods the page has, 1 to 50.
        offset: how many mods come before it, from 0.
        reading: turns the answer into what is kept of it.

    Raises:
        BadQuery: a value is not valid.
    """

    def pairs() -> Iterator[tuple[str, str]]:
        yield from _MINECRAFT
        if text := searched(query):
            yield "searchFilter", text
        yield from _filters(version, loader)
        if sort in _SORTS:
            yield "sortField", str(_SORTS[sort])
            yield "sortOrder", "asc" if sort == "name" else "desc"
        yield from _page(limit, offset)

    return ModRequest("curseforge", ("mods", "search"), tuple(pairs()), MINUTE, reading)


def project_request(project_id: str) -> ModRequest:
    """The request for one mod.

    Raises:
        NotFound: the mod's id is no number.
    """
    return ModRequest("curseforge", ("mods", _id(project_id)), (), FIVE_MINUTES, as_it_is)


def files_request(
    project_id: str, *, version: str | None, loader: Loader | None, limit: int, offset: int
) -> ModRequest:
    """The request for a page of a mod's files; `version`, `loader`, `limit` and `offset` as in `search_request`.

    Raises:
        NotFound: the id is no number.
        BadQuery: a value is not valid.
    """
    path = ("mods", _id(project_id), "files")
    query = (*_filters(version, loader), *_page(limit, offset))
    return ModRequest("curseforge", path, query, FIVE_MINUTES, as_it_is)


def file_request(project_id: str, file_id: str) -> ModRequest:
    """The request for one file of a mod.

    Raises:
        NotFound: one of the ids is no number.
    """
    path = ("mods", _id(project_id), "files", _id(file_id))
    return ModRequest("curseforge", path, (), FIVE_MINUTES, as_it_is)


def _filters(version: str | None, loader: Loader | None) -> Iterator[tuple[str, str]]:
    if version is not None:
        yield "gameVersion", game_version(version)
    if loader is None:
        return
    if version is None:
        raise bad_parameter("loader", "needs gameVersion beside it")
    yield "modLoaderType", str(LOADERS[loader])


def _page(limit: int, offset: int) -> Iterator[tuple[str, str]]:
    size = min(limit, OFFSET_MAX - offset_of(offset))
    if size < 1:
        raise bad_parameter("offset", f"is not below {OFFSET_MAX}")
    yield "index", str(offset)
    yield "pageSize", str(size)


def _id(text: str) -> str:
    if _ID.fullmatch(text) is None:
        raise NotFound
    return text
