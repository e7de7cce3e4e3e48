"""Banners of all catalogs, and those of users (contract §10)."""

from actors.errors import NotFound
from actors.ids import ObjectId
from persistence.banners.banners import Banner, read_banner
from persistence.catalogs.items import Item, read_item
from persistence.connection import Connection
from routes.banners.entries import layers_of, picture_url
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


@endpoint("GET", "/v1/banner/random", needs=PUBLIC, refusals=(NotFound,))
async def draw_banners(call: Call, query: RandomQuery) -> Reply[DrawnItems]:
    """Banners of all catalogs, drawn by lot; a 404 if there are none."""
    return await drawn(call, "banner", None, query.count)


@endpoint("GET", "/v1/banner/search", needs=PUBLIC, cacheable=LISTED)
async def search_banners(call: Call, query: SearchQuery) -> CatalogSearch:
    """Banners with a text in their name or in a tag, by catalog and name."""
    return await searched(call, "banner", query)


@endpoint("GET", "/v1/banner/{id}", needs=PUBLIC, cacheable=LISTED, refusals=(NotFound,))
async def show_banner(call: Call, id: ObjectId) -> CatalogItem:
    """One banner, of a catalog or of a user."""
    found = await call.service.database.read(_find, id)
    if found is None:
        raise NotFound("no such banner")
    base_url = call.service.config.base_url
    return entry(found, base_url) if isinstance(found, Item) else _entry_of_user(found, base_url)


async def _find(conn: Connection, id: str) -> Item | Banner | None:
    return await read_item(conn, "banner", id) or await read_banner(conn, id)


def _entry_of_user(banner: Banner, base_url: str) -> CatalogItem:
    return CatalogItem(
        banner.id,
        banner.name,
        [],
        None,
        banner.design.base_color,
        layers_of(banner.design),
        picture_url(base_url, banner.id),
        None,
    )
