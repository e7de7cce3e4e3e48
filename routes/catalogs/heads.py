"""Heads of all catalogs (contract §10)."""

from actors.errors import NotFound
from actors.ids import ObjectId
from persistence.catalogs.items import read_item
from routes.call import Call
from routes.catalogs.entries import (
    LISTED,
    CatalogItem,
    CatalogSearch,
    DrawnItems,
    RandomQuery,
    SearchQuery,
    drawn,
    entry,
    searched,
)
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import PUBLIC
from routes.edge.reply import Reply


@endpoint("GET", "/v1/head/random", needs=PUBLIC, refusals=(NotFound,))
async def draw_heads(call: Call, query: RandomQuery) -> Reply[DrawnItems]:
    """Heads of all catalogs, drawn by lot; a 404 if there are none."""
    return await drawn(call, "head", None, query.count)


@endpoint("GET", "/v1/head/search", needs=PUBLIC, cacheable=LISTED)
async def search_heads(call: Call, query: SearchQuery) -> CatalogSearch:
    """Heads with a text in their name or in a tag, by catalog and name."""
    return await searched(call, "head", query)


@endpoint("GET", "/v1/head/{id}", needs=PUBLIC, cacheable=LISTED, refusals=(NotFound,))
async def read_head(call: Call, id: ObjectId) -> CatalogItem:
    """One head."""
    item = await call.service.database.read(read_item, "head", id)
    if item is None:
        raise NotFound("no such head")
    return entry(item, call.service.config.base_url)
