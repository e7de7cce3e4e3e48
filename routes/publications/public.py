"""The public list of servers (contract §7)."""

from typing import Annotated, get_args

import msgspec

from actors.errors import NotFound
from actors.ids import ObjectId
from actors.publications.public import Publication, publication_of
from persistence.publications import listing, publications
from persistence.publications.listing import Place, Sort, Wanted
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.declare.query import Clamp
from routes.edge.errors import BadQuery
from routes.edge.principal import PUBLIC
from routes.edge.wire import Wire
from routes.publications.parts import STATUSES

KEPT = "public, max-age=5"
"""Cache-Control of the list and its entries; short, since statuses change each second."""

_SERVERS = "/v1/public/servers"
_PAGES: dict[Sort, Cursor[Place]] = {sort: Cursor(f"servers-{sort}", Place) for sort in get_args(Sort)}


class ServersQuery(PageQuery, frozen=True):
    """Filter and order of the list. A cursor is for the same `sort`.

    Args:
        query: a substring of name, address, category or tags, case ignored.
        tag, category: only servers with this one, case ignored.
        sort: most players first, newest first, or by name.
        limit: servers of a page, clamped to 1..100.
    """

    query: Annotated[str, msgspec.Meta(max_length=100)] = ""
    tag: Annotated[str, msgspec.Meta(max_length=32)] | None = None
    category: Annotated[str, msgspec.Meta(max_length=32)] | None = None
    sort: Sort = "players"
    limit: Annotated[int, Clamp(1, 100)] = 50


class ServersPage(Wire, frozen=True):
    """A page of the list."""

    items: tuple[Publication, ...]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", _SERVERS, needs=PUBLIC, cacheable=KEPT, refusals=(BadQuery,))
async def list_public_servers(call: Call, query: ServersQuery) -> ServersPage:
    """Published servers and networks that are listed.

    Sorted by players, a page shows the order of the last second: a server that moves meanwhile may be on two pages, or
    on none.
    """
    wanted = Wanted(
        query.query.replace("\x1f", " ").strip().lower(),
        _lowered(query.tag),
        _lowered(query.category),
    )
    pages, service = _PAGES[query.sort], call.service
    after = pages.place(query.cursor)
    found = await service.database.read(listing.page, wanted, query.sort, after, query.limit + 1)
    page = pages.page(found, query.limit, lambda one: one.place)
    items = tuple(
        publication_of(one.row, service.of(STATUSES).of(one.row.target, call.now_ms)) for one in page.rows
    )
    return ServersPage(items, page.next_cursor, page.has_more)


@endpoint("GET", _SERVERS + "/{id}", needs=PUBLIC, cacheable=KEPT, refusals=(NotFound,))
async def read_public_server(call: Call, id: ObjectId) -> Publication:
    """One entry of the list; 404 if it is not listed."""
    row = await call.service.database.read(publications.listed, id)
    if row is None:
        raise NotFound
    return publication_of(row, call.service.of(STATUSES).of(row.target, call.now_ms))


def _lowered(text: str | None) -> str | None:
    return (text or "").strip().lower() or None
