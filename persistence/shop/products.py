"""Products of the shop. Rows only."""

from collections.abc import Collection
from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Connection, Row
from persistence.statements import inserting, replacing

ProductKind: TypeAlias = Literal["cape", "totem", "supporter", "permission", "bundle"]
"""What a product is about (contract §10)."""


class Sold(msgspec.Struct, frozen=True):
    """A right that a product gives.

    Args:
        node: a permission node, without `*`.
        value: the quantity of a quota node; None for other nodes.
        unit: unit of `value`; None for a bare number.
        days: for how many days one piece lasts; None for ever.
    """

    node: str
    value: float | None = None
    unit: str | None = None
    days: int | None = None


class Product(msgspec.Struct, frozen=True, kw_only=True):
    """A product.

    Args:
        amount: the price in the smallest unit of the currency.
        currency: three lower-case letters (ISO 4217).
        grants: the rights that it gives beside those that follow from its kind.
        target_id: the cape or totem that it unlocks.
        includes: ids of the products of a bundle.
        available: whether admins offer it; it is on sale only while what it unlocks exists, and a cape is approved.
        most_each: how many pieces one recipient may have; None for any number.
        revision: 1 at first; rises with each change.
    """

    id: str
    slug: str
    kind: ProductKind
    name: str
    description: str
    amount: int
    currency: str
    grants: tuple[Sold, ...]
    image_url: str | None
    target_id: str | None
    includes: tuple[str, ...]
    available: bool
    most_each: int | None
    revision: int
    created_at_ms: int
    updated_at_ms: int


async def list_on_sale(conn: Connection, kind: ProductKind | None) -> list[Product]:
    """The products on sale, by name; only those of a kind unless it is None."""
    rows = await conn.fetch(_LIST_ON_SALE, kind)
    return [_product(row) for row in rows]


async def list_all(conn: Connection, after: str | None, limit: int) -> list[Product]:
    """All products by id, those above `after` (None = from the first), at most `limit`."""
    rows = await conn.fetch(
        "SELECT * FROM shop_products WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2", after, limit
    )
    return [_product(row) for row in rows]


async def read_named(conn: Connection, ids: Collection[str]) -> dict[str, Product]:
    """{id: product} of those that exist."""
    rows = await conn.fetch("SELECT * FROM shop_products WHERE id = ANY ($1::text[])", list(ids))
    return {row["id"]: _product(row) for row in rows}


async def on_sale_named(conn: Connection, ids: Collection[str]) -> dict[str, Product]:
    """{id: product} of those that are on sale."""
    rows = await conn.fetch(_ON_SALE_NAMED, list(ids))
    return {row["id"]: _product(row) for row in rows}


async def lock_product(conn: Connection, id: str) -> Product | None:
    """One product, its row locked until the transaction ends; None when there is none."""
    row = await conn.fetchrow("SELECT * FROM shop_products WHERE id = $1 FOR UPDATE", id)
    return None if row is None else _product(row)


async def lock_catalog(conn: Connection) -> None:
    """Serialise changes of products until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('products of the shop', 31))")


async def count_products(conn: Connection, *, but: str) -> tuple[int, int]:
    """(number of all products, number of those that are offered, whether or not what they unlock exists at present),
    without the product whose id is `but`."""
    row = await conn.fetchrow(_COUNT, but)
    return (0, 0) if row is None else (row[0], row[1])


async def slug_is_free(conn: Connection, slug: str, *, of: str) -> bool:
    """Whether no other product than `of` has this slug."""
    return not await conn.fetchval(
        "SELECT EXISTS (SELECT FROM shop_products WHERE slug = $1 AND id <> $2)", slug, of
    )


async def is_included(conn: Connection, id: str) -> bool:
    """Whether a bundle has this product in it."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM shop_products WHERE $1 = ANY (includes))", id
    )
    return found


async def save_product(conn: Connection, product: Product) -> None:
    """Store a product, in place of the one with this id."""
    await conn.execute(
        _SAVE,
        *(getattr(product, name) for name in _AS_THEY_ARE),
        msgspec.json.encode(product.grants),
        list(product.includes),
    )


async def is_on_sale(conn: Connection, kind: ProductKind, target_id: str) -> bool:
    """Whether a product that is offered, by itself or in a bundle that is, unlocks this cape or totem, which exists."""
    found: bool = await conn.fetchval(_IS_ON_SALE, kind, target_id)
    return found


_IS_ON_SALE = """
SELECT EXISTS (SELECT FROM shop_products AS part WHERE kind = $1 AND target_id = $2 AND (
    available OR EXISTS (SELECT FROM shop_products AS whole WHERE whole.available AND part.id = ANY (whole.includes))
))
"""

# A bundle sells what its parts unlock, also while they are not offered by themselves.
_OFFERED = """available AND NOT EXISTS (
    SELECT FROM shop_products AS part WHERE part.id = ANY (shop_products.id || shop_products.includes)
    AND CASE part.kind
        WHEN 'cape' THEN NOT EXISTS (SELECT FROM capes WHERE capes.id = part.target_id)
        WHEN 'totem' THEN NOT EXISTS (SELECT FROM totem_models WHERE totem_models.id = part.target_id)
        ELSE false
    END
)"""

# Nobody but its maker can wear a cape that is not approved, or not any more.
_ON_SALE = _OFFERED.replace(
    "capes.id = part.target_id", "capes.id = part.target_id AND capes.status = 'approved'"
)

_LIST_ON_SALE = f"""
SELECT * FROM shop_products WHERE {_ON_SALE} AND ($1::text IS NULL OR kind = $1) ORDER BY name COLLATE "C", id
"""  # noqa: S608 - constants only

_ON_SALE_NAMED = f"SELECT * FROM shop_products WHERE id = ANY ($1::text[]) AND {_ON_SALE}"  # noqa: S608 - constants only

_COUNT = f"""
SELECT count(*), count(*) FILTER (WHERE {_OFFERED}) FROM shop_products WHERE id <> $1
"""  # noqa: S608 - constants only

_AS_THEY_ARE = tuple(name for name in Product.__struct_fields__ if name not in {"grants", "includes"})

_COLUMNS = (*_AS_THEY_ARE, "grants", "includes")

_SAVE = inserting("shop_products", _COLUMNS) + replacing(_COLUMNS)

_grants = msgspec.json.Decoder(tuple[Sold, ...])


def _product(row: Row) -> Product:
    values = {name: row[name] for name in _AS_THEY_ARE}
    return Product(**values, grants=_grants.decode(row["grants"]), includes=tuple(row["includes"]))
