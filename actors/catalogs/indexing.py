"""Make the index of a catalog: which runs of characters its items have in their words, and which items have each.

Takes half a minute for 100,000 items: call it from a worker thread.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from persistence.catalogs.runs import BETWEEN, RUN_MAX, SHORT, Index

MANY = 100
"""Fewest items that must have a run of more than three characters for it to be indexed."""

Numbers: TypeAlias = "array[int]"
"""Places of texts in the sequence of all, ascending."""


def index_of(texts: Sequence[str]) -> Index:
    """The index of a catalog; runs that the same items have share a list.

    Args:
        texts: the words of all items, in the order of their numbers.
    """
    places: dict[bytes, int] = {}
    runs = [
        (run, len(numbers), places.setdefault(numbers.tobytes(), len(places)))
        for run, numbers in runs_of(texts)
    ]
    return Index(runs, list(places))


def runs_of(
    texts: Sequence[str], *, many: int = MANY, longest: int = RUN_MAX
) -> Iterator[tuple[str, Numbers]]:
    """Yield (run, the places of the texts that have it) for each run that is to be indexed.

    Args:
        texts: the words of all items.
        many: fewest texts that must have a run of more than three characters for it to be indexed.
        longest: how many characters the longest run has.
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


def _runs_of_length(texts: Sequence[str], starts: Sequence[Sequence[int]], length: int) -> dict[str, Numbers]:
    found: dict[str, Numbers] = {}
    for place, (text, kept) in enumerate(zip(texts, starts, strict=True)):
        for run in {text[start : start + length] for start in kept if start + length <= len(text)}:
            if BETWEEN not in run:
                found.setdefault(run, array("i")).append(place)
    return found
