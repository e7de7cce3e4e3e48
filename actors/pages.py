"""Bound pages in bytes, not only in items, so that a list of the largest permitted items does not fill the memory."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

MAX_PAGE_BYTES = 1024 * 1024
"""The most that the items of one page take on the wire, by their own estimate; a single item may be larger.

What else is in an item comes on top of that. A page that one node answers for another has to fit into one entry of a
link all the same (`tests/contract/test_pages.py`)."""


def fitting(
    items: Sequence[Item], size_bytes: Callable[[Item], int], max_bytes: int = MAX_PAGE_BYTES
) -> Sequence[Item]:
    """The longest prefix of items that fits into a page; a first item that is too large is returned alone.

    Args:
        items: the items, in the order of the page.
        size_bytes: the size of an item, or a close upper bound; called once for each item looked at.
        max_bytes: most bytes of the page.

    Returns:
        `items` itself where all of them fit; an empty sequence only for an empty one.
    """
    taken_bytes = 0
    for index, item in enumerate(items):
        taken_bytes += size_bytes(item)
        if taken_bytes > max_bytes:
            return items[: max(index, 1)]
    return items
