"""Pages cut by bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.pages import fitting


@pytest.mark.parametrize(
    ("items", "max_bytes", "kept"),
    [
        ([], 10, []),
        ([b"12345"], 10, [b"12345"]),
        ([b"12345", b"67890"], 10, [b"12345", b"67890"]),
        ([b"12345", b"67890", b"1"], 10, [b"12345", b"67890"]),
        ([b"12345678901", b"2"], 10, [b"12345678901"]),
        ([b"1", b"12345678901"], 10, [b"1"]),
    ],
)
def test_a_page_is_the_longest_start_that_fits(items: list[bytes], max_bytes: int, kept: list[bytes]) -> None:
    assert fitting(items, len, max_bytes) == kept


@given(st.lists(st.binary(max_size=20)), st.integers(0, 100))
def test_pages_one_behind_the_other_hold_every_item_once(items: list[bytes], max_bytes: int) -> None:
    rest, seen = items, []
    while rest:
        page = fitting(rest, len, max_bytes)
        assert page
        assert len(page) == 1 or sum(map(len, page)) <= max_bytes
        seen += page
        rest = rest[len(page) :]
    assert seen == items
