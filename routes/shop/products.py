"""Products, as those who manage the shop see and change them (contract §10)."""

from typing import Annotated

import msgspec
from msgspec.structs import replace

from actors.bounds import Bigint, IdText, LongText, ObjectIdText, ShortText, ruled, whole
from actors.errors import Invalid, NotFound, QuotaExceeded, RevisionConflict, SlugTaken
from actors.field_errors import FieldError
from actors.ids import ObjectId
from actors.shop.products import (
    AMOUNT_MAX,
    DAYS_MAX,
    DESCRIPTION_MAX,
    GRANTS_MAX,
    IMAGE_URL_MAX,
    INCLUDES_MAX,
    MOST_EACH_MAX,
    NAME_MAX,
    SLUG_FORM,
    Draft,
    check_draft,
)
from actors.shop.public import ProductEntry, product_entry
from actors.shop.units_products import change_product, make_product
from actors.texts import with_line_feeds
from actors.users.permissions import NODE_MAX_LENGTH
from actors.users.quantities import QUANTITY_MAX
from actors.users.units_rights import quantity_of
from persistence.shop.products import Product, ProductKind, Sold, list_all, read_named
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.wire import Wire
from routes.users.admin import Amount

MANAGE = "shop:manage"

_PAGES = Cursor("products", str)


class PriceBody(Wire, frozen=True):
    """An amount of money.

    Args:
        amount: in the currency's smallest unit, 0 to 99,999,999; with Stripe 0 or at least 50.
        currency: three letters (ISO 4217), in any case.
    """

    amount: Annotated[Bigint, ruled(minimum=0, maximum=AMOUNT_MAX)]
    currency: Annotated[IdText, ruled(pattern="^[A-Za-z]{3}$")]


class ProductGrant(Wire, frozen=True):
    """A right that the product gives.

    Args:
        node: a `perk:…` node or a quota; super-admins may sell others, but none with a `*`.
        value: the quantity of a quota.
        expires_in_days: how long one piece lasts, 1 to 3,650 days; left out = for good.
    """

    node: Annotated[ShortText, ruled(minLength=1, maxLength=NODE_MAX_LENGTH)]
    value: Annotated[int, msgspec.Meta(ge=-QUANTITY_MAX, le=QUANTITY_MAX)] | float | Amount | None = None
    expires_in_days: Annotated[Bigint, ruled(minimum=1, maximum=DAYS_MAX)] | None = None


Grants = Annotated[
    tuple[ProductGrant, ...], msgspec.Meta(max_length=2 * GRANTS_MAX), ruled(maxItems=GRANTS_MAX)
]
Includes = Annotated[
    tuple[ObjectIdText, ...],
    msgspec.Meta(max_length=2 * INCLUDES_MAX),
    ruled(maxItems=INCLUDES_MAX, uniqueItems=True),
]
Slug = Annotated[ShortText, ruled(pattern=whole(SLUG_FORM))]
Name = Annotated[ShortText, ruled(minLength=1, maxLength=NAME_MAX)]
Description = Annotated[LongText, ruled(maxLength=DESCRIPTION_MAX)]
ImageUrl = Annotated[ShortText, ruled(maxLength=IMAGE_URL_MAX)]
Limit = Annotated[Bigint, ruled(minimum=1, maximum=MOST_EACH_MAX)]


class ProductBody(Wire, frozen=True):
    """A new product.

    Args:
        slug: 3 to 64 of a-z, 0-9 and -; unique. The tier of a supporter.
        kind: what is bought with it.
        description: what a buyer is told of it.
        grants: at most 16 rights.
        image_url: an https address; it is never fetched.
        target_id: the cape or totem that it unlocks: while the product, or a bundle with it, is on sale, only its
            creator and those who have bought it may choose that one.
        includes: ids of the products of a bundle, 1 to 20.
        available: whether it is on sale.
        limit: how many pieces one recipient may have, 1 to 1,000; null = any number, unless it costs nothing.
    """

    slug: Slug
    name: Name
    kind: ProductKind
    price: PriceBody
    description: Description = ""
    grants: Grants = ()
    image_url: ImageUrl | None = None
    target_id: IdText | None = None
    includes: Includes = ()
    available: bool = True
    limit: Limit | None = None


class ProductPatch(Wire, frozen=True):
    """What changes of a product; fields that are left out stay. `ProductBody` explains them.

    Args:
        revision: of the product that was changed.
        kind: what is bought with it.
        description: what a buyer is told of it.
        target_id: the cape or totem that it unlocks.
        includes: ids of the products of a bundle.
        available: whether it is on sale.
        limit: how many pieces one recipient may have; null for any number, unless it costs nothing.
    """

    revision: Bigint
    slug: Slug | msgspec.UnsetType = msgspec.UNSET
    name: Name | msgspec.UnsetType = msgspec.UNSET
    kind: ProductKind | msgspec.UnsetType = msgspec.UNSET
    price: PriceBody | msgspec.UnsetType = msgspec.UNSET
    description: Description | msgspec.UnsetType = msgspec.UNSET
    grants: Grants | msgspec.UnsetType = msgspec.UNSET
    image_url: ImageUrl | msgspec.UnsetType | None = msgspec.UNSET
    target_id: IdText | msgspec.UnsetType | None = msgspec.UNSET
    includes: Includes | msgspec.UnsetType = msgspec.UNSET
    available: bool | msgspec.UnsetType = msgspec.UNSET
    limit: Limit | msgspec.UnsetType | None = msgspec.UNSET


class ProductPage(Wire, frozen=True):
    """A page of all products, in the order in which they were made."""

    items: list[ProductEntry]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", "/v1/admin/shop/products", needs=MANAGE)
async def list_products(call: Call, query: PageQuery) -> ProductPage:
    """All products, on sale or not. Needs `shop:manage`."""
    rows = await call.service.database.read(list_all, _PAGES.place(query.cursor), query.limit + 1)
    page = _PAGES.page(rows, query.limit, lambda row: row.id)
    return ProductPage([product_entry(row) for row in page.rows], page.next_cursor, page.has_more)


@endpoint(
    "POST",
    "/v1/admin/shop/products",
    needs=MANAGE,
    status=201,
    refusals=(Invalid, QuotaExceeded, SlugTaken),
)
async def add_product(call: Call, body: ProductBody) -> ProductEntry:
    """Makes a product. Needs `shop:manage`; the audit trail records it."""
    draft = Draft(
        slug=body.slug, kind=body.kind, name=body.name.strip(), description=with_line_feeds(body.description),
        amount=body.price.amount, currency=body.price.currency.lower(), grants=_sold(body.grants),
        image_url=body.image_url, target_id=_lower(body.target_id), includes=_lowered(body.includes),
        available=body.available, most_each=body.limit,
    )  # fmt: skip
    _check(call, draft)
    return await change(
        call, make_product, call.new_id(), draft, stamp_of(call), call.service.random_bytes,
        about=_CATALOG, shape=product_entry,
    )  # fmt: skip


async def known_product(call: Call, product_id: ObjectId) -> Product:
    """Guard: reads the product that is changed; its revision is checked again in the transaction.

    Raises:
        NotFound: there is no such product.
    """
    found = await call.service.database.read(read_named, [product_id])
    if product_id not in found:
        raise NotFound("no such product")
    return found[product_id]


@endpoint(
    "PATCH",
    "/v1/admin/shop/products/{productId}",
    needs=MANAGE,
    refusals=(NotFound, Invalid, QuotaExceeded, SlugTaken, RevisionConflict),
    guard=known_product,
)
async def patch_product(call: Call, product_id: ObjectId, body: ProductPatch) -> ProductEntry:  # noqa: ARG001
    """Changes a product; another `revision` than the present one is a 409.

    Checkouts that are open keep the price and the rights that they were made with. Needs `shop:manage`; the audit trail
    records each change.
    """
    before: Product = call.subject
    if before.revision != body.revision:
        raise RevisionConflict(revision=before.revision)
    draft = _changed(before, body)
    _check(call, draft)
    return await change(
        call, change_product, before, draft, stamp_of(call), call.service.random_bytes,
        about=_CATALOG, shape=product_entry,
    )  # fmt: skip


_CATALOG = "nodes of products"


def _check(call: Call, draft: Draft) -> None:
    takes_cents = call.service.config.shop_provider != "stripe"
    check_draft(draft, takes_cents=takes_cents, sells_all=call.user.access.is_super_admin)


def _changed(before: Product, body: ProductPatch) -> Draft:
    kept = Draft(**{name: getattr(before, name) for name in Draft.__struct_fields__})
    asked = {
        "slug": body.slug, "kind": body.kind, "image_url": body.image_url,
        "available": body.available, "most_each": body.limit,
    }  # fmt: skip
    changes: dict[str, object] = {name: value for name, value in asked.items() if value is not msgspec.UNSET}
    if not isinstance(body.name, msgspec.UnsetType):
        changes["name"] = body.name.strip()
    if not isinstance(body.description, msgspec.UnsetType):
        changes["description"] = with_line_feeds(body.description)
    if not isinstance(body.target_id, msgspec.UnsetType):
        changes["target_id"] = _lower(body.target_id)
    if not isinstance(body.price, msgspec.UnsetType):
        changes |= {"amount": body.price.amount, "currency": body.price.currency.lower()}
    if not isinstance(body.grants, msgspec.UnsetType):
        changes["grants"] = _sold(body.grants)
    if not isinstance(body.includes, msgspec.UnsetType):
        changes["includes"] = _lowered(body.includes)
    return replace(kept, **changes)


def _sold(grants: tuple[ProductGrant, ...]) -> tuple[Sold, ...]:
    return tuple(_sold_one(grant, f"/grants/{index}") for index, grant in enumerate(grants))


def _sold_one(grant: ProductGrant, pointer: str) -> Sold:
    if grant.value is None:
        return Sold(grant.node, days=grant.expires_in_days)
    value, unit = _value_of(grant.value)
    try:
        quantity = quantity_of(grant.node, value, unit)
    except Invalid as invalid:
        # The same rule as for grants of admins, whose value stands at the root.
        flaws = (FieldError(pointer + flaw.pointer, flaw.code, flaw.message) for flaw in invalid.errors)
        raise Invalid(*flaws) from None
    return Sold(grant.node, quantity.value, quantity.unit, grant.expires_in_days)


def _value_of(value: float | Amount) -> tuple[float, str | None]:
    return (value.value, value.unit) if isinstance(value, Amount) else (value, None)


def _lower(id: str | None) -> str | None:
    return None if id is None else id.lower()


def _lowered(ids: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(id.lower() for id in ids)
