"""The part of totems: the workers that check uploads."""

from routes.part import Opening, Part
from routes.workers import Workers

CHECKS_AT_ONCE = 2
"""How many uploaded models are checked at the same time; others wait."""


async def _open(_opening: Opening) -> Workers:
    return Workers(CHECKS_AT_ONCE)


TOTEM_CHECKS = Part(name="checks of totems", open=_open)
"""Checks uploaded models, a few at the same time."""
