"""Rules: a survey in slices finds what sorting all at once finds."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kernel.statistics import ActorStatistics
from actors.operations.survey import KindTotals, Sort, Survey, Wanted

ROWS = st.lists(
    st.builds(
        ActorStatistics,
        kind=st.sampled_from(["chat", "server"]),
        id=st.text("abAB", min_size=1, max_size=3),
        mailbox=st.integers(0, 3),
        subscribers=st.integers(0, 3),
        restarts=st.integers(0, 3),
        last_error=st.sampled_from([None, "Fault", "Bug"]),
        offset=st.just(0),
        idle_ms=st.integers(0, 3),
    ),
    unique_by=lambda row: (row.kind, row.id),
)


def surveyed(rows: list[ActorStatistics], wanted: Wanted, *, slice: int) -> Survey:
    survey = Survey(wanted)
    for start in range(0, len(rows), slice):
        survey.add(rows[start : start + slice])
    return survey


@given(ROWS, st.integers(1, 5), st.sampled_from(get_args(Sort)), st.sampled_from([None, "chat", "party"]))
def test_slices_do_not_matter(rows: list[ActorStatistics], slice: int, sort: Sort, kind: str | None) -> None:
    whole = surveyed(rows, Wanted(sort=sort, kind=kind, limit=1_000), slice=1_000)
    some = surveyed(rows, Wanted(sort=sort, kind=kind, limit=3), slice=slice)
    assert some.rows == whole.rows[:3]
    assert (some.matched, some.total, some.kinds) == (len(whole.rows), len(rows), whole.kinds)
    assert {row.kind for row in whole.rows} <= {kind or row.kind for row in rows}


CALM = ActorStatistics("chat", "calm", 0, 9, 0, None, 4, 70)
BUSY = ActorStatistics("chat", "busy", 8, 1, 0, None, 4, 0)
SICK = ActorStatistics("server", "sick", 1, 0, 3, "Fault", 4, 5)


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("trouble", "sick busy calm"),
        ("mailbox", "busy sick calm"),
        ("subscribers", "calm busy sick"),
        ("restarts", "sick busy calm"),
        ("idle", "calm sick busy"),
        ("busy", "busy sick calm"),
        ("kind", "busy calm sick"),
    ],
)
def test_a_survey_is_sorted_by_what_was_asked_for(sort: Sort, wanted: str) -> None:
    rows = [CALM, BUSY, SICK]
    survey = surveyed(rows, Wanted(sort=sort, limit=10), slice=2)
    assert [row.id for row in survey.rows] == wanted.split()
    assert survey.kinds == (KindTotals("chat", 2, 8, 10, 0, 0), KindTotals("server", 1, 1, 0, 3, 1))


@pytest.mark.parametrize(("text", "ids"), [("FAULT", ["sick"]), ("s", ["sick", "busy"]), ("nobody", [])])
def test_text_is_looked_for_in_ids_and_errors(text: str, ids: list[str]) -> None:
    survey = surveyed([CALM, BUSY, SICK], Wanted(text=text, limit=10), slice=1)
    assert [row.id for row in survey.rows] == ids
    assert (survey.matched, survey.total) == (len(ids), 3)
