"""Mods in the searches of both catalogues, in one common form, which is kept in place of their answers."""

from collections.abc import Iterable, Sequence
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

import msgspec

from routes.edge.outgoing_json import NotUnderstood, decoded
from routes.edge.wire import Wire, encode
from routes.mods.curseforge_requests import LOADERS
from routes.mods.requests import SourceName, Unreadable

T = TypeVar("T")

_LOADER_NAMES = {number: name for name, number in LOADERS.items()}
_ADDRESS_MAX = 2048

_Count = Annotated[int, msgspec.Meta(ge=0)]


class Hit(Wire, frozen=True):
    """A mod, as either catalogue has it.

    Args:
        source: the catalogue that has it.
        project_id: the mod's id in its catalogue.
        summary: a sentence on what it does.
        icon_url: https, or null.
        downloads: the downloads of all its files.
        loaders: such as `fabric`; sorted.
        game_versions: the versions of the game that it has files for.
        distribution_allowed: whether its author lets others give its files away; false means that its files have no
            address to download from.
    """

    source: SourceName
    project_id: str
    slug: str
    name: str
    summary: str
    icon_url: str | None
    downloads: int
    loaders: list[str]
    game_versions: list[str]
    distribution_allowed: bool


class HitPage(msgspec.Struct, frozen=True):
    """A page of the search of one catalogue.

    Args:
        total: how many mods the catalogue has found in all.
    """

    total: int
    hits: list[Hit]


class _ModrinthHit(msgspec.Struct, frozen=True):
    project_id: str
    title: str
    description: str
    slug: str | None = None
    icon_url: str | None = None
    downloads: int = 0
    categories: list[str] = []
    versions: list[str] = []


class _ModrinthPage(msgspec.Struct, frozen=True):
    hits: list[_ModrinthHit]
    total_hits: _Count


class _Logo(msgspec.Struct, frozen=True, rename="camel"):
    thumbnail_url: str | None = None


class _FileIndex(msgspec.Struct, frozen=True, rename="camel"):
    game_version: str
    mod_loader: int | None = None


class _CurseForgeMod(msgspec.Struct, frozen=True, rename="camel"):
    id: int
    name: str
    slug: str
    summary: str = ""
    download_count: float = 0
    logo: _Logo | None = None
    latest_files_indexes: list[_FileIndex] = []
    allow_mod_distribution: bool | None = None


class _Pagination(msgspec.Struct, frozen=True, rename="camel"):
    total_count: _Count


class _CurseForgePage(msgspec.Struct, frozen=True):
    data: list[_CurseForgeMod]
    pagination: _Pagination


def modrinth_hits(body: bytes) -> bytes:
    """What is kept of an answer to Modrinth's search.

    Raises:
        Unreadable: the body is no such answer.
    """
    page = _decoded(body, _ModrinthPage)
    return encode(HitPage(page.total_hits, [_of_modrinth(hit) for hit in page.hits]))


def curseforge_hits(body: bytes) -> bytes:
    """What is kept of an answer to CurseForge's search.

    Raises:
        Unreadable: the body is no such answer.
    """
    page = _decoded(body, _CurseForgePage)
    return encode(HitPage(page.pagination.total_count, [_of_curseforge(mod) for mod in page.data]))


def kept_page(content: bytes) -> HitPage:
    """The page in what was kept of an answer."""
    return _kept.decode(content)


_kept = msgspec.json.Decoder(HitPage)


def _of_modrinth(hit: _ModrinthHit) -> Hit:
    return Hit(
        source="modrinth",
        project_id=hit.project_id,
        slug=hit.slug or hit.project_id,
        name=hit.title,
        summary=hit.description,
        icon_url=_https(hit.icon_url),
        downloads=hit.downloads,
        loaders=sorted(LOADERS.keys() & set(hit.categories)),
        game_versions=_once(hit.versions),
        distribution_allowed=True,
    )


def _of_curseforge(mod: _CurseForgeMod) -> Hit:
    files = mod.latest_files_indexes
    numbers = {one.mod_loader for one in files if one.mod_loader is not None}
    return Hit(
        source="curseforge",
        project_id=str(mod.id),
        slug=mod.slug,
        name=mod.name,
        summary=mod.summary,
        icon_url=_https(None if mod.logo is None else mod.logo.thumbnail_url),
        downloads=int(mod.download_count),
        loaders=sorted(_LOADER_NAMES[number] for number in numbers & _LOADER_NAMES.keys()),
        game_versions=_once(one.game_version for one in files),
        # Null means that the author has not decided, and then CurseForge does give addresses.
        distribution_allowed=mod.allow_mod_distribution is not False,
    )


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _https(address: str | None) -> str | None:
    if not address or len(address) > _ADDRESS_MAX:
        return None
    try:
        return address if urlsplit(address).scheme == "https" else None
    except ValueError:
        return None


def _decoded(body: bytes, type_: type[T]) -> T:
    try:
        return decoded(body, type_)
    except NotUnderstood:
        raise Unreadable from None


def without_repeats(hits: Sequence[Hit]) -> list[Hit]:
    """Each mod of each catalogue once; a catalogue that changed between two pages may have named one twice."""
    return list({(hit.source, hit.project_id): hit for hit in reversed(hits)}.values())[::-1]
