"""The index of a catalog: which runs of characters its items have in their words.

An index by trigrams alone finds every text, but has to look at each of 100,000 items for a text that most of them have.
So longer runs have a list of their own where many items have them: a text either has a list, or few items have it.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import msgspec

from persistence.connection import Connection
from persistence.trigrams import trigrams_of

T = TypeVar("T")

SHORT = 3
"""All runs of up to this many characters are indexed."""

RUN_MAX = 32
"""The longest run that is indexed, in characters."""

ROWS_AT_ONCE, BYTES_AT_ONCE = 5_000, 4_000_000
"""How many runs, and how many bytes of lists, are written at once: each statement has a deadline of its own."""

BETWEEN = "\x1f"
"""Separates name and tags in the words of an item; occurs in none of them, and in no searched text."""


class Index(msgspec.Struct, frozen=True):
    """The index of a catalog.

    Args:
        runs: (run, how many items have it, index of their list in `lists`).
        lists: the numbers of items, ascending, each encoded as a C int.
    """

    runs: Sequence[tuple[str, int, int]]
    lists: Sequence[bytes]


class Match(msgspec.Struct, frozen=True):
    """The items of one catalog that have a text in their words.

    Args:
        slug: the catalog's slug.
        total: how many such items the catalog has.
        list: the stored list that has their numbers; None if `numbers` has them.
        numbers: the items' numbers, ascending; empty where they are in `list`.
    """

    slug: str
    total: int
    list: int | None
    numbers: Sequence[int] = ()


async def add_index(conn: Connection, slug: str, index: Index) -> None:
    """Store the index of a catalog that has none yet.

    Args:
        slug: the catalog's slug.
    """
    for rows in _batches([(slug, *run) for run in index.runs], lambda _: 1, ROWS_AT_ONCE):
        await conn.executemany(
            "INSERT INTO catalog_runs (catalog_slug, run, items, list) VALUES ($1, $2, $3, $4)", rows
        )
    for numbered in _batches([*enumerate(index.lists)], lambda one: len(one[1]), BYTES_AT_ONCE):
        lists = [(slug, list, array("i", numbers).tolist()) for list, numbers in numbered]
        await conn.executemany(
            "INSERT INTO catalog_lists (catalog_slug, list, numbers) VALUES ($1, $2, $3)", lists
        )


async def match(conn: Connection, kind: str, text: str) -> list[Match]:
    """The items of all catalogs of a kind that have a text in their words, by catalog; those with none are left out.

    Args:
        kind: `head` or `banner`.
        text: lower-cased, at least one character.
    """
    rows = await conn.fetch(_LISTED, kind, text)
    matches = [Match(row["slug"], row["items"], row["list"]) for row in rows if row["items"] is not None]
    # A short run that is not listed is in no item.
    unlisted = [row["slug"] for row in rows if row["items"] is None and len(text) > SHORT]
    for slug, list in (await _rarest_lists(conn, unlisted, text)).items():
        numbers = [row["number"] for row in await conn.fetch(_CHECKED, slug, list, text)]
        if numbers:
            matches.append(Match(slug, len(numbers), None, numbers))
    return sorted(matches, key=lambda match: match.slug)


async def read_list(conn: Connection, match: Match, start: int, stop: int) -> Sequence[int]:
    """Numbers of a match, from `start` up to `stop`, counted from 0."""
    if match.list is None:
        return match.numbers[start:stop]
    numbers: Sequence[int] | None = await conn.fetchval(
        "SELECT numbers[$3:$4] FROM catalog_lists WHERE catalog_slug = $1 AND list = $2",
        match.slug,
        match.list,
        start + 1,
        stop,
    )
    return numbers or ()


async def _rarest_lists(conn: Connection, slugs: Sequence[str], text: str) -> dict[str, int]:
    """{catalog: the shortest list that has all items with the text}; catalogs that cannot have any are left out."""
    if not slugs:
        return {}
    trigrams = trigrams_of(text)
    longer = {text[start : start + size] for size in _ASKED for start in range(len(text) - size + 1)}
    rows = await conn.fetch(_LISTS_OF_RUNS, slugs, [*trigrams | longer])
    rarest: dict[str, int] = {}
    known = dict.fromkeys(slugs, 0)
    for row in rows:
        rarest.setdefault(row["catalog_slug"], row["list"])
        known[row["catalog_slug"]] += row["run"] in trigrams
    return {slug: list for slug, list in rarest.items() if known[slug] == len(trigrams)}


_ASKED = (4, 6, 8, 12, 16, 24, RUN_MAX)
"""Lengths of the runs within a text that are looked up, beside its trigrams: the longest ones have the fewest items."""


def _batches(rows: Sequence[T], weight: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Yield rows in their order, in batches that each end with the row that brings their weight to `most`."""
    batch: list[T] = []
    weighed = 0
    for row in rows:
        batch.append(row)
        weighed += weight(row)
        if weighed >= most:
            yield batch
            batch, weighed = [], 0
    if batch:
        yield batch


_LISTED = """
SELECT slug, catalog_runs.items, list FROM catalogs
LEFT JOIN catalog_runs ON catalog_slug = slug AND run = $2 WHERE kind = $1
"""

_LISTS_OF_RUNS = """
SELECT catalog_slug, run, list FROM catalog_runs
WHERE catalog_slug = ANY ($1::text[]) AND run = ANY ($2::text[]) ORDER BY items
"""

_CHECKED = """
SELECT number FROM catalog_items
WHERE catalog_slug = $1 AND strpos(words, $3) > 0
    AND number = ANY ((SELECT numbers FROM catalog_lists WHERE catalog_slug = $1 AND list = $2)::integer[])
ORDER BY number
"""
