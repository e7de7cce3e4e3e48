"""The part of publications: the statuses of game servers."""

from actors.publications.statuses import Statuses
from routes.part import Opening, Part


async def _open(opening: Opening) -> Statuses:
    statuses = Statuses(opening.config.freshness_seconds * 1000)
    await statuses.open(opening.database, opening.clock.now_ms())
    return statuses


STATUSES = Part(name="statuses of servers", open=_open)
"""The statuses that game servers report of themselves."""
