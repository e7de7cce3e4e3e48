"""What clients see of products, checkouts and purchases."""

from collections.abc import Collection

import msgspec

from actors.ids import ObjectId
from actors.time import iso, iso_or_none
from persistence.shop.checkouts import Checkout, CheckoutStatus, ProviderName
from persistence.shop.products import Product, ProductKind, Sold
from persistence.shop.purchases import Hold, Purchase, PurchaseStatus


class Price(msgspec.Struct, frozen=True, rename="camel"):
    """An amount of money.

    Args:
        amount: the number of the currency's smallest units.
        currency: three lower-case letters (ISO 4217).
    """

    amount: int
    currency: str


class SoldValue(msgspec.Struct, frozen=True, rename="camel"):
    """A number with a unit.

    Args:
        value: the number.
        unit: what it counts.
    """

    value: int | float
    unit: str


class SoldRight(msgspec.Struct, frozen=True, rename="camel"):
    """A right that a product gives.

    Args:
        node: the permission that is given.
        value: the quantity of a quota node; null for other nodes.
        expires_in_days: for how many days one piece gives it; null for good.
    """

    node: str
    value: int | float | SoldValue | None
    expires_in_days: int | None


class ProductEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A product.

    Args:
        description: what a buyer is told of it.
        kind: what is bought with it.
        target_id: the cape or totem that it unlocks.
        includes: ids of the products of a bundle.
        available: whether it is on sale.
        owned: whether the viewer has rights from it.
        limit: how many pieces one recipient may have; null for any number.
        revision: rises with each change.
    """

    id: ObjectId
    slug: str
    name: str
    description: str
    kind: ProductKind
    price: Price
    grants: tuple[SoldRight, ...]
    image_url: str | None
    target_id: str | None
    includes: tuple[str, ...]
    available: bool
    owned: bool
    limit: int | None
    revision: int


class CheckoutEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A checkout.

    Args:
        status: `open` until it is paid, cancelled, or expires.
        url: the page on which to pay; null where an admin marks it as paid, and once it has ended.
        total: the price of everything in it.
    """

    id: ObjectId
    status: CheckoutStatus
    url: str | None
    total: Price
    recipient_id: str | None
    created_at: str
    expires_at: str


class PurchaseEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A purchase: one line of a checkout.

    Args:
        checkout_id, payer_id, provider_ref: null for everybody but the payer.
        amount: the price of all pieces together.
        currency: ISO 4217.
        status: how far it is.
        recipient_id: null once the recipient was erased.
        provider: who takes the payment.
        provider_ref: the provider's name of the payment.
        hold: why it was paid and not fulfilled; an admin looks at it.
        refunded_amount: how much of it was paid back, in the currency's smallest unit.
        fulfilled_at: when the rights were given; null before.
        refunded_at: when it was paid back; null if it was not.
    """

    id: ObjectId
    checkout_id: str | None
    product_id: str
    quantity: int
    amount: int
    currency: str
    status: PurchaseStatus
    hold: Hold | None
    payer_id: str | None
    recipient_id: str | None
    provider: ProviderName
    provider_ref: str | None
    refunded_amount: int
    created_at: str
    fulfilled_at: str | None
    refunded_at: str | None


def product_entry(product: Product, owned: Collection[str] = ()) -> ProductEntry:
    """A product as clients see it.

    Args:
        owned: ids of the products that have given the viewer rights.
    """
    return ProductEntry(
        id=ObjectId(product.id), slug=product.slug, name=product.name, description=product.description,
        kind=product.kind, price=Price(product.amount, product.currency), grants=tuple(map(_right, product.grants)),
        image_url=product.image_url, target_id=product.target_id, includes=product.includes,
        available=product.available, owned=product.id in owned, limit=product.most_each, revision=product.revision,
    )  # fmt: skip


def checkout_entry(checkout: Checkout) -> CheckoutEntry:
    """A checkout as its payer sees it."""
    return CheckoutEntry(
        ObjectId(checkout.id),
        checkout.status,
        checkout.url if checkout.status == "open" else None,
        Price(checkout.total, checkout.currency),
        checkout.recipient_id,
        iso(checkout.created_at_ms),
        iso(checkout.expires_at_ms),
    )


def purchase_entry(purchase: Purchase, viewer_id: str | None) -> PurchaseEntry:
    """A purchase as a user sees it.

    Args:
        viewer_id: its payer or its recipient; None for an admin, who sees all of it.
    """
    pays = viewer_id in {None, purchase.payer_id}
    return PurchaseEntry(
        id=ObjectId(purchase.id), checkout_id=purchase.checkout_id if pays else None, product_id=purchase.product_id,
        quantity=purchase.quantity, amount=purchase.amount, currency=purchase.currency, status=purchase.status,
        hold=purchase.hold, payer_id=purchase.payer_id if pays else None, recipient_id=purchase.recipient_id,
        provider=purchase.provider, provider_ref=purchase.provider_ref if pays else None,
        refunded_amount=purchase.refunded_amount, created_at=iso(purchase.created_at_ms),
        fulfilled_at=iso_or_none(purchase.fulfilled_at_ms), refunded_at=iso_or_none(purchase.refunded_at_ms),
    )  # fmt: skip


def _right(sold: Sold) -> SoldRight:
    value: int | float | SoldValue | None = None
    if sold.value is not None:
        number = int(sold.value) if sold.value.is_integer() else sold.value
        value = number if sold.unit is None else SoldValue(number, sold.unit)
    return SoldRight(sold.node, value, sold.days)
