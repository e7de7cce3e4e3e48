"""One list of several that are each ordered by rank: first the first of each, then the second of each, and so on.

A list that has ended leaves its places to the others. So the place of an item depends on how many the lists have, and
pages of the whole are pages of each: who wants one asks each list for its share alone.
"""

from collections.abc import Sequence


def shares(totals: Sequence[int], offset: int, limit: int) -> tuple[range, ...]:
    """The ranks of each list, from 0, that are on a page of the whole. The items go by rank, and within a rank in the
    order of the lists.

    Args:
        totals: how many items each list has.
        offset: how many items of the whole come before the page.
        limit: how many items the page has.
    """
    starts, stops = _before(totals, offset), _before(totals, offset + limit)
    return tuple(map(range, starts, stops))


def _before(totals: Sequence[int], place: int) -> list[int]:
    """How many items of each list stand before a place of the whole."""
    taken = [0] * len(totals)
    left = place
    while going := [index for index, total in enumerate(totals) if taken[index] < total]:
        # Until the shortest of them ends, each gives one in a round.
        rounds = min(left // len(going), *(totals[index] - taken[index] for index in going))
        if not rounds:
            for index in going[:left]:
                taken[index] += 1
            break
        for index in going:
            taken[index] += rounds
        left -= rounds * len(going)
    return taken
