"""A page of both catalogues together: both are asked at the same time, each for its share of the page.

The lengths of their lists are known only from the first answers. Beyond the end of the shorter list the longer one has
all places of a page, and its share begins further on than what it was asked for: then it is asked once more.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import trio

from actors.mods.interleaving import shares
from actors.mods.kept import Failure, Reason
from routes.edge.wire import encode
from routes.mods.curseforge_requests import Loader, search_request
from routes.mods.hits import Hit, HitPage, curseforge_hits, kept_page, modrinth_hits, without_repeats
from routes.mods.library import Found, ModLibrary, Outcome
from routes.mods.modrinth_requests import ModrinthQuery, modrinth_request
from routes.mods.requests import OFFSET_MAX, ModRequest, SourceName, game_version
from routes.mods.source import SECONDS

_LATE = Failure(Reason.AWAY, None, 0)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search looks for.

    Args:
        query: the search text, or None.
        version: the game's version, or None.
        loader: the mod loader, or None.
    """

    query: str | None
    version: str | None
    loader: Loader | None

    def request(self, source: SourceName, offset: int, limit: int) -> ModRequest:
        """The request for a part of one catalogue.

        Raises:
            BadQuery: a value is not valid.
        """
        if source == "modrinth":
            query = ModrinthQuery(query=self.query, facets=self._facets(), offset=offset, limit=limit)
            return replace(modrinth_request("search", query), reading=modrinth_hits)
        return search_request(
            self.query,
            version=self.version,
            # CurseForge takes no loader without a version; `suits` filters in its place.
            loader=None if self.version is None else self.loader,
            sort="relevance",
            limit=limit,
            offset=offset,
            reading=curseforge_hits,
        )

    def suits(self, hit: Hit) -> bool:
        """Whether a mod is for the wanted loader, or its catalogue does not say which loaders it is for."""
        return self.loader is None or not hit.loaders or self.loader in hit.loaders

    def _facets(self) -> str:
        groups = [["project_type:mod"]]
        if self.loader is not None:
            groups.append([f"categories:{self.loader}"])
        if self.version is not None:
            groups.append([f"versions:{game_version(self.version)}"])
        return encode(groups).decode("utf-8")


@dataclass(frozen=True, slots=True)
class Part:
    """The answer of one catalogue.

    Args:
        start: the rank of its first hit.
    """

    start: int
    found: Found
    page: HitPage

    @property
    def total(self) -> int:
        """How many of its mods the catalogue can give."""
        return min(self.page.total, OFFSET_MAX)


@dataclass(slots=True)
class Gathered:
    """The result of a search.

    Args:
        parts: {catalogue: answer} of those that have answered.
        failures: {catalogue: failure} of the others.
    """

    parts: dict[SourceName, Part] = field(default_factory=dict)
    failures: dict[SourceName, Failure] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many mods the catalogues that have answered can give together."""
        return sum(part.total for part in self.parts.values())

    def shares(self, offset: int, limit: int) -> dict[SourceName, range]:
        """{catalogue: ranks of its mods that are on a page}."""
        ranks = shares([part.total for part in self.parts.values()], offset, limit)
        return dict(zip(self.parts, ranks, strict=True))

    def hits(self, wanted: Wanted, offset: int, limit: int) -> list[Hit]:
        """The hits of a page, by rank."""
        ranked = [
            (rank, number, part.page.hits[rank - part.start])
            for number, (part, share) in enumerate(
                zip(self.parts.values(), self.shares(offset, limit).values(), strict=True)
            )
            # A catalogue may answer with fewer mods than it has counted.
            for rank in share
            if 0 <= rank - part.start < len(part.page.hits)
        ]
        ranked.sort(key=lambda one: one[:2])
        return without_repeats([hit for _, _, hit in ranked if wanted.suits(hit)])

    def take(self, start: int, source: SourceName, outcome: Outcome) -> None:
        """Store the outcome of asking a catalogue, in place of an earlier one.

        Args:
            start: the rank of the first hit that it was asked for.
        """
        if isinstance(outcome, Failure):
            self.parts.pop(source, None)
            self.failures[source] = outcome
        else:
            self.parts[source] = Part(start, outcome, kept_page(outcome.body.content))


async def gather(
    library: ModLibrary, sources: Iterable[SourceName], wanted: Wanted, offset: int, limit: int
) -> Gathered:
    """Ask catalogues for a page of all their mods together. Takes little more than `SECONDS` at most.

    Args:
        sources: the catalogues, in the order in which they take turns.
        offset: how many mods come before the page.
        limit: how many mods the page has.

    Raises:
        BadQuery: a value is not valid.
    """
    until = trio.current_time() + SECONDS
    names = list(sources)
    starts = [share.start for share in shares([2 * OFFSET_MAX] * len(names), offset, limit)]
    gathered = Gathered()
    first = dict(zip(names, starts, strict=True))
    await _ask(library, gathered, _requests(wanted, first, limit))
    elsewhere = {
        source: share.start
        for source, share in gathered.shares(offset, limit).items()
        if share and share.stop > gathered.parts[source].start + limit
    }
    if elsewhere:
        await _ask(library, gathered, _requests(wanted, elsewhere, limit), until)
    return gathered


_Requests: TypeAlias = Mapping[SourceName, tuple[int, ModRequest]]
"""{catalogue: (rank of the first hit that is asked for, request)}."""


def _requests(wanted: Wanted, starts: Mapping[SourceName, int], limit: int) -> _Requests:
    return {source: (start, wanted.request(source, start, limit)) for source, start in starts.items()}


async def _ask(library: ModLibrary, gathered: Gathered, requests: _Requests, until: float = math.inf) -> None:
    """Ask catalogues, each of which should answer within `SECONDS`; one that is later counts as away."""
    outcomes: dict[SourceName, Outcome] = {}

    async def ask(source: SourceName) -> None:
        _, request = requests[source]
        outcomes[source] = await library.read(request)

    with trio.move_on_at(until):
        async with trio.open_nursery() as nursery:
            for source in requests:
                nursery.start_soon(ask, source)
    for source, (start, _) in requests.items():
        gathered.take(start, source, outcomes.get(source, _LATE))
