"""The part of banners: the worker threads that draw them."""

import trio

from routes.part import Opening, Part

DRAWN_AT_ONCE = 1
"""Most banners drawn at the same time; others wait, at most until the deadline of their request."""


async def _open(_opening: Opening) -> trio.CapacityLimiter:
    return trio.CapacityLimiter(DRAWN_AT_ONCE)


BANNER_DRAWING = Part(name="drawing of banners", open=_open)
"""Lets one banner at a time be drawn, so that banners take one core at most from everything else."""
