"""The part of quests: launch signals that are still to be counted."""

from actors.quests.launches import Launches
from routes.part import Opening, Part


async def _open(_opening: Opening) -> Launches:
    return Launches()


LAUNCHES = Part(name="launches of quests", open=_open)
"""Launch signals that are still to be counted."""
