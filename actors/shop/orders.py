"""What a checkout may ask for. Pure."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.shop.products import AMOUNT_MAX, STRIPE_AMOUNT_MIN
from actors.web_addresses import origin_of
from persistence.shop.products import Product

ITEMS_MAX = 20
QUANTITY_MAX = 99
URL_MAX = 2_000


class Item(msgspec.Struct, frozen=True):
    """One line of an order: a product, and how many pieces of it."""

    product_id: str
    quantity: int


def check_items(items: Sequence[Item]) -> None:
    """Check how many lines there are, that each product is named once, and the quantities.

    Raises:
        Invalid: a rule is broken; it has an error for each flaw.
    """
    if not items:
        raise Invalid(FieldError("/items", "TOO_FEW", "at least one product"))
    if len(items) > ITEMS_MAX:
        raise Invalid(FieldError("/items", "TOO_MANY", f"at most {ITEMS_MAX} products"))
    flaws, seen = [], set()
    for index, item in enumerate(items):
        if not 1 <= item.quantity <= QUANTITY_MAX:
            at = f"/items/{index}/quantity"
            flaws.append(FieldError(at, "OUT_OF_RANGE", f"1 to {QUANTITY_MAX} pieces"))
        if item.product_id in seen:
            flaws.append(FieldError(f"/items/{index}/productId", "DUPLICATE", "each product once"))
        seen.add(item.product_id)
    if flaws:
        raise Invalid(*flaws)


def check_return(url: str | None, pointer: str, origins: Collection[str]) -> None:
    """Check an address to which the payer's browser is sent afterwards: only to sites that belong to the service, so
    that a checkout is no open redirect.

    Args:
        url: the address that the client sent; None for none.
        pointer: the JSON pointer to its field.
        origins: the origins of these sites, `https://host[:port]`.

    Raises:
        Invalid: the address belongs to another site, is malformed, or too long.
    """
    if url is not None and (len(url) > URL_MAX or origin_of(url) not in origins):
        raise Invalid(FieldError(pointer, "NOT_ALLOWED", "not an address of this service"))


def check_payable(total: int) -> None:
    """Check that a total that is not 0 can be paid at Stripe, which would refuse it however often it is asked.

    Args:
        total: in the currency's smallest unit.

    Raises:
        Invalid: the total has more than eight digits, or is below Stripe's smallest amount.
    """
    if not STRIPE_AMOUNT_MIN <= total <= AMOUNT_MAX:
        sentence = (
            f"a total of {STRIPE_AMOUNT_MIN} to {AMOUNT_MAX} of the currency's smallest unit can be paid"
        )
        raise Invalid(FieldError("/items", "OUT_OF_RANGE", sentence))


def priced(items: Sequence[Item], products: Mapping[str, Product]) -> tuple[int, str]:
    """(total, currency) of an order.

    Args:
        products: {id: product} of the products on sale.

    Raises:
        Invalid: a product is unknown or not on sale, or their currencies differ.
    """
    flaws, total = [], 0
    currencies: dict[str, int] = {}
    for index, item in enumerate(items):
        product = products.get(item.product_id)
        if product is None:
            flaws.append(FieldError(f"/items/{index}/productId", "UNKNOWN", "no such product on sale"))
        else:
            total += product.amount * item.quantity
            currencies.setdefault(product.currency, index)
    if len(currencies) > 1:
        at = f"/items/{list(currencies.values())[1]}/productId"
        flaws.append(FieldError(at, "MISMATCH", "all products of a checkout have one currency"))
    if flaws:
        raise Invalid(*flaws)
    return total, next(iter(currencies))
