"""Since when a feed has been as it is."""

import pytest

from actors.news import feed_dates
from actors.news.feed_dates import FeedDates


def test_a_date_is_told_once_its_second_has_begun() -> None:
    dates = FeedDates()
    assert [dates.since_s("a", b"x", now_s) for now_s in (10, 10, 11, 15)] == [None, None, 11, 11]
    assert [dates.since_s("a", b"y", now_s) for now_s in (15, 16)] == [None, 16]
    assert dates.since_s("a", b"x", 16) is None
    assert dates.since_s("b", b"y", 16) is None


def test_few_feeds_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_dates, "FEEDS_MAX", 2)
    dates = FeedDates()
    for feed in ("a", "b", "a", "c"):
        dates.since_s(feed, b"x", 10)
    assert [dates.since_s(feed, b"x", 20) for feed in ("a", "c", "b")] == [11, 11, None]
