"""The list of catalogs, and what one of them has (contract §10)."""

from actors.errors import NotFound
from persistence.catalogs.items import Kind, list_catalogs
from routes.call import Call
from routes.catalogs.entries import LISTED, DrawnItems, RandomQuery, drawn
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import PUBLIC
from routes.edge.reply import Reply
from routes.edge.wire import Wire


class CatalogEntry(Wire, frozen=True):
    """A catalog.

    Args:
        kind: what its items are.
        count: how many it has.
    """

    slug: str
    name: str
    kind: Kind
    count: int


class CatalogList(Wire, frozen=True):
    """All catalogs, by slug; there are at most 50."""

    items: list[CatalogEntry]


@endpoint("GET", "/v1/catalogs", needs=PUBLIC, cacheable=LISTED)
async def read_catalogs(call: Call) -> CatalogList:
    """All catalogs of heads and banners."""
    catalogs = await call.service.database.read(list_catalogs)
    return CatalogList([CatalogEntry(one.slug, one.name, one.kind, one.items) for one in catalogs])


@endpoint("GET", "/v1/public/catalogs/{catalogSlug}/random", needs=PUBLIC, refusals=(NotFound,))
async def draw_from_catalog(call: Call, catalog_slug: str, query: RandomQuery) -> Reply[DrawnItems]:
    """Items of a catalog, drawn by lot.

    A catalog that is empty, or that there is not, is a 404.
    """
    return await drawn(call, None, catalog_slug, query.count)
