"""The parts of news: the live views, and the worker that renders Markdown."""

import trio

from actors.news.live import NewsLive
from routes.part import Opening, Part


async def _open_live(opening: Opening) -> NewsLive:
    return NewsLive(opening.clock.now_ms)


async def _open_renderer(_opening: Opening) -> trio.CapacityLimiter:
    return trio.CapacityLimiter(1)


NEWS_LIVE = Part(name="live news", open=_open_live)
"""The live views of news."""

RENDERER = Part(name="renderer of news", open=_open_renderer)
"""Lets one text at a time be rendered, so that articles take one core at most from everything else."""
