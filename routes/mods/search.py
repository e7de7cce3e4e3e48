"""The search of both catalogues together (contract §10)."""

from typing import Annotated

from actors.errors import Refused
from actors.mods.kept import Failure, Reason
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.downloads import etag_of_content
from routes.edge.errors import BadQuery, UpstreamUnavailable
from routes.edge.principal import PUBLIC
from routes.edge.stored import Stored
from routes.edge.wire import Wire, encode
from routes.mods.curseforge_requests import Loader
from routes.mods.hits import Hit
from routes.mods.parts import MODS
from routes.mods.requests import MINUTE, SourceName, offset_of
from routes.mods.searching import Gathered, Wanted, gather
from routes.mods.showing import KEPT, STALE_SECONDS, age_seconds, seconds_until

SOURCES: tuple[SourceName, ...] = ("modrinth", "curseforge")


class ModSearch(Wire, frozen=True):
    """Which mods.

    Args:
        query: the text to search for, at most 256 characters.
        source: only this catalogue.
        loader: only mods for it.
        game_version: only mods for it, such as `1.21`.
        offset: mods before the first, at most 10,000.
    """

    query: str | None = None
    source: SourceName | None = None
    loader: Loader | None = None
    game_version: str | None = None
    limit: Annotated[int, Clamp(1, 50)] = 50
    offset: int = 0


class SourceStatus(Wire, frozen=True):
    """Whether a catalogue has answered.

    Args:
        source: the catalogue.
        ok: whether it has answered.
    """

    source: SourceName
    ok: bool


class ModHits(Wire, frozen=True):
    """Mods of both catalogues, the best of each first.

    Args:
        total: how many mods the catalogues that have answered can give.
        sources: the catalogues that were asked.
    """

    items: list[Hit]
    total: int
    limit: int
    offset: int
    sources: list[SourceStatus]


@endpoint(
    "GET",
    "/v1/public/mods/search",
    needs=PUBLIC,
    cacheable=KEPT,
    refusals=(BadQuery, UpstreamUnavailable),
)
async def search_mods(call: Call, query: ModSearch) -> Stored[ModHits]:
    """Mods of Modrinth and CurseForge in one list, in which the catalogues take turns; once one has no more, the other
    goes on alone.

    `sources` says which have answered; where none has, the answer is a 503. Kept for 60 seconds, as `Age` says.
    """
    library = call.service.of(MODS)
    asked = SOURCES if query.source is None else (query.source,)
    wanted = Wanted(query.query, query.game_version, query.loader)
    offset = offset_of(query.offset)
    usable = [source for source in asked if library.sources[source].is_set_up]
    gathered = await gather(library, usable, wanted, offset, query.limit)
    now_ms = call.service.clock.now_ms()
    if not gathered.parts:
        raise _refusal(gathered, now_ms)
    found = [part.found for part in gathered.parts.values()]
    shown = ModHits(
        items=gathered.hits(wanted, offset, query.limit),
        total=gathered.total,
        limit=query.limit,
        offset=offset,
        sources=[SourceStatus(source, source in gathered.parts) for source in asked],
    )
    content = encode(shown)
    return Stored(
        content,
        etag_of_content(content),
        age_seconds=max(age_seconds(one, now_ms) for one in found),
        fresh_seconds=min((MINUTE, *_forgotten(gathered, now_ms))),
        stale_seconds=STALE_SECONDS,
        hit=all(one.hit for one in found),
    )


def _forgotten(gathered: Gathered, now_ms: int) -> list[int]:
    return [seconds_until(failure, now_ms) for failure in gathered.failures.values()]


def _refusal(gathered: Gathered, now_ms: int) -> Refused:
    """What a client is told when no catalogue has answered."""
    failures: list[Failure] = list(gathered.failures.values())
    if failures and all(failure.reason is Reason.REFUSED for failure in failures):
        return BadQuery("no catalogue of mods takes this query")
    statuses = [failure.upstream_status for failure in failures]
    retry = min(_forgotten(gathered, now_ms), default=None)
    return UpstreamUnavailable(
        "no catalogue of mods is available right now",
        headers={} if retry is None else {"retry-after": str(retry)},
        upstreamStatus=next((status for status in statuses if status is not None), None),
    )
