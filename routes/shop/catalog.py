"""The catalog: what is on sale (contract §10)."""

import msgspec

from actors.shop.public import ProductEntry, product_entry
from persistence.connection import Connection
from persistence.shop.entitlements import products_owned
from persistence.shop.products import Product, ProductKind, list_on_sale
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire

KEPT = "private, no-cache"
"""Cache-Control of the catalog: `owned` is about one user, and changes with each purchase."""


class CatalogQuery(msgspec.Struct, frozen=True):
    """Which products.

    Args:
        kind: only products of this kind; left out = all.
    """

    kind: ProductKind | None = None


class Catalog(Wire, frozen=True):
    """The products on sale, by name."""

    items: list[ProductEntry]


@endpoint("GET", "/v1/shop/catalog", needs=AUTHENTICATED, cacheable=KEPT)
async def read_catalog(call: Call, query: CatalogQuery) -> Catalog:
    """The products on sale, by name; `owned` tells which of them have given the caller rights."""

    async def read(conn: Connection) -> tuple[list[Product], set[str]]:
        return await list_on_sale(conn, query.kind), await products_owned(conn, call.user_id, call.now_ms)

    products, owned = await call.service.database.read(read)
    return Catalog([product_entry(one, owned) for one in products])
