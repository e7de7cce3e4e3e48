"""Rules: what rings keep, and how quantiles are estimated."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.operations.history import History
from actors.operations.quantiles import quantile

NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.integers(1, 5), st.lists(NUMBERS, max_size=12), st.integers(-1, 13))
def test_a_ring_keeps_the_newest(length: int, numbers: list[float | None], after: int) -> None:
    history = History(("one", "two"), length)
    for at_ms, number in zip(count(), numbers, strict=False):
        history.add(at_ms, {"one": number, "two": None})
    kept = list(enumerate(numbers))[-length:]
    wanted = [(at_ms, number) for at_ms, number in kept if at_ms > after]
    times = history.times(after)
    assert list(zip(times, history.numbers("one", len(times)), strict=True)) == wanted
    assert history.numbers("two", len(times)) == [None] * len(wanted)
    assert len(history) == len(kept)


@pytest.mark.parametrize(
    ("share", "counts", "wanted"),
    [
        (0.5, [0, 0, 0], None),
        (0.5, [2, 0, 0], 0.5),
        (0.5, [0, 4, 0], 2.0),
        (1.0, [0, 4, 0], 3.0),
        (0.25, [4, 0, 4], 0.5),
        (0.99, [1, 0, 9], 3.0),
        (0.0, [0, 4, 0], 1.0),
    ],
)
def test_quantiles_are_estimated_within_a_bucket(
    share: float, counts: list[int], wanted: float | None
) -> None:
    assert quantile(share, (1.0, 3.0), counts) == wanted
