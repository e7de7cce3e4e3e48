"""Make and change products: units of work, inside the caller's transaction."""

from collections.abc import Sequence

import msgspec

from actors.change import Change
from actors.errors import Invalid, NotFound, QuotaExceeded, RevisionConflict, SlugTaken
from actors.field_errors import FieldError
from actors.ids import RandomBytes, new_object_id
from actors.shop.products import Draft, given_by, is_for_sale
from actors.users.events import NodeAdded
from persistence.capes.rows import hold_cape
from persistence.connection import Connection
from persistence.shop import products as rows
from persistence.shop.entitlements import name_nodes
from persistence.shop.products import Product
from persistence.totems.totems import lock
from persistence.users.audit import Stamp, write_audit
from persistence.users.permissions import GREW, announce

PRODUCTS_MAX = 2_000
"""The most products, on sale or not: purchases refer to them for ever, so they are never deleted."""

AVAILABLE_MAX = 200
"""The most products on sale: the catalog shows all of them at once."""


async def make_product(
    conn: Connection, id: str, draft: Draft, stamp: Stamp, random_bytes: RandomBytes
) -> Change[Product]:
    """Store a new product.

    Args:
        id: a fresh objectId.
        draft: the product, checked by `products.check_draft`.
        stamp: identifies the caller and their request in the audit trail.
        random_bytes: the source of ids for nodes that the catalog of permissions does not have yet.

    Raises:
        Invalid: the cape or totem does not exist, or a part of the bundle does not, or is a bundle.
        SlugTaken: another product has the slug.
        QuotaExceeded: there are too many products, or too many on sale.
    """
    await rows.lock_catalog(conn)
    product = _product(id, draft, revision=1, created_at_ms=stamp.at_ms, now_ms=stamp.at_ms)
    await _check_target(conn, product)
    return await _save(conn, product, "product.created", stamp, random_bytes)


async def change_product(
    conn: Connection, before: Product, draft: Draft, stamp: Stamp, random_bytes: RandomBytes
) -> Change[Product]:
    """Replace a product; checkouts that are open keep what they were made with. Without an effective change nothing is
    written.

    Args:
        before: the product as the client has seen it, of which only id and revision count.
        draft: the product as it is to be, checked by `products.check_draft`.
        stamp: identifies the caller and their request in the audit trail.
        random_bytes: the source of ids for nodes that the catalog of permissions does not have yet.

    Raises:
        NotFound: there is no such product.
        RevisionConflict: the product has changed since the client saw it.
        Invalid, SlugTaken, QuotaExceeded: as for `make_product`; Invalid also if it becomes a bundle and is in one.
    """
    await rows.lock_catalog(conn)
    kept = await rows.lock_product(conn, before.id)
    if kept is None:
        raise NotFound("no such product")
    if kept.revision != before.revision:
        raise RevisionConflict(revision=kept.revision)
    if draft.kind == "bundle" and kept.kind != "bundle" and await rows.is_included(conn, kept.id):
        raise Invalid(FieldError("/kind", "NOT_ALLOWED", "a bundle has it, and no bundle is in a bundle"))
    if draft == _draft(kept):
        return Change(kept)
    revision = kept.revision + 1
    product = _product(
        kept.id, draft, revision=revision, created_at_ms=kept.created_at_ms, now_ms=stamp.at_ms
    )
    if product.available or product.target_id != kept.target_id:
        # What unlocks nothing any more can still be put away, or reworded.
        await _check_target(conn, product)
    return await _save(conn, product, "product.changed", stamp, random_bytes)


def _draft(product: Product) -> Draft:
    return Draft(**{name: getattr(product, name) for name in Draft.__struct_fields__})


def _product(id: str, draft: Draft, *, revision: int, created_at_ms: int, now_ms: int) -> Product:
    fields = msgspec.structs.asdict(draft)
    return Product(id=id, **fields, revision=revision, created_at_ms=created_at_ms, updated_at_ms=now_ms)


async def _save(
    conn: Connection, product: Product, action: str, stamp: Stamp, random_bytes: RandomBytes
) -> Change[Product]:
    parts = await _parts_of(conn, product)
    if not is_for_sale(product) and await rows.is_included(conn, product.id):
        raise Invalid(FieldError("/grants", "NOT_ALLOWED", "a bundle has it, whose parts anybody may sell"))
    if not await rows.slug_is_free(conn, product.slug, of=product.id):
        raise SlugTaken("another product has this slug")
    all_others, available_others = await rows.count_products(conn, but=product.id)
    if all_others >= PRODUCTS_MAX:
        raise QuotaExceeded(message=f"at most {PRODUCTS_MAX} products", max=PRODUCTS_MAX)
    if product.available and available_others >= AVAILABLE_MAX:
        raise QuotaExceeded(
            FieldError("/available", "TOO_MANY", f"at most {AVAILABLE_MAX} products are on sale"),
            max=AVAILABLE_MAX,
        )
    await rows.save_product(conn, product)
    added = await _name_nodes(
        conn, sorted({sold.node for sold in given_by(product, parts)}), stamp, random_bytes
    )
    detail = {
        "productId": product.id, "slug": product.slug, "revision": product.revision, "amount": product.amount,
        "currency": product.currency, "available": product.available, "grants": product.grants,
    }  # fmt: skip
    await write_audit(conn, stamp, action, target_id=None, detail=msgspec.json.encode(detail))
    return Change(product, tuple(map(NodeAdded, added)))


async def _check_target(conn: Connection, product: Product) -> None:
    match product.kind, product.target_id:
        case "cape", str(id):
            found = await hold_cape(conn, id) is not None
        case "totem", str(id):
            found = bool(await lock(conn, [id]))
        case _:
            return
    if not found:
        raise Invalid(FieldError("/targetId", "UNKNOWN", f"no such {product.kind}"))


async def _parts_of(conn: Connection, product: Product) -> list[Product]:
    found = await rows.read_named(conn, product.includes)
    flaws = []
    for index, id in enumerate(product.includes):
        part = found.get(id)
        if part is None or part.id == product.id:
            flaws.append(FieldError(f"/includes/{index}", "UNKNOWN", "no such product"))
        elif not is_for_sale(part):
            # Otherwise a bundle of one would sell, at any price, what its maker may not sell.
            flaws.append(
                FieldError(f"/includes/{index}", "NOT_ALLOWED", "it gives what only super-admins sell")
            )
        elif part.kind == "bundle":
            flaws.append(FieldError(f"/includes/{index}", "NOT_ALLOWED", "no bundle is in a bundle"))
    if flaws:
        raise Invalid(*flaws)
    return [found[id] for id in product.includes]


async def _name_nodes(
    conn: Connection, nodes: Sequence[str], stamp: Stamp, random_bytes: RandomBytes
) -> list[str]:
    """Put what is sold into the catalog of permissions, where admins find it."""
    ids = [new_object_id(stamp.at_ms, random_bytes) for _ in nodes]
    added = await name_nodes(conn, ids, nodes, stamp.at_ms)
    for node in added:
        await announce(conn, GREW + node)
    return added
