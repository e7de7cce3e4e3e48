"""The index of a catalog has exactly the runs that it is to have."""

from hypothesis import given
from hypothesis import strategies as st

from actors.catalogs.indexing import runs_of
from persistence.catalogs.runs import BETWEEN

TEXTS = st.lists(st.text(alphabet=f"ab\u00e9{BETWEEN}", max_size=9), max_size=8)


@given(TEXTS, st.integers(1, 4), st.integers(3, 7))
def test_runs_are_those_of_the_texts(texts: list[str], many: int, longest: int) -> None:
    """Held against every substring of every text."""
    found = {run: having.tolist() for run, having in runs_of(texts, many=many, longest=longest)}
    every = {
        text[start:stop]
        for text in texts
        for start in range(len(text))
        for stop in range(start + 1, min(start + longest, len(text)) + 1)
    }
    having = {
        run: [place for place, text in enumerate(texts) if run in text] for run in every if BETWEEN not in run
    }
    assert found == {run: places for run, places in having.items() if len(run) <= 3 or len(places) >= many}
