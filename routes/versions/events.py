"""What clients say about releases, and how many have said it (contract §10)."""

from typing import Annotated

import msgspec

from actors.bounds import IdText
from actors.ids import parse_object_id
from actors.time import DAY_MS, iso, parse_iso
from actors.versions.releases import PLATFORMS
from persistence.versions.counts import (
    FIRST,
    CountPlace,
    VersionCount,
    VersionEvent,
    WantedCounts,
    list_counts,
)
from persistence.versions.releases import Platform
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.declare.query import Clamp
from routes.edge.errors import bad_parameter
from routes.edge.principal import PUBLIC
from routes.edge.wire import Wire
from routes.versions.parts import TALLY

TRACK = "versions:track"

KEPT_DAYS = 400
"""How long counts are kept."""

PAGE_MAX = 5_000
"""How many counts a page has at most: half a megabyte."""

ERROR_MAX = 500

_PAGES = Cursor("version-events", CountPlace)


class EventBody(Wire, frozen=True):
    """What a client says.

    Args:
        event: what the client has done with the release.
        platform: as in artifacts; another one counts as any.
        client_id: not kept.
        error: what went wrong, at most 500 characters; not kept.
    """

    event: VersionEvent
    release_id: IdText
    platform: IdText
    client_id: Annotated[str, msgspec.Meta(max_length=128)] | None = None
    error: Annotated[str, msgspec.Meta(max_length=ERROR_MAX)] | None = None


class EventTaken(Wire, frozen=True):
    """The event has arrived; one about a release that does not exist is dropped."""

    received: bool


class CountsQuery(PageQuery, frozen=True):
    """Which counts.

    Args:
        release_id: only of this release.
        from_, to: ISO 8601; days (UTC), both included. Left out = all that are kept.
        limit: counts of a page, clamped to 1..5000.
    """

    limit: Annotated[int, Clamp(1, PAGE_MAX)] = 50
    release_id: IdText | None = None
    from_: IdText | None = msgspec.field(default=None, name="from")
    to: IdText | None = None


class CountEntry(Wire, frozen=True):
    """How often something was said on a day (UTC).

    Args:
        event: what was said.
        day: the day, as `YYYY-MM-DD`.
        count: how often.
    """

    release_id: str
    event: VersionEvent
    platform: Platform
    day: str
    count: int


class CountsPage(Wire, frozen=True):
    """A page of counts, the newest day first."""

    items: list[CountEntry]
    next_cursor: str | None
    has_more: bool


@endpoint("POST", "/v1/public/versions/events", needs=PUBLIC, status=202)
async def record_version_event(call: Call, body: EventBody) -> EventTaken:
    """A client says that it has looked for, downloaded, installed or launched a release, that it failed, or that it
    went back. Counted by day and platform, and written each second.
    """
    release_id = parse_object_id(body.release_id)
    if release_id is not None:
        platform = PLATFORMS.get(body.platform, "any")
        call.service.of(TALLY).add(call.now_ms // DAY_MS, release_id, body.event, platform)
    return EventTaken(received=True)


@endpoint("GET", "/v1/versions/events", needs=TRACK)
async def list_version_events(call: Call, query: CountsQuery) -> CountsPage:
    """How many clients have said what, by release, platform and day, for 400 days. Needs `versions:track`. A cursor is
    for the same release and days.
    """
    today = call.now_ms // DAY_MS
    release_id = None
    if query.release_id is not None:
        release_id = parse_object_id(query.release_id)
        if release_id is None:
            raise bad_parameter("releaseId")
    first = max(_day(query.from_, "from", 0), today - KEPT_DAYS)
    last = min(_day(query.to, "to", today), today)
    wanted = WantedCounts(
        release_id=release_id,
        first_day=first,
        last_day=last,
        after=_PAGES.place(query.cursor) or FIRST,
        limit=query.limit + 1,
    )
    rows = await call.service.database.read(list_counts, wanted)
    page = _PAGES.page(rows, query.limit, _place_of)
    return CountsPage([_entry(row) for row in page.rows], page.next_cursor, page.has_more)


def _day(text: str | None, name: str, otherwise: int) -> int:
    if text is None:
        return otherwise
    try:
        return parse_iso(text if "T" in text else f"{text}T00:00:00Z") // DAY_MS
    except ValueError:
        raise bad_parameter(name) from None


def _place_of(row: VersionCount) -> CountPlace:
    return CountPlace(row.day, row.release_id, row.event, row.platform)


def _entry(row: VersionCount) -> CountEntry:
    return CountEntry(row.release_id, row.event, row.platform, iso(row.day * DAY_MS)[:10], row.count)
