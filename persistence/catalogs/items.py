"""Catalogs and their items. Rows only."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from persistence.banners.banners import Design, decode_layers, encode_layers
from persistence.connection import Connection, Row

Kind: TypeAlias = Literal["head", "banner"]
"""What the items of a catalog are."""


class Catalog(msgspec.Struct, frozen=True):
    """One catalog.

    Args:
        slug: the catalog's name in URLs.
        items: how many items it has.
    """

    slug: str
    name: str
    kind: Kind
    items: int


class Item(msgspec.Struct, frozen=True):
    """One item of a catalog.

    Args:
        id: objectId.
        catalog_slug: the slug of the item's catalog.
        texture: the hash of a head's texture; None for a banner.
        design: how a banner looks; None for a head.
    """

    id: str
    catalog_slug: str
    name: str
    tags: tuple[str, ...]
    texture: str | None
    design: Design | None


async def list_catalogs(conn: Connection) -> list[Catalog]:
    """All catalogs, by slug."""
    rows = await conn.fetch('SELECT slug, name, kind, items FROM catalogs ORDER BY slug COLLATE "C"')
    return [Catalog(*row) for row in rows]


async def read_item(conn: Connection, kind: Kind, id: str) -> Item | None:
    """One item of a catalog of this kind, or None."""
    row = await conn.fetchrow(
        f"SELECT {_COLUMNS} FROM catalog_items JOIN catalogs ON slug = catalog_slug"  # noqa: S608 - names of the schema
        " WHERE id = $1 AND kind = $2",
        id,
        kind,
    )
    return None if row is None else _item(row)


async def read_numbered(conn: Connection, slug: str, numbers: Sequence[int]) -> dict[int, Item]:
    """{number: item} of a catalog, in the order of the given numbers; unknown ones are left out.

    Args:
        slug: the catalog's slug.
        numbers: places in the catalog, from 0.
    """
    rows = await conn.fetch(
        f"SELECT number, {_COLUMNS} FROM catalog_items"  # noqa: S608 - names of the schema
        " WHERE catalog_slug = $1 AND number = ANY ($2::integer[]) ORDER BY number",
        slug,
        numbers,
    )
    return {row["number"]: _item(row) for row in rows}


async def lock_catalogs(conn: Connection) -> None:
    """Let no other transaction change catalogs until this one ends; they can be read meanwhile."""
    await conn.execute("LOCK TABLE catalogs IN SHARE ROW EXCLUSIVE MODE")


async def remove_catalog(conn: Connection, slug: str) -> bool:
    """Delete a catalog with all of its items; returns whether there was one."""
    # One by one, because each statement has a deadline, and there may be 100,000 items.
    await conn.execute("DELETE FROM catalog_items WHERE catalog_slug = $1", slug)
    await conn.execute("DELETE FROM catalog_runs WHERE catalog_slug = $1", slug)
    await conn.execute("DELETE FROM catalog_lists WHERE catalog_slug = $1", slug)
    return await conn.fetchval("DELETE FROM catalogs WHERE slug = $1 RETURNING slug", slug) is not None


async def replace_catalog(conn: Connection, catalog: Catalog) -> None:
    """Store a catalog without items, in the place of one that has the same slug."""
    await remove_catalog(conn, catalog.slug)
    await conn.execute(
        "INSERT INTO catalogs (slug, name, kind, items) VALUES ($1, $2, $3, $4)",
        catalog.slug,
        catalog.name,
        catalog.kind,
        catalog.items,
    )


async def add_items(conn: Connection, items: Sequence[tuple[int, Item, str]]) -> None:
    """Store the items of catalogs.

    Args:
        items: (number, item, words): the item's place in its catalog, from 0 without gaps, and its name and tags as
            they are searched, lower-cased, with `runs.BETWEEN` between them.
    """
    await conn.executemany(
        "INSERT INTO catalog_items (id, catalog_slug, number, name, tags, texture, base_color, patterns, words)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [
            (
                item.id,
                item.catalog_slug,
                number,
                item.name,
                item.tags,
                item.texture,
                None if item.design is None else item.design.base_color,
                None if item.design is None else encode_layers(item.design.layers),
                words,
            )
            for number, item, words in items
        ],
    )


_COLUMNS = "id, catalog_slug, catalog_items.name, tags, texture, base_color, patterns"


def _item(row: Row) -> Item:
    design = None if row["patterns"] is None else Design(row["base_color"], decode_layers(row["patterns"]))
    return Item(row["id"], row["catalog_slug"], row["name"], tuple(row["tags"]), row["texture"], design)
