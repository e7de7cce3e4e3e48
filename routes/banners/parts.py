"""The part of banners: the worker threads that draw them."""

from functools import partial

from actors.banners.drawing import picture_of
from persistence.banners.banners import Design
from routes.call import Call
from routes.edge.address import rate_key
from routes.part import Opening, Part
from routes.workers import Workers

DRAWN_AT_ONCE = 1
"""Most banners drawn at the same time; others wait, at most until the deadline of their request."""


async def _open(_opening: Opening) -> Workers:
    return Workers(DRAWN_AT_ONCE)


BANNER_DRAWING = Part(name="drawing of banners", open=_open)
"""Draws one banner at a time, so that banners take at most one core from everything else."""


async def drawn(call: Call, design: Design) -> bytes:
    """Draw a banner for a caller in a worker thread; returns its picture as a PNG file.

    Cancellation: the worker runs to its end and occupies its slot until then; its result is dropped.
    """
    caller = rate_key(call.client_address) if call.principal is None else call.principal.key
    return await call.service.of(BANNER_DRAWING).run(caller, partial(picture_of, design), abandon=True)
