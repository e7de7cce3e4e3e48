"""CurseForge: the part of its Core API (v1) that launchers read, for Minecraft's mods alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.upstreams.catalogue import CatalogueSite
from scripts.upstreams.http import Reply, Request, as_json
from scripts.upstreams.mods import LOADERS, SHOWN, UPDATED, Mod, ModFile

API = "/v1"
KEY = "$2a$10$local"
GAME, CLASS = "432", "6"
PAGE_MAX, RESULTS_MAX = 50, 10_000


class CurseForgeSite(CatalogueSite):
    """CurseForge.

    Args:
        mods: the mods that it has, by rank.
        key: the API key that it takes.
    """

    def __init__(self, mods: Sequence[Mod] = SHOWN, *, key: str = KEY) -> None:
        super().__init__(mods)
        self.key = key

    @property
    def api_url(self) -> str:
        """The base address of its API."""
        return f"{self.base_url}{API}"

    def found(self, request: Request) -> Reply:
        """The answer where nothing goes wrong; a 403 without a body for a wrong key."""
        if request.headers.get("x-api-key") != self.key:
            return self.failed(403)
        if request.method != "GET" or not request.path.startswith(f"{API}/"):
            return self.failed(404)
        try:
            value = self._value(request.path.removeprefix(f"{API}/").split("/"), request.query)
        except (ValueError, KeyError):
            return self.failed(400)
        return self.failed(404) if value is None else as_json(200, value)

    def failed(self, status: int) -> Reply:
        """A failure in CurseForge's form: a 403 has no body, whether the key is wrong or the rate too high."""
        if status == 403:
            return Reply(403, kind="text/html")
        return as_json(status, {"error": f"the request has failed with {status}"})

    def _value(self, path: list[str], query: Mapping[str, str]) -> dict[str, Any] | None:
        match path:
            case ["mods", "search"]:
                return self._search(query)
            case ["mods", id]:
                mod = self._mod(id)
                return None if mod is None else {"data": _shown(mod)}
            case ["mods", id, "files"]:
                mod = self._mod(id)
                files = [] if mod is None else [one for one in mod.files() if _suits(one, query)]
                return None if mod is None else _page([_file(one) for one in files], query)
            case ["mods", id, "files", number]:
                mod = self._mod(id)
                files = [] if mod is None else [one for one in mod.files() if str(one.file_id) == number]
                return {"data": _file(files[0])} if files else None
            case _:
                return None

    def _search(self, query: Mapping[str, str]) -> dict[str, Any]:
        if query["gameId"] != GAME or query["classId"] != CLASS:
            return _page([], query)
        if "modLoaderType" in query and "gameVersion" not in query:
            raise ValueError("modLoaderType needs gameVersion")
        found = [
            mod
            for mod in self.mods
            if query.get("searchFilter", "").lower() in mod.name.lower()
            and any(_suits(file, query) for file in mod.files())
        ]
        if query.get("sortField") == "4":
            found.sort(key=lambda mod: mod.name, reverse=query.get("sortOrder") == "desc")
        return _page([_shown(mod) for mod in found], query)

    def _mod(self, id: str) -> Mod | None:
        return next((mod for mod in self.mods if mod.project_id == int(id)), None)


def _suits(file: ModFile, query: Mapping[str, str]) -> bool:
    loader = query.get("modLoaderType", str(LOADERS[file.loader]))
    return (
        loader == str(LOADERS[file.loader])
        and query.get("gameVersion", file.game_version) == file.game_version
    )


def _page(items: list[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
    index, size = int(query.get("index", 0)), int(query.get("pageSize", PAGE_MAX))
    if not index >= 0 or not 1 <= size <= PAGE_MAX or index + size > RESULTS_MAX:
        raise ValueError("not a page")
    data = items[index : index + size]
    pagination = {"index": index, "pageSize": size, "resultCount": len(data), "totalCount": len(items)}
    return {"data": data, "pagination": pagination}


def _shown(mod: Mod) -> dict[str, Any]:
    indexes = [
        {
            "gameVersion": file.game_version, "fileId": file.file_id, "filename": file.name, "releaseType": 1,
            "gameVersionTypeId": None, "modLoader": LOADERS[file.loader],
        }
        for file in mod.files()
    ]  # fmt: skip
    return {
        "id": mod.project_id, "gameId": int(GAME), "classId": int(CLASS), "name": mod.name, "slug": mod.slug,
        "summary": mod.summary, "status": 4, "downloadCount": mod.downloads, "dateModified": UPDATED,
        "logo": {"thumbnailUrl": f"https://media.forgecdn.net/avatars/thumbnails/{mod.number}.png"},
        "latestFilesIndexes": indexes, "allowModDistribution": mod.distribution, "isAvailable": True,
    }  # fmt: skip


def _file(file: ModFile) -> dict[str, Any]:
    address = f"https://edge.forgecdn.net/files/{file.file_id // 1000}/{file.file_id % 1000}/{file.name}"
    return {
        "id": file.file_id, "gameId": int(GAME), "modId": file.mod.project_id, "isAvailable": True,
        "displayName": file.name, "fileName": file.name, "releaseType": 1, "fileDate": UPDATED, "fileLength": 1,
        "hashes": [{"value": file.digest("sha1"), "algo": 1}],
        "downloadUrl": None if file.mod.distribution is False else address,
        "gameVersions": [file.game_version, file.loader.capitalize()],
    }  # fmt: skip
