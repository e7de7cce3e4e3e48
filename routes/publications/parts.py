"""The part of publications: the statuses of game servers."""

from actors.publications.statuses import Statuses
from persistence.publications.statuses import bring_back
from routes.part import Opening, Part


async def _open(opening: Opening) -> Statuses:
    statuses, now_ms = Statuses(opening.config.freshness_seconds * 1000), opening.clock.now_ms()
    await opening.database.transact(bring_back, now_ms)
    await statuses.open(opening.database, now_ms)
    return statuses


STATUSES = Part(name="statuses of servers", open=_open)
"""The statuses that game servers report of themselves."""
