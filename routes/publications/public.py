"""The public list of servers (contract §7)."""

from typing import Annotated

import msgspec

from actors.errors import NotFound
from actors.ids import ObjectId
from actors.publications.public import Publication, publication_of
from persistence.publications import listing, publications
from persistence.publications.listing import Place, Sort, Wanted
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.errors import BadQuery
from routes.edge.identity.base64url import from_base64url, to_base64url
from routes.edge.principal import PUBLIC
from routes.edge.wire import Wire
from routes.publications.parts import STATUSES

KEPT = "public, max-age=5"
"""Cache-Control of the list and its entries; short, since statuses change each second."""

_SERVERS = "/v1/public/servers"


class ServersQuery(Wire, frozen=True):
    """Filter and order of the list.

    Args:
        query: a substring of name, address, category or tags, case ignored.
        tag, category: only servers with this one, case ignored.
        sort: most players first, newest first, or by name.
        cursor: `nextCursor` of the page before, with the same `sort`.
        limit: servers of a page, clamped to 1..100.
    """

    query: Annotated[str, msgspec.Meta(max_length=100)] = ""
    tag: Annotated[str, msgspec.Meta(max_length=32)] | None = None
    category: Annotated[str, msgspec.Meta(max_length=32)] | None = None
    sort: Sort = "players"
    cursor: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    limit: Annotated[int, Clamp(1, 100)] = 50


class ServersPage(Wire, frozen=True):
    """A page of the list."""

    items: tuple[Publication, ...]
    next_cursor: str | None
    has_more: bool


class _Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The position of a page's last row in its order."""

    sort: Sort
    number: int
    name: str
    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{24}$")]


@endpoint("GET", _SERVERS, needs=PUBLIC, cacheable=KEPT, refusals=(BadQuery,))
async def list_public_servers(call: Call, query: ServersQuery) -> ServersPage:
    """GET /v1/public/servers: published servers and networks that are listed.

    Sorted by players, a page shows the order of the last second: a server that moves meanwhile may be on two pages, or
    on none.
    """
    wanted = Wanted(
        query.query.replace("\x1f", " ").strip().lower(),
        _lowered(query.tag),
        _lowered(query.category),
    )
    after = _place(query.cursor, query.sort)
    service = call.service
    found = await service.database.read(listing.page, wanted, query.sort, after, query.limit + 1)
    has_more = len(found) > query.limit
    found = found[: query.limit]
    items = tuple(
        publication_of(one.row, service.of(STATUSES).of(one.row.target, call.now_ms)) for one in found
    )
    return ServersPage(items, _cursor(found[-1].place, query.sort) if has_more else None, has_more)


@endpoint("GET", _SERVERS + "/{id}", needs=PUBLIC, cacheable=KEPT, refusals=(NotFound,))
async def read_public_server(call: Call, id: ObjectId) -> Publication:
    """GET /v1/public/servers/{id}: one entry of the list; 404 (NotFound) if it is not listed."""
    row = await call.service.database.read(publications.listed, id)
    if row is None:
        raise NotFound
    return publication_of(row, call.service.of(STATUSES).of(row.target, call.now_ms))


def _lowered(text: str | None) -> str | None:
    return (text or "").strip().lower() or None


def _cursor(place: Place, sort: Sort) -> str:
    return to_base64url(msgspec.json.encode(_Cursor(sort, place.number, place.name, place.id)))


def _place(cursor: str | None, sort: Sort) -> Place | None:
    if cursor is None:
        return None
    try:
        place = msgspec.json.decode(from_base64url(cursor), type=_Cursor)
    except (ValueError, msgspec.MsgspecError):
        raise BadQuery("query parameter cursor is not valid", parameter="cursor") from None
    if place.sort != sort or not 0 <= place.number < 2**62 or "\0" in place.name:
        raise BadQuery("query parameter cursor is not valid", parameter="cursor")
    return Place(place.number, place.name, place.id)
