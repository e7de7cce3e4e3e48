"""The parts of news: the live views, the dates of feeds, and the worker that renders Markdown."""

import trio

from actors.news.feed_dates import FeedDates
from actors.news.live import NewsLive
from routes.part import Opening, Part


async def _open_live(opening: Opening) -> NewsLive:
    return NewsLive(opening.clock.now_ms)


async def _open_feed_dates(_opening: Opening) -> FeedDates:
    return FeedDates()


async def _open_renderer(_opening: Opening) -> trio.CapacityLimiter:
    return trio.CapacityLimiter(1)


NEWS_LIVE = Part(name="live news", open=_open_live)
"""The live views of news."""

FEED_DATES = Part(name="dates of news feeds", open=_open_feed_dates)
"""Since when each RSS feed has been as it is."""

RENDERER = Part(name="renderer of news", open=_open_renderer)
"""Lets one text at a time be rendered, so that articles take one core at most from everything else."""
