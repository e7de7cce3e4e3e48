"""The table of all requests that are passed on to Modrinth (API v2); no other request is ever sent."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

from actors.errors import NotFound
from routes.edge.declare.query import Clamp
from routes.edge.errors import bad_parameter
from routes.edge.wire import Wire, encode
from routes.mods.reading import as_it_is
from routes.mods.requests import DAY, FIVE_MINUTES, MINUTE, ModRequest, offset_of, searched

LIMIT_MAX = 100
FACETS_MAX, ALTERNATIVES_MAX, FACET_CHARACTERS = 16, 32, 100
IDS_MAX = 100

T = TypeVar("T")

Index: TypeAlias = Literal["relevance", "downloads", "follows", "newest", "updated"]

_PROJECT = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]{3,64}", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9]{8}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{128}", re.ASCII)
_FACET = re.compile(r"[a-z_]{1,32} ?(?::|=|!=|>=?|<=?) ?[^\s\"'\\]{1,64}(?: [^\s\"'\\]{1,64})*", re.ASCII)
_FILTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}", re.ASCII)
_Facet: TypeAlias = Annotated[str, msgspec.Meta(max_length=FACET_CHARACTERS)]
_Group: TypeAlias = Annotated[list[_Facet], msgspec.Meta(min_length=1, max_length=ALTERNATIVES_MAX)]
_FACETS: msgspec.json.Decoder[list[list[str]]] = msgspec.json.Decoder(
    Annotated[list[_Group], msgspec.Meta(min_length=1, max_length=FACETS_MAX)]
)
_TEXTS: msgspec.json.Decoder[list[str]] = msgspec.json.Decoder(
    Annotated[list[str], msgspec.Meta(min_length=1, max_length=IDS_MAX)]
)


class ModrinthQuery(Wire, frozen=True, rename=None):
    """What Modrinth's routes take; each reads its own, and ignores the others.

    Args:
        query: of `search`: the text.
        facets: of `search`: JSON, such as `[["categories:fabric"],["versions:1.21"]]`; all groups, any of each.
        index: of `search`: the order.
        offset: of `search`: results before the first, at most 10,000.
        limit: of `search`.
        ids: of `projects` and `versions`: JSON, at most 100 ids.
        loaders: of `project/{id}/version`: JSON, such as `["fabric"]`.
        game_versions: of `project/{id}/version`: JSON, such as `["1.21"]`.
        featured: of `project/{id}/version`: only those that are featured, or only those that are not.
        include_changelog: of `project/{id}/version`: false leaves the changelogs out, which makes it much shorter.
    """

    query: str | None = None
    facets: str | None = None
    index: Index = "relevance"
    offset: int = 0
    limit: Annotated[int, Clamp(1, LIMIT_MAX)] = 10
    ids: str | None = None
    loaders: str | None = None
    game_versions: str | None = None
    featured: bool | None = None
    include_changelog: bool = True


Part: TypeAlias = Callable[[str], str | None]
"""Normalises a path segment: returns the one form in which it is requested, or None if it is not valid."""

Pairs: TypeAlias = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Listed:
    parts: tuple[Part, ...]
    fresh_seconds: int
    asked: Callable[[tuple[str, ...], ModrinthQuery], Pairs]


def modrinth_request(path: str, query: ModrinthQuery) -> ModRequest:
    """The request for a path below Modrinth's base address.

    Raises:
        NotFound: the path is none that is passed on.
        BadQuery: a parameter that it reads is not valid, or missing.
    """
    segments = path.split("/")
    for listed in _LISTED:
        normal = _matched(listed.parts, segments)
        if normal is not None:
            asked = tuple(listed.asked(normal, query))
            return ModRequest("modrinth", normal, asked, listed.fresh_seconds, as_it_is)
    raise NotFound


def facets_of(text: str) -> str:
    """Facets in their normal form: without duplicates, and sorted, because neither the order of the groups nor that
    within a group has a meaning.

    Raises:
        BadQuery: the text is no JSON, has too many facets, or facets of a form that Modrinth does not know.
    """
    groups = _decoded("facets", text, _FACETS)
    if not all(_FACET.fullmatch(facet) for group in groups for facet in group):
        raise bad_parameter("facets", "has a facet that is not like categories:fabric")
    distinct = {tuple(sorted(set(group))) for group in groups}
    return encode(sorted(distinct)).decode("utf-8")


def _matched(parts: tuple[Part, ...], segments: list[str]) -> tuple[str, ...] | None:
    if len(parts) != len(segments):
        return None
    normal = [part(segment) for part, segment in zip(parts, segments, strict=True)]
    return None if None in normal else tuple(text for text in normal if text is not None)


def _of(*words: str) -> Part:
    return lambda text: text if text in words else None


def _like(form: re.Pattern[str]) -> Part:
    return lambda text: text if form.fullmatch(text) else None


def _hash(text: str) -> str | None:
    lower = text.lower()
    return lower if _HASH.fullmatch(lower) else None


def _nothing(_path: tuple[str, ...], _query: ModrinthQuery) -> Pairs:
    return iter(())


def _search(_path: tuple[str, ...], query: ModrinthQuery) -> Pairs:
    if text := searched(query.query):
        yield "query", text
    if query.facets:
        yield "facets", facets_of(query.facets)
    yield "index", query.index
    yield "offset", str(offset_of(query.offset))
    yield "limit", str(query.limit)


def _ids(form: re.Pattern[str]) -> Callable[[tuple[str, ...], ModrinthQuery], Pairs]:
    def asked(_path: tuple[str, ...], query: ModrinthQuery) -> Pairs:
        yield "ids", _texts("ids", query.ids or "", form)

    return asked


def _versions(_path: tuple[str, ...], query: ModrinthQuery) -> Pairs:
    if query.loaders:
        yield "loaders", _texts("loaders", query.loaders, _FILTER)
    if query.game_versions:
        yield "game_versions", _texts("game_versions", query.game_versions, _FILTER)
    if query.featured is not None:
        yield "featured", str(query.featured).lower()
    if not query.include_changelog:
        yield "include_changelog", "false"


def _algorithm(path: tuple[str, ...], _query: ModrinthQuery) -> Pairs:
    yield "algorithm", "sha1" if len(path[-1]) == 40 else "sha512"


def _texts(parameter: str, text: str, form: re.Pattern[str]) -> str:
    texts = _decoded(parameter, text, _TEXTS)
    if not all(map(form.fullmatch, texts)):
        raise bad_parameter(parameter, "has an entry of another form")
    return encode(sorted(set(texts))).decode("utf-8")


def _decoded(parameter: str, text: str, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise bad_parameter(parameter, "is not a JSON array of this form, or has too many entries") from None


_LISTED = (
    _Listed((_of("search"),), MINUTE, _search),
    _Listed((_of("tag"), _of("category", "loader", "game_version", "project_type")), DAY, _nothing),
    _Listed((_of("project"), _like(_PROJECT)), FIVE_MINUTES, _nothing),
    _Listed((_of("project"), _like(_PROJECT), _of("version")), FIVE_MINUTES, _versions),
    _Listed((_of("project"), _like(_PROJECT), _of("dependencies", "members")), FIVE_MINUTES, _nothing),
    _Listed((_of("projects"),), FIVE_MINUTES, _ids(_PROJECT)),
    _Listed((_of("version"), _like(_VERSION)), FIVE_MINUTES, _nothing),
    _Listed((_of("versions"),), FIVE_MINUTES, _ids(_VERSION)),
    _Listed((_of("version_file"), _hash), FIVE_MINUTES, _algorithm),
)
