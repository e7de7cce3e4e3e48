"""The parts of news: the live views, the dates of feeds, and the worker that renders Markdown."""

from actors.news.feed_dates import FeedDates
from actors.news.live import NewsLive
from routes.part import Opening, Part
from routes.workers import Workers


async def _open_live(opening: Opening) -> NewsLive:
    return NewsLive(opening.clock.now_ms)


async def _open_feed_dates(_opening: Opening) -> FeedDates:
    return FeedDates()


async def _open_renderer(_opening: Opening) -> Workers:
    return Workers(1)


NEWS_LIVE = Part(name="live news", open=_open_live)
"""The live views of news."""

FEED_DATES = Part(name="dates of news feeds", open=_open_feed_dates)
"""When each RSS feed last changed."""

RENDERER = Part(name="renderer of news", open=_open_renderer)
"""Renders one text at a time, so that articles take at most one core from everything else."""
