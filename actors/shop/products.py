"""What a product may be, and which rights one piece of it gives. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.ids import parse_object_id, parse_uuid
from actors.texts import line_flaws, lines_flaws
from actors.users.permissions import ABSENT_GRANTS, QUOTA_UNITS, is_node
from actors.users.quantities import Quantity
from actors.web_addresses import https_flaws
from persistence.shop.entitlements import CAPE, SUPPORTER, TOTEM
from persistence.shop.products import Product, ProductKind, Sold

NAME_MAX = 100
DESCRIPTION_MAX = 4_000
IMAGE_URL_MAX = 500
AMOUNT_MAX = 99_999_999
"""The largest price, and the largest total at Stripe: eight digits."""

STRIPE_AMOUNT_MIN = 50
"""The smallest price that Stripe takes, in the smallest unit of most currencies."""

GRANTS_MAX = 16
INCLUDES_MAX = 20
MOST_EACH_MAX = 1_000
DAYS_MAX = 3_650

PERK = "perk:"
"""Prefix of the permission nodes that exist only to be sold."""

SLUG_FORM = re.compile(r"[a-z0-9-]{3,64}")
"""The form of a product's slug."""

_CURRENCY = re.compile(r"[a-z]{3}")

# {kind: (what precedes the target's id in the node that unlocks it, how its id is read)}
_TARGETS: dict[ProductKind, tuple[str, Callable[[str], str | None]]] = {
    "cape": (CAPE, parse_uuid),
    "totem": (TOTEM, parse_object_id),
}


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What a product is to be; `Product` says what the fields hold."""

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


def check_draft(draft: Draft, *, takes_cents: bool, sells_all: bool) -> None:
    """Check a draft, apart from what rows say about it.

    Args:
        takes_cents: whether prices below `STRIPE_AMOUNT_MIN` can be taken.
        sells_all: whether the caller may sell nodes that are neither perks nor quotas: a super-admin. Otherwise a price
            list would be a way to give rights that only super-admins give.

    Raises:
        Invalid: a rule is broken; it has an error for each flaw.
    """
    flaws = [
        *line_flaws(draft.name, "/name", NAME_MAX),
        *lines_flaws(draft.description, "/description", DESCRIPTION_MAX),
        *_price_flaws(draft, takes_cents=takes_cents),
        *_kind_flaws(draft),
        *_grants_flaws(draft.grants, sells_all=sells_all),
    ]
    if draft.kind == "supporter" and not is_node(SUPPORTER + draft.slug):
        flaws.append(FieldError("/slug", "BAD_FORMAT", "a tier begins and ends with a letter or digit"))
    if SLUG_FORM.fullmatch(draft.slug) is None:
        flaws.append(FieldError("/slug", "BAD_FORMAT", "3 to 64 of a-z, 0-9 and -"))
    if draft.image_url is not None:
        flaws += https_flaws(draft.image_url, "/imageUrl", IMAGE_URL_MAX)
    if flaws:
        raise Invalid(*flaws)


def given_by(product: Draft | Product, included: Iterable[Product] = ()) -> tuple[Sold, ...]:
    """The rights that one piece gives: those that are listed, what follows from its kind, and all of a bundle's parts.

    Each node once, by the longest duration and the largest value that it comes with.

    Args:
        included: the products that a bundle includes.
    """
    given: dict[str, Sold] = {}
    for sold in (*_own(product), *(sold for one in included for sold in _own(one))):
        other = given.get(sold.node)
        given[sold.node] = sold if other is None else _joined(other, sold)
    return tuple(given.values())


def is_for_sale(product: Draft | Product) -> bool:
    """Whether all that a product gives may be sold by those who only manage the shop."""
    return all(_is_sellable(sold.node, sells_all=False) for sold in product.grants)


def _own(product: Draft | Product) -> list[Sold]:
    given = list(product.grants)
    days = _longest(product.grants)
    if product.kind in _TARGETS:
        prefix, _ = _TARGETS[product.kind]
        given.append(Sold(f"{prefix}{product.target_id}", days=days))
    if product.kind == "supporter":
        given.append(Sold(f"{SUPPORTER}{product.slug}", days=days))
    return given


def _joined(one: Sold, other: Sold) -> Sold:
    quantities = [Quantity(sold.value, sold.unit) for sold in (one, other) if sold.value is not None]
    largest = max(quantities, key=lambda quantity: quantity.in_base_unit, default=None)
    value, unit = (None, None) if largest is None else (largest.value, largest.unit)
    return Sold(one.node, value, unit, _longest((one, other)))


def _longest(grants: Sequence[Sold]) -> int | None:
    """How many days the longest-lasting of these rights lasts; None if one never ends, or there is none."""
    days = [sold.days for sold in grants]
    return max((one for one in days if one is not None), default=None) if None not in days else None


def _price_flaws(draft: Draft, *, takes_cents: bool) -> list[FieldError]:
    flaws = []
    least = 0 if takes_cents or draft.amount == 0 else STRIPE_AMOUNT_MIN
    if not least <= draft.amount <= AMOUNT_MAX:
        sentence = f"{least} to {AMOUNT_MAX} of the currency's smallest unit"
        flaws.append(FieldError("/price/amount", "OUT_OF_RANGE", sentence))
    if _CURRENCY.fullmatch(draft.currency) is None:
        flaws.append(FieldError("/price/currency", "BAD_FORMAT", "three letters (ISO 4217)"))
    if draft.most_each is not None and not 1 <= draft.most_each <= MOST_EACH_MAX:
        flaws.append(FieldError("/limit", "OUT_OF_RANGE", f"1 to {MOST_EACH_MAX}, or null"))
    if draft.amount == 0 and draft.most_each is None:
        # Otherwise anybody could fill the tables with purchases that cost nothing.
        flaws.append(FieldError("/limit", "REQUIRED", "what costs nothing needs a limit"))
    return flaws


def _kind_flaws(draft: Draft) -> list[FieldError]:
    flaws = []
    if draft.kind in _TARGETS:
        if draft.target_id is None:
            flaws.append(FieldError("/targetId", "REQUIRED", f"the {draft.kind} that it unlocks"))
        elif _TARGETS[draft.kind][1](draft.target_id) is None:
            flaws.append(FieldError("/targetId", "BAD_FORMAT", f"the id of a {draft.kind}"))
    elif draft.target_id is not None:
        flaws.append(FieldError("/targetId", "NOT_ALLOWED", "only capes and totems unlock something"))
    if draft.kind == "bundle":
        flaws += _includes_flaws(draft.includes)
    elif draft.includes:
        flaws.append(FieldError("/includes", "NOT_ALLOWED", "only a bundle includes products"))
    if draft.kind == "permission" and not draft.grants:
        flaws.append(FieldError("/grants", "TOO_FEW", "it gives nothing"))
    return flaws


def _includes_flaws(includes: Sequence[str]) -> list[FieldError]:
    if not includes:
        return [FieldError("/includes", "TOO_FEW", "a bundle includes 1 to 20 products")]
    if len(includes) > INCLUDES_MAX:
        return [FieldError("/includes", "TOO_MANY", f"at most {INCLUDES_MAX} products")]
    if len({*includes}) < len(includes):
        return [FieldError("/includes", "DUPLICATE", "each product once")]
    return []


def _grants_flaws(grants: Sequence[Sold], *, sells_all: bool) -> list[FieldError]:
    if len(grants) > GRANTS_MAX:
        return [FieldError("/grants", "TOO_MANY", f"at most {GRANTS_MAX} rights")]
    flaws = []
    seen: set[str] = set()
    for index, sold in enumerate(grants):
        at = f"/grants/{index}"
        if not is_node(sold.node):
            flaws.append(FieldError(f"{at}/node", "BAD_FORMAT", "a node is names between colons"))
        elif sold.node in seen:
            flaws.append(FieldError(f"{at}/node", "DUPLICATE", "each node once"))
        elif not _is_sellable(sold.node, sells_all=sells_all):
            flaws.append(FieldError(f"{at}/node", "NOT_ALLOWED", "this right is not for sale"))
        elif sold.value is not None and sold.node not in QUOTA_UNITS:
            flaws.append(FieldError(f"{at}/value", "NOT_ALLOWED", "only quotas have a value"))
        elif sold.value is None and sold.node in QUOTA_UNITS:
            flaws.append(FieldError(f"{at}/value", "REQUIRED", "a quota has a value"))
        if sold.days is not None and not 1 <= sold.days <= DAYS_MAX:
            flaws.append(FieldError(f"{at}/expiresInDays", "OUT_OF_RANGE", f"1 to {DAYS_MAX} days"))
        seen.add(sold.node)
    return flaws


def _is_sellable(node: str, *, sells_all: bool) -> bool:
    # Selling one of `ABSENT_GRANTS` would put it into the catalog, and so take it from all who have it by default.
    if "*" in node or node in ABSENT_GRANTS:
        return False
    return sells_all or node.startswith(PERK) or node in QUOTA_UNITS
