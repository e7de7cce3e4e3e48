"""Pages of several lists in turn are pages of one list."""

from hypothesis import given
from hypothesis import strategies as st

from actors.mods.interleaving import shares

Item = tuple[int, int]
"""(rank, number of the list)."""


def whole(totals: list[int]) -> list[Item]:
    """All items: rank by rank, and within a rank list by list."""
    return sorted((rank, number) for number, total in enumerate(totals) for rank in range(total))


@given(st.lists(st.integers(0, 12), max_size=4), st.integers(0, 60), st.integers(1, 20))
def test_a_page_is_a_slice_of_the_whole(totals: list[int], offset: int, limit: int) -> None:
    page = [(rank, number) for number, share in enumerate(shares(totals, offset, limit)) for rank in share]
    assert sorted(page) == whole(totals)[offset : offset + limit]


def test_the_longer_list_goes_on_alone() -> None:
    assert shares([2, 9], 0, 4) == (range(2), range(2))
    assert shares([2, 9], 4, 4) == (range(2, 2), range(2, 6))
    assert shares([2, 9], 3, 2) == (range(2, 2), range(1, 3))
    assert shares([10**9, 10**9], 10_000, 50) == (range(5_000, 5_025),) * 2
    assert shares([], 5, 5) == ()
