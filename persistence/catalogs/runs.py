"""The index of a catalog: which runs of characters its items have in their words.

An index by trigrams alone finds every text, but has to look at each of 100,000 items for a text that most of them have.
So longer runs have a list of their own where many items have them: a text either has a list, or few items have it.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from persistence.connection import Connection
from persistence.trigrams import trigrams_of

SHORT = 3
"""All runs of up to so many characters are indexed."""

RUN_MAX = 32
"""The longest run that is indexed, characters."""

MANY = 100
"""Runs of more than three characters are indexed if at least so many items have them."""

BETWEEN = "\x1f"
"""Separates name and tags in the words of an item; occurs in none of them, and in no searched text."""


Numbers: TypeAlias = "array[int]"
"""Places of items, ascending."""


class Match(msgspec.Struct, frozen=True):
    """The items of one catalog that have a text in their words.

    Args:
        slug: of the catalog.
        total: how many there are.
        list: where their numbers are stored; None if they are `numbers`.
        numbers: ascending.
    """

    slug: str
    total: int
    list: int | None
    numbers: Sequence[int] = ()


def runs_of(
    texts: Sequence[str], *, many: int = MANY, longest: int = RUN_MAX
) -> Iterator[tuple[str, Numbers]]:
    """Yield (run, the places of the texts that have it, ascending) for each run that is to be indexed.

    Args:
        texts: the words of all items.
        many: how many texts have a run of more than three characters, at least.
        longest: characters of the longest run.
    """
    starts: list[Sequence[int]] = [range(len(text)) for text in texts]
    for length in range(1, longest + 1):
        found = _runs_of_length(texts, starts, length)
        yield from ((run, having) for run, having in found.items() if length <= SHORT or len(having) >= many)
        if length >= SHORT:
            # A text that has a long run has all shorter ones within it.
            common = {run for run, having in found.items() if len(having) >= many}
            if not common:
                return
            starts = [
                [start for start in kept if text[start : start + length] in common]
                for text, kept in zip(texts, starts, strict=True)
            ]


async def add_index(
    conn: Connection, slug: str, runs: Sequence[tuple[str, Numbers]], *, at_once: int
) -> None:
    """Store the index of a catalog, which has none.

    Args:
        slug: of the catalog.
        runs: as `runs_of` yields them.
        at_once: rows of one statement.
    """
    lists: dict[bytes, int] = {}
    for start in range(0, len(runs), at_once):
        run_rows, list_rows = [], []
        for run, numbers in runs[start : start + at_once]:
            key = numbers.tobytes()
            if key not in lists:
                lists[key] = len(lists)
                list_rows.append((slug, lists[key], numbers.tolist()))
            run_rows.append((slug, run, len(numbers), lists[key]))
        await conn.executemany(
            "INSERT INTO catalog_lists (catalog_slug, list, numbers) VALUES ($1, $2, $3)", list_rows
        )
        await conn.executemany(
            "INSERT INTO catalog_runs (catalog_slug, run, items, list) VALUES ($1, $2, $3, $4)", run_rows
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


def _runs_of_length(texts: Sequence[str], starts: Sequence[Sequence[int]], length: int) -> dict[str, Numbers]:
    found: dict[str, Numbers] = {}
    for place, (text, kept) in enumerate(zip(texts, starts, strict=True)):
        for run in {text[start : start + length] for start in kept if start + length <= len(text)}:
            if BETWEEN not in run:
                found.setdefault(run, array("i")).append(place)
    return found


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
