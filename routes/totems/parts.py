"""What is open of totems while the service runs."""

import trio

from routes.part import Opening, Part

CHECKS_AT_ONCE = 2
"""Uploaded models that are looked at at the same time; more of them wait."""


async def _open(_opening: Opening) -> trio.CapacityLimiter:
    return trio.CapacityLimiter(CHECKS_AT_ONCE)


TOTEM_CHECKS = Part(name="checks of totems", open=_open)
"""Lets few uploaded models at a time be looked at."""
