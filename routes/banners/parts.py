"""The part of banners: the worker threads that draw them."""

import trio

from actors.banners.drawing import picture_of
from persistence.banners.banners import Design
from routes.part import Opening, Part
from routes.service import Service

DRAWN_AT_ONCE = 1
"""Most banners drawn at the same time; others wait, at most until the deadline of their request."""


async def _open(_opening: Opening) -> trio.CapacityLimiter:
    return trio.CapacityLimiter(DRAWN_AT_ONCE)


BANNER_DRAWING = Part(name="drawing of banners", open=_open)
"""Limits drawing to one banner at a time, so that banners take at most one core from everything else."""


async def drawn(service: Service, design: Design) -> bytes:
    """Draw a banner in a worker thread; returns its picture as a PNG file.

    Cancellation: the worker runs to its end and occupies its slot until then; its result is dropped.
    """
    limiter = service.of(BANNER_DRAWING)
    return await trio.to_thread.run_sync(picture_of, design, limiter=limiter, abandon_on_cancel=True)
