"""Find items in the catalogs of a kind: searched by a text, or drawn by lot. Reads only."""

from collections.abc import Sequence
from random import Random

import msgspec

from persistence.catalogs import items, runs
from persistence.catalogs.items import Item, Kind
from persistence.catalogs.runs import Match
from persistence.connection import Connection


class Found(msgspec.Struct, frozen=True):
    """A page of items.

    Args:
        items: the items of the page.
        total: how many items all pages have together.
    """

    items: list[Item]
    total: int


async def search(conn: Connection, kind: Kind, text: str, limit: int, offset: int) -> Found:
    """Items with a text in their name or in a tag, case ignored, by catalog and name.

    Args:
        kind: the kind of the catalogs to search.
        text: the text to look for; "" finds all items.
        limit, offset: how many items the page has at most, and how many come before it.
    """
    wanted = text.replace(runs.BETWEEN, " ").strip().lower()
    matches = await runs.match(conn, kind, wanted) if wanted else await _everything(conn, kind)
    found: list[Item] = []
    before = offset
    for match in matches:
        start, before = min(before, match.total), max(before - match.total, 0)
        stop = min(start + limit - len(found), match.total)
        if start < stop:
            numbers = await runs.read_list(conn, match, start, stop)
            found += (await items.read_numbered(conn, match.slug, numbers)).values()
    return Found(found, sum(match.total for match in matches))


async def draw(conn: Connection, kind: Kind | None, slug: str | None, count: int, seed: bytes) -> list[Item]:
    """Draw items by lot, each with the same chance, none twice.

    Args:
        kind: only from catalogs of this kind; None for both kinds.
        slug: only from the catalog with this slug; None for all.
        count: how many items to draw at most.
        seed: random bytes that decide the lot.

    Returns:
        Fewer than `count` if there are fewer; none if there is no such catalog.
    """
    catalogs = [
        catalog
        for catalog in await items.list_catalogs(conn)
        if kind in (None, catalog.kind) and slug in (None, catalog.slug)
    ]
    total = sum(catalog.items for catalog in catalogs)
    drawn = Random(seed).sample(range(total), min(count, total))
    found: dict[int, Item] = {}
    first = 0
    for catalog in catalogs:
        numbers = [place - first for place in drawn if 0 <= place - first < catalog.items]
        if numbers:
            numbered = await items.read_numbered(conn, catalog.slug, numbers)
            found |= {number + first: item for number, item in numbered.items()}
        first += catalog.items
    return [found[place] for place in drawn if place in found]


async def _everything(conn: Connection, kind: Kind) -> Sequence[Match]:
    return [
        Match(catalog.slug, catalog.items, None, range(catalog.items))
        for catalog in await items.list_catalogs(conn)
        if catalog.kind == kind
    ]
