"""Modrinth: the part of its API (v2) that launchers read."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scripts.upstreams.catalogue import CatalogueSite
from scripts.upstreams.http import Reply, Request, as_json
from scripts.upstreams.mods import LOADERS, SHOWN, UPDATED, Mod, ModFile

API = "/v2"
LIMIT = 300
_TAGS: dict[str, list[dict[str, Any]]] = {
    "category": [{"name": "adventure", "project_type": "mod", "header": "categories", "icon": "<svg/>"}],
    "loader": [{"name": name, "supported_project_types": ["mod"], "icon": "<svg/>"} for name in LOADERS],
    "game_version": [{"version": "1.21", "version_type": "release", "date": UPDATED, "major": True}],
    "project_type": [{"name": "mod"}],
}
_ORDERS: dict[str, Callable[[Mod], int]] = {
    "relevance": lambda _: 0,
    "downloads": lambda mod: -mod.downloads,
    "follows": lambda mod: -mod.downloads,
    "newest": lambda mod: -mod.number,
    "updated": lambda mod: -mod.number,
}


class ModrinthSite(CatalogueSite):
    """Modrinth.

    Args:
        mods: the mods that it has, by rank.

    Attributes:
        remaining, reset: the values of X-Ratelimit-Remaining and -Reset in every answer.
    """

    def __init__(self, mods: Sequence[Mod] = SHOWN) -> None:
        super().__init__(mods)
        self.remaining = LIMIT
        self.reset = 60

    @property
    def api_url(self) -> str:
        """The base address of its API."""
        return f"{self.base_url}{API}"

    def control(self, line: str, body: Mapping[str, Any]) -> Reply | None:
        """Set the rate limit that answers tell, or do what every catalogue can."""
        if line != "POST /limits":
            return super().control(line, body)
        self.remaining, self.reset = int(body["remaining"]), int(body.get("reset", self.reset))
        return as_json(200, {})

    def found(self, request: Request) -> Reply:
        """The answer where nothing goes wrong; the documented 404 for an unknown path."""
        if request.method != "GET" or not request.path.startswith(f"{API}/"):
            return self.failed(404)
        try:
            value = self._value(request.path.removeprefix(f"{API}/").split("/"), request.query)
        except (ValueError, KeyError):
            return self.failed(400)
        return self.failed(404) if value is None else self._limited(as_json(200, value))

    def failed(self, status: int) -> Reply:
        """A failure in Modrinth's form; a 404 has no body."""
        if status == 404:
            return self._limited(Reply(404))
        error = {"error": "invalid_input", "description": f"the request has failed with {status}"}
        return self._limited(as_json(status, error))

    def _value(self, path: list[str], query: Mapping[str, str]) -> object | None:
        found: Iterable[object] = ()
        match path:
            case ["search"]:
                found = [self._search(query)]
            case ["tag", name] if name in _TAGS:
                found = [_TAGS[name]]
            case ["project", id, *below]:
                found = [_below(mod, below, query) for mod in self._mods([id])]
            case ["projects"]:
                found = [[_project(mod) for mod in self._mods(json.loads(query["ids"]))]]
            case ["versions"]:
                wanted = json.loads(query["ids"])
                found = [[_version(file) for file in self._files() if file.version_id in wanted]]
            case ["version", id]:
                found = (_version(file) for file in self._files() if file.version_id == id)
            case ["version_file", digest]:
                algorithm = query.get("algorithm", "sha1")
                found = (_version(file) for file in self._files() if file.digest(algorithm) == digest)
        return next(iter(found), None)

    def _search(self, query: Mapping[str, str]) -> dict[str, Any]:
        offset, limit = int(query.get("offset", 0)), int(query.get("limit", 10))
        if not 0 <= limit <= 100 or offset < 0:
            raise ValueError("not a page")
        groups = json.loads(query.get("facets", "[]"))
        found = [
            mod
            for mod in self.mods
            if query.get("query", "").lower() in mod.name.lower()
            and all(any(_has(mod, facet) for facet in group) for group in groups)
        ]
        found.sort(key=_ORDERS[query.get("index", "relevance")])
        hits = [_hit(mod) for mod in found[offset : offset + limit]]
        return {"hits": hits, "offset": offset, "limit": limit, "total_hits": len(found)}

    def _mods(self, ids: Iterable[str]) -> Iterable[Mod]:
        wanted = set(ids)
        return (mod for mod in self.mods if {mod.base62_id, mod.slug} & wanted)

    def _files(self) -> Iterable[ModFile]:
        return (file for mod in self.mods for file in mod.files())

    def _limited(self, reply: Reply) -> Reply:
        limits = (
            ("X-Ratelimit-Limit", str(LIMIT)),
            ("X-Ratelimit-Remaining", str(self.remaining)),
            ("X-Ratelimit-Reset", str(self.reset)),
        )
        return replace(reply, headers=(*reply.headers, *limits))


def _has(mod: Mod, facet: str) -> bool:
    name, _, value = facet.partition(":")
    return value in {"project_type": ("mod",), "categories": mod.loaders, "versions": mod.game_versions}[name]


def _below(mod: Mod, path: list[str], query: Mapping[str, str]) -> object | None:
    match path:
        case []:
            return _project(mod)
        case ["version"]:
            return [_version(file) for file in _asked_for(mod, query)]
        case ["dependencies"]:
            return {"projects": [], "versions": []}
        case ["members"]:
            return []
        case _:
            return None


def _asked_for(mod: Mod, query: Mapping[str, str]) -> list[ModFile]:
    loaders = json.loads(query.get("loaders", "[]")) or mod.loaders
    versions = json.loads(query.get("game_versions", "[]")) or mod.game_versions
    return [file for file in mod.files() if file.loader in loaders and file.game_version in versions]


def _hit(mod: Mod) -> dict[str, Any]:
    return {
        "project_id": mod.base62_id, "project_type": "mod", "slug": mod.slug, "author": "someone", "title": mod.name,
        "description": mod.summary, "categories": ["adventure", *mod.loaders], "versions": list(mod.game_versions),
        "downloads": mod.downloads, "follows": mod.downloads // 1000, "date_modified": UPDATED, "license": "MIT",
        "icon_url": f"https://cdn.modrinth.com/data/{mod.base62_id}/icon.png",
    }  # fmt: skip


def _project(mod: Mod) -> dict[str, Any]:
    return {
        "id": mod.base62_id, "slug": mod.slug, "project_type": "mod", "title": mod.name, "description": mod.summary,
        "body": mod.summary, "downloads": mod.downloads, "loaders": list(mod.loaders), "updated": UPDATED,
        "game_versions": list(mod.game_versions), "versions": [file.version_id for file in mod.files()],
    }  # fmt: skip


def _version(file: ModFile) -> dict[str, Any]:
    url = f"https://cdn.modrinth.com/data/{file.mod.base62_id}/versions/{file.version_id}/{file.name}"
    hashes = {algorithm: file.digest(algorithm) for algorithm in ("sha1", "sha512")}
    return {
        "id": file.version_id, "project_id": file.mod.base62_id, "name": file.name, "version_number": "1.0.0",
        "game_versions": [file.game_version], "loaders": [file.loader], "date_published": UPDATED,
        "files": [{"hashes": hashes, "url": url, "filename": file.name, "primary": True, "size": 1}],
    }  # fmt: skip
