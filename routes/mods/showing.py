"""Turns the outcome of asking a catalogue into what a client gets: the answer with its age, or a refusal."""

from actors.errors import NotFound, Refused
from actors.mods.kept import STALE_MS, Failure, Reason
from routes.call import Call
from routes.edge.errors import BadQuery, UpstreamUnavailable
from routes.edge.stored import Stored
from routes.mods.library import Outcome
from routes.mods.parts import MODS
from routes.mods.requests import ModRequest, SourceName

KEPT = "public"
"""The beginning of Cache-Control, after which comes how long the answer stays fresh."""

NAMES: dict[SourceName, str] = {"modrinth": "Modrinth", "curseforge": "CurseForge"}

STALE_SECONDS = STALE_MS // 1000

JsonDocument = dict[str, object] | list[object]
"""The JSON of a catalogue's answer, in the form that the catalogue documents."""


async def passed_on(call: Call, request: ModRequest) -> Stored[JsonDocument]:
    """The answer of a catalogue, as it came.

    Cancellation: as for `ModLibrary.read`.

    Raises:
        NotFound: the catalogue has no such thing.
        BadQuery: the catalogue does not take the query.
        UpstreamUnavailable: the catalogue does not answer, or its answer cannot be used.
    """
    outcome = await call.service.of(MODS).read(request)
    now_ms = call.service.clock.now_ms()
    if isinstance(outcome, Failure):
        raise refusal_of(request.source, outcome, now_ms)
    return Stored(
        outcome.body.content,
        outcome.body.etag,
        age_seconds=age_seconds(outcome, now_ms),
        fresh_seconds=request.fresh_seconds,
        stale_seconds=STALE_SECONDS,
        hit=outcome.hit,
    )


def age_seconds(outcome: Outcome, now_ms: int) -> int:
    """Seconds since an answer came; 0 for a failure, and where the clock was set back."""
    return 0 if isinstance(outcome, Failure) else max(0, now_ms - outcome.body.stored_at_ms) // 1000


def refusal_of(source: SourceName, failure: Failure, now_ms: int) -> Refused:
    """The refusal that a client gets for a failure."""
    name = NAMES[source]
    if failure.reason is Reason.NOT_FOUND:
        return NotFound(f"{name} has no such thing")
    if failure.reason is Reason.REFUSED:
        return BadQuery(f"{name} does not take this query")
    return UpstreamUnavailable(
        f"{name} is not available right now",
        headers={"retry-after": str(seconds_until(failure, now_ms))},
        upstreamStatus=failure.upstream_status,
    )


def seconds_until(failure: Failure, now_ms: int) -> int:
    """Seconds until a failure is forgotten, at least 1."""
    return max(1, -(-(failure.until_ms - now_ms) // 1000))
