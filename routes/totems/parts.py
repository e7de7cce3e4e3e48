"""The part of totems: the limit of concurrent checks of uploads."""

import trio

from routes.part import Opening, Part

CHECKS_AT_ONCE = 2
"""How many uploaded models are checked at the same time; others wait."""


async def _open(_opening: Opening) -> trio.CapacityLimiter:
    return trio.CapacityLimiter(CHECKS_AT_ONCE)


TOTEM_CHECKS = Part(name="checks of totems", open=_open)
"""Limits how many uploaded models are checked at the same time."""
