"""Items of catalogs as they cross the wire (contract §10)."""

from typing import Annotated

import msgspec

from actors.catalogs.finding import Found, draw, search
from actors.catalogs.lines import TEXTURES
from actors.errors import NotFound
from persistence.catalogs.items import Item, Kind
from routes.banners.entries import BannerLayer, layers_of, picture_url
from routes.call import Call
from routes.edge.declare.query import Clamp
from routes.edge.reply import Reply
from routes.edge.wire import Wire

QUERY_MAX = 100
"""Most characters of a search text."""

OFFSET_MAX = 1_000_000_000

LISTED = "public, no-cache"
"""Cache-Control of lists, searches and items: caches may keep them, but must revalidate each time, since an import
replaces whole catalogs."""

NOT_KEPT = {"cache-control": "no-store"}
"""Headers of an answer that was drawn by lot: it must not be cached, since the next answer is a different one."""


class SearchQuery(Wire, frozen=True):
    """Which items.

    Args:
        query: a substring of the name or of a tag, case ignored; left out = all items.
    """

    query: Annotated[str, msgspec.Meta(max_length=QUERY_MAX)] = ""
    limit: Annotated[int, Clamp(1, 200)] = 50
    offset: Annotated[int, Clamp(0, OFFSET_MAX)] = 0


class RandomQuery(Wire, frozen=True):
    """`count`: how many items, if there are as many."""

    count: Annotated[int, Clamp(1, 50)] = 1


class CatalogItem(Wire, frozen=True):
    """A head or a banner.

    Args:
        id: stays the same as long as its catalog has an item of this name.
        texture_url: of a head; null for a banner.
        base_color, patterns, image_url: of a banner: its design, and its picture, PNG, 200x400; null for a head.
        catalog_slug: null for a banner of a user.
    """

    id: str
    name: str
    tags: list[str]
    texture_url: str | None
    base_color: str | None
    patterns: list[BannerLayer] | None
    image_url: str | None
    catalog_slug: str | None


class CatalogSearch(Wire, frozen=True):
    """A page of what was found.

    Args:
        total: how many items were found.
        limit, offset: as they were applied.
    """

    entries: list[CatalogItem]
    total: int
    limit: int
    offset: int


class DrawnItems(Wire, frozen=True):
    """Items drawn by lot, none twice."""

    items: list[CatalogItem]


def entry(item: Item, base_url: str) -> CatalogItem:
    """The wire form of an item; its picture lies below `base_url`."""
    design = item.design
    return CatalogItem(
        item.id,
        item.name,
        list(item.tags),
        None if item.texture is None else TEXTURES + item.texture,
        None if design is None else design.base_color,
        None if design is None else layers_of(design),
        None if design is None else picture_url(base_url, item.id),
        item.catalog_slug,
    )


async def searched(call: Call, kind: Kind, query: SearchQuery) -> CatalogSearch:
    """Search all catalogs of a kind."""
    found: Found = await call.service.database.read(search, kind, query.query, query.limit, query.offset)
    entries = [entry(item, call.service.config.base_url) for item in found.items]
    return CatalogSearch(entries, found.total, query.limit, query.offset)


async def drawn(call: Call, kind: Kind | None, slug: str | None, count: int) -> Reply[DrawnItems]:
    """Draw items of catalogs by lot, none twice.

    Args:
        kind: only from catalogs of this kind; None for both kinds.
        slug: only from this catalog; None for all.
        count: how many items to draw at most.

    Raises:
        NotFound: there are no such items.
    """
    seed = call.service.random_bytes(16)
    items = await call.service.database.read(draw, kind, slug, count, seed)
    if not items:
        raise NotFound("no such items")
    return Reply(DrawnItems([entry(item, call.service.config.base_url) for item in items]), headers=NOT_KEPT)
